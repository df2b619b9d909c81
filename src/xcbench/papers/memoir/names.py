"""What the MEMOIR paper prints, in our names, and the rows and columns that measure it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from xcbench.papers import Grid, published
from xcbench.papers.frames import Values, ended, values
from xcbench.papers.memoir.experiments import (
    TABLE3_BASELINES,
    TABLE3_CODE,
    TABLE3_LSH_CODE,
    TABLE3_LSH_PAPER,
    TABLE3_PAPER,
    TABLE3_SYSTEMS,
    TABLE4,
)

DATASETS = {
    "LSHTC1": "lshtc1",
    "DMOZ": "dmoz",
    "WIKI-Small": "joshi-wiki-small",
    "WIKI-50K": "wiki-50k",
    "WIKI-100K": "wiki-100k",
}
METHODS = {
    "OVR": "svm_ovr",
    "M-SVM": "svm_cs",
    "RecallTree": "recall_tree",
    "FastXML": "fastxml",
    "PfastReXML": "pfastrexml",
    "PD-Sparse": "pd_sparse",
    "MEMOIR-l2": "memoir_l2",
    "MEMOIR-l1": "memoir_l1",
    "MEMOIR-LSH": "memoir_l2",
}
MEMOIR = ("MEMOIR-l2", "MEMOIR-l1", "MEMOIR-LSH")
BEYOND = {"label tree (napkinXC)": "plt", "class sums by cosine": "class_sums"}  # not in the paper
OURS = {**METHODS, **BEYOND}
SYSTEMS = ("FastXML", "PfastReXML", "PD-Sparse")  # written from their papers
AT_HAND = ("20news", "citeulike")  # in place of those, beside no printed number
VARIANTS = ("paper", "code")
FACTORS = {"0.1": 11, "1": 110, "10": 1100, "100": 11000, "1000": 110000}  # |b| on LSHTC1

MEASURES = {  # of Table 3, in the printed units: seconds, MB (1.048576 in a MiB), per cent
    "train_time": "train_seconds",
    "predict_time": "predict_seconds",
    "total_memory": "1.048576 * model_mib",
    "accuracy": "100 * (1 - test_error)",
    "macro_f1": "100 * test_macro_f1",
}
BESIDE = {  # macro-F1 as the paper's words have it, not scikit-learn's; any tag of an article
    "macro_f1_of_means": "100 * test_macro_f1_of_means",
    "precision_at_1": "100 * test_precision_at_1",
}

# by table, dataset, method, metric; of memory in MB
printed = partial(published.number, "memoir", units="MB")


def grid(method: str, variant: str = "code") -> Grid | None:
    """Grid of a method of Table 3; baselines have one variant alone."""
    if method not in MEMOIR:
        baselines = TABLE3_SYSTEMS if method in SYSTEMS else TABLE3_BASELINES
        return baselines if variant == "code" else None
    lsh = method == "MEMOIR-LSH"
    if variant == "code":
        return TABLE3_LSH_CODE if lsh else TABLE3_CODE
    return TABLE3_LSH_PAPER if lsh else TABLE3_PAPER


def of(results: pd.DataFrame, dataset: str, method: str, variant: str = "code") -> pd.DataFrame:
    """Rows of a method of Table 3, as printed, on a dataset of ours."""
    of_method = grid(method, variant)
    wanted = {"dataset": dataset, "method": OURS[method]}
    return of_method.rows(results, **wanted) if of_method else results[:0]


def in_time(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows without the cells that were over their time: many have some of their classes alone."""
    return rows[rows["status"] != "timeout"]


def measure(rows: pd.DataFrame, metric: str) -> Values:
    """A measure of Table 3, or one beside it."""
    return values(rows, {**MEASURES, **BESIDE}[metric])


def levelling(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table 4 that ended, with their ``variant``, which the order of rows tells."""
    rows = ended(TABLE4.rows(results))
    order = rows.reindex(columns=["method.order"])["method.order"]
    return rows.assign(variant=np.where(order == "iid", "paper", "code"))
