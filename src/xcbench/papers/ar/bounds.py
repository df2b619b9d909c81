"""Softmax A&R beside exact softmax, seed by seed, with the settings of the text."""

from __future__ import annotations

from xcbench.papers import LOSS, Measured, effects


def short_of_exact(measured: Measured, dataset: str) -> list[float]:
    """The bound of softmax A&R over the training log likelihood of exact softmax, both below 0."""
    bound = effects.numbers(measured.results, f"table3_paper {dataset} ar_softmax", "bound")
    exact = effects.numbers(measured.results, f"table3_paper_exact {dataset} softmax", LOSS)
    return [float(ratio) for ratio in (-bound / exact).dropna()]


def exact_above_ar(measured: Measured, dataset: str) -> list[float]:
    """Test log likelihood of exact softmax less that of softmax A&R."""
    one, other = f"table3_paper_exact {dataset} softmax", f"table3_paper {dataset} ar_softmax"
    return effects.between(measured.results, one, other, "-test_log_loss")
