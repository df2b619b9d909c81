"""What the A&R paper prints, in our names, and the cells and columns that measure it."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import claims, published
from xcbench.papers.frames import Values

CLAIMS = claims.of("ar")
DATASETS, METHODS = CLAIMS.datasets, CLAIMS.methods
NAME = {ours: name for name, ours in METHODS.items()}
VARIANTS = ("paper", "code")
METRICS = {"test_log_likelihood": "log lik", "test_accuracy": "acc"}

LOSS = "test_log_loss"
BOUND = "bound * `shape.train`"  # of all training rows
printed = partial(published.number, "ar")  # by table, dataset, method, metric


def cells(results: pd.DataFrame, dataset: str, method: str, variant: str = "code") -> pd.DataFrame:
    """Rows of Table 3, dataset and method as printed; large datasets have one variant alone."""
    rows = CLAIMS.rows(results, "Table 3", dataset, method, "test_accuracy")
    return rows.get(variant, results[:0])


def seconds(results: pd.DataFrame, dataset: str, method: str) -> Values:
    """Training seconds an epoch, dataset and method as printed."""
    return CLAIMS.values(results, "Table 2", dataset, method, "time_per_epoch")["code"]
