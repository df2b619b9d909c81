"""MEMOIR-LSH beside MEMOIR-l2 with the exact oracle, both with the code's settings."""

from __future__ import annotations

from xcbench.papers import Measured, effects


def lsh_time(measured: Measured, dataset: str) -> list[float]:
    """Training seconds of MEMOIR-LSH over those of MEMOIR-l2, seed by seed."""
    return _over(measured, dataset, "train_seconds")


def lsh_accuracy(measured: Measured, dataset: str) -> list[float]:
    """Accuracy of MEMOIR-LSH over that of MEMOIR-l2, seed by seed."""
    return _over(measured, dataset, "1 - test_error")


def _over(measured: Measured, dataset: str, column: str) -> list[float]:
    one, other = f"table3_lsh_code {dataset} memoir_l2", f"table3_code {dataset} memoir_l2"
    return effects.between(measured.results, one, other, column, "ratio")
