"""What the A&R paper prints, in our names, and the cells and columns that measure it."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import columns as c
from xcbench.papers import published
from xcbench.papers.ar.experiments import (
    TABLE2,
    TABLE3_CODE,
    TABLE3_CODE_EXACT,
    TABLE3_LARGE,
    TABLE3_OMNIGLOT,
    TABLE3_PAPER,
    TABLE3_PAPER_EXACT,
)
from xcbench.papers.frames import Values, values

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
BOUND = "bound * `shape.train`"  # of all training rows
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
    return values(rows, str(c.TRAIN_SECONDS / c.EPOCH))
