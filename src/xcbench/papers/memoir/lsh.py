"""MEMOIR-LSH beside MEMOIR-l2 with the exact oracle, both with the code's settings."""

from __future__ import annotations

from xcbench.papers import Measured
from xcbench.papers import columns as c
from xcbench.papers.columns import Column
from xcbench.papers.memoir.experiments import TABLE3_CODE, TABLE3_LSH_CODE
from xcbench.papers.rows import RATIO, between


def lsh_time(measured: Measured, dataset: str) -> list[float]:
    """Training seconds of MEMOIR-LSH over those of MEMOIR-l2, seed by seed."""
    return _over(measured, dataset, c.TRAIN_SECONDS)


def lsh_accuracy(measured: Measured, dataset: str) -> list[float]:
    """Accuracy of MEMOIR-LSH over that of MEMOIR-l2, seed by seed."""
    return _over(measured, dataset, 1 - c.TEST_ERROR)


def _over(measured: Measured, dataset: str, column: Column) -> list[float]:
    one, other = TABLE3_LSH_CODE(dataset, "memoir_l2"), TABLE3_CODE(dataset, "memoir_l2")
    return between(measured.results, one, other, column, RATIO)
