"""Softmax A&R beside exact softmax, seed by seed, with the settings of the text or of the code."""

from __future__ import annotations

from xcbench.papers import Measured, effects


def short_of_exact(measured: Measured, dataset: str) -> list[float]:
    """The bound of softmax A&R over the log likelihood of exact softmax, both below 0.

    Both are means over the last hundredth of the iterations, of all training rows.
    """
    one, other = f"table3_paper {dataset} ar_softmax", f"table3_paper_exact {dataset} softmax"
    return effects.between(measured.results, one, other, "bound", "ratio")


def after_short_of_exact(measured: Measured, dataset: str) -> list[float]:
    """As `short_of_exact`, of the bound after the local step, with the settings of the code."""
    one, other = f"bound_after {dataset} ar_softmax", f"table3_code_exact {dataset} softmax"
    return effects.between(measured.results, one, other, "bound", "ratio")


def exact_above_ar(measured: Measured, dataset: str) -> list[float]:
    """Test log likelihood of exact softmax less that of softmax A&R."""
    one, other = f"table3_paper_exact {dataset} softmax", f"table3_paper {dataset} ar_softmax"
    return effects.between(measured.results, one, other, "-test_log_loss")
