"""What the tables and figures of the adversarial-softmax report take from the measured rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from xcbench.papers import published
from xcbench.papers.adv.names import METHODS
from xcbench.papers.frames import Values, part, stopped, values
from xcbench.report.summary import ENDED

VALIDATION, VALIDATION_ERROR = "validation_log_loss", "validation_error"
LOSS, ERROR = "test_log_loss", "test_error"
ACCURACY, LIKELIHOOD = "accuracy", "log likelihood"  # what a race is to
SECONDS, EPOCHS = "train_seconds", "epoch"  # its clocks
ERRORS = r"^(train|validation|test)_(error|precision_at_1)(_uncorrected)?$"
SAMPLING, START = "method.sampling", "method.start"
TUNED = ("method.score_ridge", "method.ridge")


def at_best(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Rows of which every measure stops early by its own validation rows (see `stopped`).

    Losses, times and ``epoch`` are those of the lowest validation log loss; errors, precisions and
    ``error_epoch`` those of the lowest validation error.
    """
    losses, errors = (stopped(rows, curves, name) for name in (VALIDATION, VALIDATION_ERROR))
    own = errors.filter(regex=ERRORS)
    return losses.assign(**{str(name): own[name] for name in own}, error_epoch=errors.get("epoch"))


def at_start(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Rows as they stand before the first step: the tree is fitted, the weights have begun."""
    return stopped(rows, curves, "epoch")


def cells(rows: pd.DataFrame, method: str, sampling: str) -> pd.DataFrame:
    """Rows of a method that draws its classes in a certain way; of one that draws none, ``""``."""
    drawn = rows.reindex(columns=[SAMPLING])[SAMPLING].fillna("")
    return rows[(rows["method"] == method) & (drawn == sampling)]


def run(results: pd.DataFrame, grid: str, dataset: str, method: str, sampling: str) -> pd.DataFrame:
    """Rows of a grid, a dataset, a method and its sampler."""
    return cells(part(results, grid, dataset=dataset), method, sampling)


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def compared(results: pd.DataFrame, dataset: str) -> dict[str, pd.DataFrame]:
    """Cells of Figure 1 that ended, by the printed name of their method."""
    every = {name: ended(run(results, "figure1", dataset, *own)) for name, own in METHODS.items()}
    return {name: rows for name, rows in every.items() if len(rows)}


def likelihood(rows: pd.DataFrame, suffix: str = "") -> Values:
    """Log likelihood a test row; of bare scores with ``_uncorrected``."""
    found = values(rows, LOSS + suffix)
    return replace(found, values=tuple(-value for value in found.values))


def accuracy(rows: pd.DataFrame, suffix: str = "") -> Values:
    """Share of test rows whose class has the highest score; of bare ones with ``_uncorrected``."""
    found = values(rows, ERROR + suffix)
    return replace(found, values=tuple(1 - value for value in found.values))


@dataclass(frozen=True)
class Arrival:
    """When curves, one a seed, reach a level, in training seconds or epochs.

    Attributes
    ----------
    times : of the seeds that do.
    ends : when the curves of the others end.
    """

    times: tuple[float, ...]
    ends: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every seed arrives."""
        return bool(self.times) and not self.ends

    @property
    def mean(self) -> float:
        """Mean over seeds; a lower bound of it where some do not arrive."""
        return float(np.mean([*self.times, *self.ends]))

    def text(self) -> str:
        """``mean ± spread`` of those that arrive, and how many they are."""
        if not self.times:
            return f"not within {self.mean:.2f}"
        count = f"{len(self.times)} of {len(self.times) + len(self.ends)} seeds"
        return Values(self.times).text(2) + ("" if self.complete else f" ({count})")


def arrival(
    rows: pd.DataFrame, curves: pd.DataFrame, level: float, measure: str, clock: str
) -> Arrival:
    """When the cells of some rows reach a level (see `reached`)."""
    own = [curves[curves["cell"] == cell] for cell in rows["cell"]]
    found = [(reached(curve, level, measure, clock), float(curve[clock].max())) for curve in own]
    times = tuple(at for at, _ in found if not np.isnan(at))
    return Arrival(times, tuple(end for at, end in found if np.isnan(at)))


def reached(curve: pd.DataFrame, level: float, measure: str, clock: str) -> float:
    """When a curve first reaches an accuracy or a log likelihood; nan where it never does.

    Parameters
    ----------
    curve : checkpoints of one cell, with losses and errors of the test rows; linear in between.
    level : how high.
    measure : ``accuracy`` or ``log likelihood``.
    clock : ``train_seconds`` or ``epoch``.
    """
    known = curve.assign(height=height(curve, measure)).dropna(subset=["height"])
    known = known.sort_values(clock)
    times, found = known[clock].to_numpy(float), known["height"].to_numpy(float)
    above = np.flatnonzero(found >= level)
    if not len(above):
        return float("nan")
    at = int(above[0])
    if at == 0:
        return float(times[0])
    share = (level - found[at - 1]) / (found[at] - found[at - 1])
    return float(times[at - 1] + share * (times[at] - times[at - 1]))


def height(curves: pd.DataFrame, measure: str) -> pd.Series:
    """Accuracy or log likelihood of the test rows at every checkpoint."""
    return 1 - curves[ERROR] if measure == ACCURACY else -curves[LOSS]


printed = partial(published.number, "adv")  # by table, dataset, method, metric
