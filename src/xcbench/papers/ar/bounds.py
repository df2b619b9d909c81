"""Softmax A&R beside exact softmax, seed by seed, with the settings of the text or of the code."""

from __future__ import annotations

from xcbench.papers import Measured
from xcbench.papers import columns as c
from xcbench.papers.ar.experiments import (
    BOUND_AFTER,
    TABLE3_CODE_EXACT,
    TABLE3_PAPER,
    TABLE3_PAPER_EXACT,
)
from xcbench.papers.rows import RATIO, between


def short_of_exact(measured: Measured, dataset: str) -> list[float]:
    """The bound of softmax A&R over the log likelihood of exact softmax, both below 0.

    Both are means over the last hundredth of the iterations, of all training rows.
    """
    one, other = TABLE3_PAPER(dataset, "ar_softmax"), TABLE3_PAPER_EXACT(dataset, "softmax")
    return between(measured.results, one, other, c.BOUND, RATIO)


def after_short_of_exact(measured: Measured, dataset: str) -> list[float]:
    """As `short_of_exact`, of the bound after the local step, with the settings of the code."""
    one, other = BOUND_AFTER(dataset, "ar_softmax"), TABLE3_CODE_EXACT(dataset, "softmax")
    return between(measured.results, one, other, c.BOUND, RATIO)


def exact_above_ar(measured: Measured, dataset: str) -> list[float]:
    """Test log likelihood of exact softmax less that of softmax A&R."""
    one, other = TABLE3_PAPER_EXACT(dataset, "softmax"), TABLE3_PAPER(dataset, "ar_softmax")
    return between(measured.results, one, other, -c.TEST_LOG_LOSS)
