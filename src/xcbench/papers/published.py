"""What the papers printed, one row a number, as transcribed from their texts.

They stand in ``printed.csv`` in the folder of each paper; ``NA`` is printed as not available.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
GIGA = {"GB": 1000}  # megabytes


@cache
def numbers() -> pd.DataFrame:
    """All printed numbers: paper, table, dataset, method, metric, value (as printed), unit."""
    frames = [
        pd.read_csv(path, dtype=str, keep_default_na=False).assign(paper=path.parent.name)
        for path in sorted(HERE.glob("*/printed.csv"))
    ]
    columns = ["paper", "table", "dataset", "method", "metric", "value", "unit"]
    return pd.concat(frames, ignore_index=True)[columns]


def number(
    paper: str, table: str, dataset: str, method: str, metric: str, units: str = ""
) -> float:
    """A printed number; nan where there is none, or only a bound.

    Parameters
    ----------
    units : ``MB``: also of what is printed in GB.
    """
    value, unit = _numbers().get((paper, table, dataset, method, metric), ("nan", ""))
    return float(value) * (GIGA["GB"] if (unit, units) == ("GB", "MB") else 1)


def others(paper: str, table: str, dataset: str, method: str, metric: str) -> tuple[float, ...]:
    """What is printed of the other methods beside a number, in its unit; bounds are left out."""
    _, unit = _numbers().get((paper, table, dataset, method, metric), ("", ""))
    return tuple(
        float(value) * GIGA.get(other, 1) / GIGA.get(unit, 1)
        for (*place, name, what), (value, other) in _numbers().items()
        if (*place, what) == (paper, table, dataset, metric) and name != method
    )


@cache
def _numbers() -> dict[tuple[str, ...], tuple[str, str]]:
    """Values, as printed, and units."""
    some = numbers()
    some = some[some["value"].str.match(r"-?[\d.]")]
    names = ["paper", "table", "dataset", "method", "metric"]
    keys = some[names].itertuples(index=False, name=None)
    return dict(zip(keys, zip(some["value"], some["unit"], strict=True), strict=True))
