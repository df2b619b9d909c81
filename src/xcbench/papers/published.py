"""What the papers printed, one row a number, as transcribed from their texts.

They stand in ``printed.csv`` in the folder of each paper; ``NA`` is printed as not available.
"""

from __future__ import annotations

import math
import re
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


def of(paper: str) -> pd.DataFrame:
    """The printed numbers of a paper."""
    return numbers().query("paper == @paper")


def text(paper: str, table: str, dataset: str, method: str, metric: str) -> str:
    """A number as it is printed; empty where there is none."""
    return _numbers().get((paper, table, dataset, method, metric), ("", ""))[0]


def number(
    paper: str, table: str, dataset: str, method: str, metric: str, units: str = ""
) -> float:
    """A printed number; nan where there is none, or only a bound.

    Parameters
    ----------
    units : ``MB``: also of what is printed in GB.
    """
    value, unit = _numbers().get((paper, table, dataset, method, metric), ("", ""))
    return _float(value) * (GIGA["GB"] if (unit, units) == ("GB", "MB") else 1)


def others(paper: str, table: str, dataset: str, method: str, metric: str) -> tuple[float, ...]:
    """What is printed of the other methods beside a number, in its unit; bounds are left out."""
    _, unit = _numbers().get((paper, table, dataset, method, metric), ("", ""))
    in_unit = (
        _float(value) * GIGA.get(other, 1) / GIGA.get(unit, 1)
        for (*place, name, what), (value, other) in _numbers().items()
        if (*place, what) == (paper, table, dataset, metric) and name != method
    )
    return tuple(value for value in in_unit if not math.isnan(value))


@cache
def _numbers() -> dict[tuple[str, ...], tuple[str, str]]:
    """Values, as printed, and units."""
    records = numbers().itertuples(index=False, name=None)
    return {tuple(key): (value, unit) for *key, value, unit in records}


def _float(value: str) -> float:
    """A value; nan where it is a bound, or not available."""
    return float(value) if re.match(r"-?[\d.]", value) else math.nan
