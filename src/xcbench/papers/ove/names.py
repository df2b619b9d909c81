"""What the one-vs-each paper prints, in our names, and the columns that measure it."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import published
from xcbench.papers.frames import Values, values
from xcbench.papers.ove.experiments import FIGURE3, TABLE2
from xcbench.papers.ove.norms import NORM

DATASETS = {"MNIST": "mnist", "20NEWS": "20news", "BIBTEX": "bibtex", "AMAZONCAT-13K": "amazoncat"}
METHODS = {"SOFT": "softmax", "BOUCHARD": "bouchard", "OVE": "ove", "OVE-SGD": "ove"}
SMALL = ("MNIST", "20NEWS", "BIBTEX")  # of Table 2
SGD = "OVE-SGD"
MEASURED = {"param_norm": NORM, "test_error": "test_error", "test_nlpd": "test_log_loss"}
OBJECTIVE = "`shape.train` * (bound - l2_term)"  # of the whole sum, less lambda/2 ||w||²

printed = partial(published.number, "ove", "Table 2")  # by dataset, method, metric


def measured(results: pd.DataFrame, dataset: str, method: str, column: str) -> Values:
    """Measurements of a method of Table 2 on a dataset, both as printed."""
    grid = FIGURE3 if method == SGD else TABLE2
    return values(grid(DATASETS[dataset], METHODS[method]).all_of(results), column)
