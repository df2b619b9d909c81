"""The grids of the A&R paper, in the order in which they run, and our names of what it prints."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import Grid, published
from xcbench.papers import columns as c
from xcbench.papers.rows import Values, values

TABLE2 = Grid("table2")
TABLE3_CODE = Grid("table3_code")
TABLE3_CODE_EXACT = Grid("table3_code_exact")
TABLE3_PAPER = Grid("table3_paper")
TABLE3_PAPER_EXACT = Grid("table3_paper_exact")
STEPS_CLOCK = Grid("steps_clock")
STEPS_LOCAL = Grid("steps_local")
STEPS_ENTROPY = Grid("steps_entropy")
STEPS_ACCUMULATOR = Grid("steps_accumulator")
SYNTHETIC = Grid("synthetic")
SYNTHETIC_PAPER = Grid("synthetic_paper")
UNIFICATION = Grid("unification", also=["unification_umax"])
UNIFICATION_ADAPTIVE = Grid("unification_adaptive")
CITEULIKE = Grid("citeulike")
TABLE3_LARGE = Grid("table3_large")
TABLE3_OMNIGLOT = Grid("table3_omniglot")
TABLE3_OMNIGLOT_DRAWERS = Grid("table3_omniglot_drawers")
TABLE3_OMNIGLOT_PAPER = Grid("table3_omniglot_paper")
COMPLEMENTARY = Grid("complementary")
BOUND_AFTER = Grid("bound_after")

GRIDS = [
    TABLE2,
    TABLE3_CODE,
    TABLE3_CODE_EXACT,
    TABLE3_PAPER,
    TABLE3_PAPER_EXACT,
    STEPS_CLOCK,
    STEPS_LOCAL,
    STEPS_ENTROPY,
    STEPS_ACCUMULATOR,
    SYNTHETIC,
    SYNTHETIC_PAPER,
    UNIFICATION,
    UNIFICATION_ADAPTIVE,
    CITEULIKE,
    TABLE3_LARGE,
    TABLE3_OMNIGLOT,
    TABLE3_OMNIGLOT_DRAWERS,
    TABLE3_OMNIGLOT_PAPER,
    COMPLEMENTARY,
    BOUND_AFTER,
]


DATASETS = {
    "MNIST": "mnist",
    "Bibtex": "bibtex",
    "Omniglot": "omniglot",
    "EURLex-4K": "eurlex",
    "AmazonCat-13K": "amazoncat",
}
METHODS = {
    "exact softmax": "softmax",
    "OVE": "ove",
    "A&R softmax": "ar_softmax",
    "A&R multinomial probit": "ar_probit",
    "A&R multinomial logistic": "ar_logistic",
}
NAME = {ours: name for name, ours in METHODS.items()}
VARIANTS = ("paper", "code")
METRICS = {"test_log_likelihood": "log lik", "test_accuracy": "acc"}

# As the authors' code has it: clipped at 26 nats, of probit and logistic by importance sampling.
LIKELIHOOD = -c.TEST_LOG_LOSS_IMPORTANCE.fillna(c.TEST_LOG_LOSS_CLIPPED)
LOSS = "test_log_loss"
BOUND = c.BOUND * c.TRAIN_ROWS  # of all training rows
printed = partial(published.number, "ar")  # by table, dataset, method, metric


def cells(results: pd.DataFrame, dataset: str, method: str, variant: str = "code") -> pd.DataFrame:
    """Rows of Table 3, dataset and method as printed; large datasets have one variant alone."""
    data, ours = DATASETS[dataset], METHODS[method]
    small = {
        "paper": TABLE3_PAPER_EXACT if ours == "softmax" else TABLE3_PAPER,
        "code": TABLE3_CODE_EXACT if ours == "softmax" else TABLE3_CODE,
    }
    large = {"code": TABLE3_OMNIGLOT if data == "omniglot" else TABLE3_LARGE}
    grid = (small if data in ("mnist", "bibtex") else large).get(variant)
    return grid(data, ours).all_of(results) if grid else results[:0]


def seconds(results: pd.DataFrame, dataset: str, method: str) -> Values:
    """Training seconds an epoch, dataset and method as printed."""
    rows = TABLE2(DATASETS[dataset], METHODS[method]).all_of(results)
    return values(rows, c.TRAIN_SECONDS / c.EPOCH)
