"""The grids of the MEMOIR paper, in the order in which they run, and our names of its print."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from xcbench.papers import Grid, published
from xcbench.papers import columns as c
from xcbench.papers.memoir.theory import margins
from xcbench.papers.rows import Values, values

TABLE1 = Grid("table1")
TABLE3_CODE = Grid("table3_code")
TABLE3_PAPER = Grid("table3_paper")
TABLE3_BASELINES = Grid("table3_baselines")
TABLE3_SYSTEMS = Grid("table3_systems", also=["table3_systems_citeulike"])
TABLE3_LSH_CODE = Grid("table3_lsh_code", also=["table3_lsh_code_citeulike"])
TABLE3_LSH_PAPER = Grid("table3_lsh_paper", also=["table3_lsh_paper_citeulike"])
TABLE4 = Grid("table4", also=["table4_paper"])
CONSTANT = Grid("constant")
ORACLES = Grid("oracles", also=["oracles_citeulike", "oracles_citeulike_graph"])
TABLE3_ORACLES = Grid(
    "table3_oracles",
    also=["table3_oracles_frequent", "table3_oracles_frequent_graph", "table3_oracles_citeulike"],
)
CORES = Grid("cores")
STRENGTH = Grid("strength")
AVERAGED = Grid("averaged", also=["averaged_citeulike", "averaged_citeulike_paper"])
FIRST_STEP = Grid("first_step")
TRUNCATION = Grid("truncation")
FIGURE1 = Grid("figure1")
TABLE2 = Grid("table2", also=["table2_20news", "table2_citeulike", "table2_citeulike_small"])
CITEULIKE_BASELINES = Grid("citeulike_baselines")
CITEULIKE = Grid("citeulike")

GRIDS = [
    Grid("margins", measure=margins.measure),
    TABLE1,
    TABLE3_CODE,
    TABLE3_PAPER,
    TABLE3_BASELINES,
    TABLE3_SYSTEMS,
    TABLE3_LSH_CODE,
    TABLE3_LSH_PAPER,
    TABLE4,
    CONSTANT,
    ORACLES,
    TABLE3_ORACLES,
    CORES,
    STRENGTH,
    AVERAGED,
    FIRST_STEP,
    TRUNCATION,
    FIGURE1,
    TABLE2,
    CITEULIKE_BASELINES,
    CITEULIKE,
]


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
    "train_time": c.TRAIN_SECONDS,
    "predict_time": c.PREDICT_SECONDS,
    "total_memory": 1.048576 * c.MODEL_MIB,
    "accuracy": 100 * c.TEST_ACCURACY,
    "macro_f1": 100 * c.TEST_MACRO_F1,
}
FURTHER = {  # macro-F1 as the paper's words have it, not scikit-learn's; any tag of an article
    "macro_f1_of_means": 100 * c.TEST_MACRO_F1_OF_MEANS,
    "precision_at_1": 100 * c.TEST_PRECISION_AT_1,
}

# by table, dataset, method, metric; of memory in MB
printed = partial(published.number, "memoir", units="MB")


def grid(method: str, variant: str = "code") -> Grid | None:
    """Grid of a method of Table 3; baselines have one variant alone."""
    if method == "MEMOIR-LSH":
        return TABLE3_LSH_CODE if variant == "code" else TABLE3_LSH_PAPER
    if method in MEMOIR:
        return TABLE3_CODE if variant == "code" else TABLE3_PAPER
    baselines = TABLE3_SYSTEMS if method in SYSTEMS else TABLE3_BASELINES
    return baselines if variant == "code" else None


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
    return values(rows, {**MEASURES, **FURTHER}[metric])


def levelling(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table 4 that ended, with their ``variant``, which the order of rows tells."""
    rows = TABLE4().of(results)
    order = rows.reindex(columns=["method.order"])["method.order"]
    return rows.assign(variant=np.where(order == "iid", "paper", "code"))
