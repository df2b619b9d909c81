"""What the papers printed, one row a number, as transcribed from their texts.

``NA`` is printed as not available. ``umax_author_runs.csv`` are the learning curves that the
authors of the U-max paper store beside their code, not part of the printed numbers.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

HERE = Path(__file__).parent
AUTHOR_RUNS = "umax_author_runs"
NAMES = {"text_numbers": "text", "synthetic": "Section 4.1", "appendix_a2": "Appendix A.2"}
GIGA = {"GB": 1000}  # megabytes


@cache
def numbers() -> pd.DataFrame:
    """All printed numbers: paper, table, dataset, method, metric, value (as printed), unit."""
    frames = []
    for path in sorted(HERE.glob("*.csv")):
        if path.stem == AUTHOR_RUNS:
            continue
        paper, _, part = path.stem.partition("_")
        table = NAMES.get(part, part.replace("table", "Table "))
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frames.append(frame.drop(columns="source").assign(paper=paper, table=table))
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


@cache
def figures(paper: str) -> dict[str, str]:
    """What the printed figures of a paper show, by their number: ``Figure 1a``."""
    described: Any = OmegaConf.to_container(OmegaConf.load(HERE / "figures.yaml"))
    return dict(described[paper])


@cache
def author_runs() -> pd.DataFrame:
    """Stored curves of the U-max authors, one row a checkpoint."""
    return pd.read_csv(HERE / f"{AUTHOR_RUNS}.csv")
