"""What the A&R paper prints, in our names, and the cells and columns that measure it."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xcbench.papers import published
from xcbench.papers.frames import Values, part, values

METHODS = {
    "exact softmax": "softmax",
    "OVE": "ove",
    "A&R softmax": "ar_softmax",
    "A&R multinomial probit": "ar_probit",
    "A&R multinomial logistic": "ar_logistic",
}
NAME = {ours: name for name, ours in METHODS.items()}
DATASETS = {
    "MNIST": "mnist",
    "Bibtex": "bibtex",
    "Omniglot": "omniglot",
    "EURLex-4K": "eurlex",
    "AmazonCat-13K": "amazoncat",
}
LARGE = {"omniglot": "table3_omniglot", "eurlex": "table3_large", "amazoncat": "table3_large"}
LATENT = ("ar_probit", "ar_logistic")  # likelihoods without a closed form
READINGS = ("as_text", "as_published")
METRICS = {"test_log_likelihood": "log lik", "test_accuracy": "acc"}

LOSS = "test_log_loss"
ACCURACY = "1 - test_error"
BOUND = "bound * `shape.train`"  # of all training rows
PACE = "train_seconds / epoch"
MEAN_ERROR = "train_l1_error / `shape.classes`"  # of a class's estimated probability

printed = partial(published.number, "ar")  # by table, dataset, method, metric


def grid(dataset: str, method: str, reading: str = "as_published") -> str:
    """Grid of a cell of Table 3, in our names; large datasets have one reading alone."""
    if dataset in LARGE:
        return LARGE[dataset] if reading == "as_published" else ""
    return f"table3_{reading}" + ("_exact" if method == "softmax" else "")


def cells(
    results: pd.DataFrame, dataset: str, method: str, reading: str = "as_published"
) -> pd.DataFrame:
    """Rows of Table 3, in our names."""
    return part(results, grid(dataset, method, reading), dataset=dataset, method=method)


def column(metric: str, method: str, reading: str) -> str:
    """What measures a number: log likelihoods by the integral, or as the published code took them.

    The text's are without clip; the code's of probit and logistic are drawn.
    """
    if metric == "test_accuracy":
        return ACCURACY
    if reading == "as_text":
        return f"-{LOSS}"
    return f"-{LOSS}_importance" if method in LATENT else f"-{LOSS}_clipped"


def seconds(results: pd.DataFrame, dataset: str, method: str) -> Values:
    """Training seconds an epoch, in our names."""
    return values(part(results, "table2", dataset=dataset, method=method), PACE)
