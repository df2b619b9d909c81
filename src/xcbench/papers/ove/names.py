"""What the one-vs-each paper prints, in our names, and the columns that measure it."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import claims, published
from xcbench.papers.frames import Values, values
from xcbench.papers.ove.norms import NORM

CLAIMS = claims.of("ove")
DATASETS, METHODS = CLAIMS.datasets, CLAIMS.methods
SMALL = ("MNIST", "20NEWS", "BIBTEX")  # of Table 2
SGD = "OVE-SGD"
TABLE2 = {"param_norm": NORM, "test_error": "test_error", "test_nlpd": "test_log_loss"}
OBJECTIVE = "`shape.train` * (bound - l2_term)"  # of the whole sum, less lambda/2 ||w||²

printed = partial(published.number, "ove", "Table 2")  # by dataset, method, metric


def measured(results: pd.DataFrame, dataset: str, method: str, column: str) -> Values:
    """Measurements of a method of Table 2 on a dataset, both as printed."""
    rows = CLAIMS.rows(results, "Table 2", dataset, method, "test_error")
    return values(rows["paper"], column)
