"""How often methods diverge at high rates (Figure 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.papers import Measured
from xcbench.papers.frames import part

HIGH = 1.0


def _diverged(measured: Measured, dataset: str, method: str) -> pd.Series:
    """Share of the seeds that diverge, by rate."""
    rows = part(measured.results, "figure3", dataset=dataset, method=method)
    rows = rows[rows["status"] != "skipped"]
    return (rows["status"] == "diverged").groupby(rows["lr"]).mean()


def diverged_more(measured: Measured, dataset: str) -> list[float]:
    """By how much more often vanilla SGD diverges than U-max, a number for each high rate."""
    apart = _diverged(measured, dataset, "vanilla") - _diverged(measured, dataset, "umax")
    return [float(share) for share in apart[apart.index >= HIGH].dropna()]


def umax_ended(measured: Measured, dataset: str) -> list[float]:
    """Share of the seeds of U-max that end at a rate of 0.1."""
    shares = _diverged(measured, dataset, "umax")
    return [1 - float(share) for share in shares[np.isclose(shares.index, 0.1)]]
