"""How often methods diverge at high rates (Figure 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers import Measured
from xcbench.papers import columns as c
from xcbench.papers.prose import Numbers
from xcbench.papers.umax.experiments import FIGURE3

HIGH = 1.0


def _diverged(measured: Measured, dataset: str, method: str) -> pd.DataFrame:
    """Whether a cell diverged, by rate and seed."""
    rows = FIGURE3.rows(measured.results, dataset=dataset, method=method)
    rows = rows[rows["status"] != "skipped"]
    return (rows["status"] == "diverged").groupby([rows["lr"], rows["seed"]]).mean().unstack()


def diverged_more(measured: Measured, dataset: str) -> list[float]:
    """At what more of the high rates vanilla SGD diverges than U-max, seed by seed."""
    apart = _diverged(measured, dataset, "vanilla") - _diverged(measured, dataset, "umax")
    return [float(share) for share in apart[apart.index >= HIGH].mean()]


def umax_ended(measured: Measured, dataset: str) -> Numbers:
    """Whether U-max ends at a rate of 0.1, seed by seed; no test where its reset never acts."""
    losses = [
        FIGURE3(dataset, method, {c.LR: 0.1}).numbers(measured.results, c.TRAIN_LOG_LOSS)
        for method in ("umax", "vanilla")
    ]
    if len(losses[0]) and losses[0].equals(losses[1]):
        return "U-max ends at the loss of vanilla SGD, to all digits: no reset acted"
    diverged = _diverged(measured, dataset, "umax")
    return [1 - float(lost) for lost in diverged[np.isclose(diverged.index, 0.1)].sum()]
