"""What the tables and figures of the adversarial-softmax report take from the measured rows."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import Measured, frames, published
from xcbench.papers.adv.experiments import FIGURE1
from xcbench.papers.adv.names import DRAWS
from xcbench.papers.frames import ended, having, stopped

VALIDATION, VALIDATION_ERROR = "validation_log_loss", "validation_error"
LOSS, ERROR = "test_log_loss", "test_error"
LIKELIHOOD, ACCURACY = f"-{LOSS}", f"1 - {ERROR}"  # with _uncorrected those of bare scores
ERRORS = r"^(train|validation|test)_(error|precision_at_1)(_uncorrected)?$"
BARE = "_uncorrected"
SAMPLING, START = "method.sampler", "method.init"
TUNED = ("method.score_l2", "method.l2")

printed = partial(published.number, "adv")  # by table, dataset, method, metric


def at_best(measured: Measured) -> pd.DataFrame:
    """Rows of which every measure stops early by its own validation rows (see `stopped`).

    Losses, times and ``epoch`` are those of the lowest validation log loss; errors, precisions and
    ``error_epoch`` those of the lowest validation error. ``fit_seconds`` are before the first step.
    """
    losses, errors = (
        stopped(measured.results, measured.curves, name) for name in (VALIDATION, VALIDATION_ERROR)
    )
    final_errors = {str(name): column for name, column in errors.filter(regex=ERRORS).items()}
    start = at_start(measured).get("train_seconds")
    return losses.assign(**final_errors, error_epoch=errors.get("epoch"), fit_seconds=start)


def at_best_bare(measured: Measured) -> pd.DataFrame:
    """As `at_best`; measures of bare scores stop early by their own validation rows."""
    rows = at_best(measured)
    for name in (VALIDATION, VALIDATION_ERROR):
        ends = stopped(measured.results, measured.curves, f"{name}{BARE}")
        kind = f"{name.removeprefix('validation')}{BARE}"
        rows = rows.assign(**{it + kind: ends.get(it + kind) for it in ("test", "validation")})
    return rows


def at_start(measured: Measured) -> pd.DataFrame:
    """Rows as they stand before the first step: the tree is fitted, the weights have begun."""
    return frames.at_start(measured.results, measured.curves)


def compared(results: pd.DataFrame, dataset: str) -> dict[str, pd.DataFrame]:
    """Cells of Figure 1 that ended, by the printed name of their method."""
    rows = ended(FIGURE1.rows(results, dataset=dataset))
    every = {
        name: having(rows, {"method": method, SAMPLING: sampler})
        for name, (method, sampler) in DRAWS.items()
    }
    return {name: frame for name, frame in every.items() if len(frame)}
