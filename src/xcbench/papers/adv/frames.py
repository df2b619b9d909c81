"""What the tables and figures of the adversarial-softmax report take from the measured rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from xcbench.papers import published
from xcbench.papers.frames import Values, part, values

VALIDATION = "validation_log_loss"
LOSS, ERROR = "test_log_loss", "test_error"
SAMPLING = "method.sampling"
TUNED = ("method.score_ridge", "method.ridge")


def cells(rows: pd.DataFrame, method: str, sampling: str) -> pd.DataFrame:
    """Rows of a method that draws its classes in a certain way; of one that draws none, ``""``."""
    drawn = rows.reindex(columns=[SAMPLING])[SAMPLING].fillna("")
    return rows[(rows["method"] == method) & (drawn == sampling)]


def run(results: pd.DataFrame, grid: str, dataset: str, method: str, sampling: str) -> pd.DataFrame:
    """Rows of a grid, a dataset, a method and its sampler."""
    return cells(part(results, grid, dataset=dataset), method, sampling)


def likelihood(rows: pd.DataFrame, suffix: str = "") -> Values:
    """Log likelihood a test row; of bare scores with ``_uncorrected``."""
    found = values(rows, LOSS + suffix)
    return replace(found, values=tuple(-value for value in found.values))


def accuracy(rows: pd.DataFrame, suffix: str = "") -> Values:
    """Share of test rows whose class has the highest score; of bare ones with ``_uncorrected``."""
    found = values(rows, ERROR + suffix)
    return replace(found, values=tuple(1 - value for value in found.values))


def reached(curve: pd.DataFrame, level: float) -> float:
    """Training seconds at which a curve first reaches an accuracy; nan where it never does.

    Parameters
    ----------
    curve : checkpoints of one cell, with ``train_seconds`` and ``test_error``; linear in between.
    level : the accuracy.
    """
    known = curve.dropna(subset=[ERROR]).sort_values("train_seconds")
    seconds, found = known["train_seconds"].to_numpy(float), 1 - known[ERROR].to_numpy(float)
    above = np.flatnonzero(found >= level)
    if not len(above):
        return float("nan")
    at = int(above[0])
    if at == 0:
        return float(seconds[0])
    share = (level - found[at - 1]) / (found[at] - found[at - 1])
    return float(seconds[at - 1] + share * (seconds[at] - seconds[at - 1]))


def printed(table: str, dataset: str, method: str, metric: str) -> float:
    """A printed number; nan where there is none."""
    return _printed().get((table, dataset, method, metric), float("nan"))


@cache
def _printed() -> dict[tuple[str, str, str, str], float]:
    every = published.numbers()
    own = every[every["paper"] == "adv"]
    keys = own[["table", "dataset", "method", "metric"]].itertuples(index=False, name=None)
    return dict(zip(keys, own["value"].astype(float), strict=True))
