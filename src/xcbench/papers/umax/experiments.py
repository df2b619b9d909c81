"""The grids of the U-max paper, in the order in which they run, and our names of what it prints."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from xcbench.papers import LOSS, Grid, Measured
from xcbench.papers.rows import ended

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


@cache
def author_runs() -> pd.DataFrame:
    """Learning curves that the authors store beside their code, one row a checkpoint."""
    return pd.read_csv(Path(__file__).parent / "author_runs.csv")


def recorded(method: str, variant: str = "code") -> str:
    """Column with the number of a method that the text means, or the published code recorded."""
    return RECORDED.get(method, LOSS) if variant == "code" else LOSS


def with_implicit(measured: Measured) -> pd.DataFrame:
    """Rows with the loss of Implicit SGD on the same grid, dataset and seed, where it ended."""
    results = measured.results
    keys = ["grid", "dataset", "seed"]
    implicit = ended(results[results["method"] == "implicit"]).drop_duplicates(keys)
    losses = implicit.reindex(columns=[*keys, LOSS]).set_index(keys)[LOSS]
    return results.join(losses.rename("implicit"), on=keys)


TABLE2_CODE = Grid(
    "table2_code",
    part="tuning",
    criterion=RECORDED,
)
TABLE2_PAPER = Grid("table2_paper", part="tuning", also=["table2_paper_citeulike"], extended=True)
TABLE3_CODE = Grid("table3_code")
TABLE3_PAPER = Grid("table3_paper")
TABLE3_TUNED = Grid("table3_tuned", also=["table3_tuned_citeulike"], rates_from="table2_paper")
PRIOR = Grid("prior", rates_from="prior_rates")
OPTIMUM = Grid("optimum")
STEPS_FACTOR = Grid("steps_factor")
STEPS_DRAWN = Grid("steps_drawn")
STEPS_SPLIT = Grid("steps_split")
STEPS_SPLIT_BIASED = Grid("steps_split_biased")
STEPS_ORDER = Grid("steps_order")
STEPS_U0 = Grid("steps_u0")
STEPS_WORK = Grid("steps_work")
FIGURE2 = Grid("figure2", also=["figure2_comparator", "figure2_citeulike"])
FIGURE3 = Grid("figure3", also=["figure3_mnist", "figure3_citeulike"], extended=True)
FIGURE3_ONE_PAIR = Grid("figure3_one_pair")
SEVERAL = Grid("several")
PAIRS = Grid("pairs", rates_from="table2_paper")

GRIDS = [
    TABLE2_CODE,
    TABLE2_PAPER,
    TABLE3_CODE,
    TABLE3_PAPER,
    TABLE3_TUNED,
    Grid("prior_rates", part="tuning", also=["prior_rates_citeulike"], extended=True),
    PRIOR,
    OPTIMUM,
    STEPS_FACTOR,
    STEPS_DRAWN,
    STEPS_SPLIT,
    STEPS_SPLIT_BIASED,
    STEPS_ORDER,
    STEPS_U0,
    STEPS_WORK,
    FIGURE2,
    FIGURE3,
    FIGURE3_ONE_PAIR,
    SEVERAL,
    PAIRS,
]
