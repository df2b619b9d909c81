"""What the U-max paper prints, in our names, and the columns that measure it."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import LOSS
from xcbench.papers.frames import ended

DATASETS = {
    "MNIST": "mnist",
    "Bibtex": "bibtex",
    "Delicious": "delicious",
    "Eurlex": "eurlex",
    "AmazonCat": "amazoncat",
    "Wiki10": "wiki10",
    "Wiki-small": "wiki-small",
}
METHODS = {
    "OVE": "ove",
    "NCE": "nce",
    "IS": "is",
    "Vanilla SGD": "vanilla",
    "U-max": "umax",
    "Implicit SGD": "implicit",
}
PUBLISHED_NAME = {ours: name for name, ours in METHODS.items()}
DATASET_NAMES = {ours: name for name, ours in DATASETS.items()} | {
    "citeulike": "citeulike (not in the paper)"
}
VARIANTS = ("code", "paper")
BIASED = ("ove", "nce", "is")
TWICE = "train_log_loss_softmax_twice"
ERROR = "train_error"
RECORDED = dict.fromkeys(BIASED, TWICE)  # what the published evaluation recorded, else the log loss


def recorded(method: str, variant: str = "code") -> str:
    """Column with the number of a method that the text means, or the published code recorded."""
    return RECORDED.get(method, LOSS) if variant == "code" else LOSS


def beside_implicit(results: pd.DataFrame) -> pd.DataFrame:
    """Rows with the loss of Implicit SGD on the same grid, dataset and seed, where it ended."""
    keys = ["grid", "dataset", "seed"]
    implicit = ended(results[results["method"] == "implicit"]).drop_duplicates(keys)
    return results.join(implicit.set_index(keys)[LOSS].rename("implicit"), on=keys)
