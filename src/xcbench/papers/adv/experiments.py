"""The grids of the adversarial-softmax paper, in the order in which they run.

With our names of what it prints, and the checkpoints at which its runs are read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from xcbench.papers import Grid, Measured, published
from xcbench.papers.rows import at, having, stopped

DATASETS = {"Wikipedia-500K": "wikipedia500k", "Amazon-670K": "amazon670k"}
EURLEX = "EURLex-4K"  # of Appendix A.2
HERE = ("citeulike", "20news")  # real data at hand, in no table of the paper
SHOWN = {"citeulike": "citeulike", "20news": "20 Newsgroups"}

PROPOSED = "adversarial neg. sampling (proposed)"
DRAWS = {  # printed name: method, and how it draws classes
    PROPOSED: ("negative_sampling", "tree"),
    "uniform neg. sampling": ("negative_sampling", "uniform"),
    "frequency-based neg. sampling": ("negative_sampling", "frequency"),
    "NCE": ("nce", "tree"),
    "A&R": ("ar_softmax", "others"),
    "OVE": ("ove", "others"),
}
METHODS = {name: method for name, (method, _) in DRAWS.items()}
OBJECTIVES = {
    "negative_sampling": "negative sampling",
    "nce": "NCE",
    "ar_softmax": "A&R",
    "ove": "OVE",
    "umax": "U-max",
}
SAMPLERS = {"uniform": "uniform", "frequency": "frequency", "tree": "adversarial tree"}
PRIORS = ("ar_softmax", "ove", "umax")  # regularised by a prior of the weights, not by the scores


VALIDATION = "validation_log_loss"

TABLE1 = Grid(
    "table1",
    part="tuning",
    also=[
        "table1_nce",
        "table1_prior",
        "crossed_search",
        "crossed_search_prior",
        "crossed_search_umax",
        "nce_normalised_search",
        "appendix_a2_search",
        "appendix_a2_search_uniform",
    ],
    extended=True,
    criterion=dict.fromkeys((*OBJECTIVES, "softmax"), VALIDATION),
    variants=["method.sampler", "method.init"],
    tuned=["method.score_l2", "method.l2"],
    stopped=True,
)
SMOOTHED_SEARCH = Grid(
    "smoothed_search",
    part="tuning",
    extended=True,
    criterion={"negative_sampling": VALIDATION},
    variants=["method.sampler", "method.init"],
    tuned=["method.score_l2", "method.l2"],
    stopped=True,
)
SCALE_SEARCH = replace(
    SMOOTHED_SEARCH,
    name="scale_search",
    also=["scale_search_plain"],
    extended=False,
    variants=["method.sampler", "method.init", "method.tree.pca"],
    tuned=["method.tree.l2"],
)
FIGURE1 = Grid("figure1", also=["figure1_nce", "figure1_prior"], rates_from="table1")
FIGURE1_SPLITS = Grid("figure1_splits", rates_from="table1")
SMOOTHED = Grid("smoothed", rates_from="smoothed_search")
SCALE = Grid("scale", rates_from="scale_search")
CROSSED = Grid("crossed", also=["crossed_prior", "crossed_umax"], rates_from="table1")
NCE_NORMALISED = Grid("nce_normalised", rates_from="table1")
TABLE1_CODE = Grid("table1_code", also=["table1_code_raw"], rates_from="table1")
TABLE1_CODE_FREQUENCY = Grid("table1_code_frequency", rates_from="smoothed_search")
APPENDIX_A2 = Grid("appendix_a2", also=["appendix_a2_uniform"], rates_from="table1")
APPENDIX_A2_TEXT = Grid("appendix_a2_text", also=["appendix_a2_text_uniform"])
TUNED_FOR = Grid("tuned_for", also=["tuned_for_bare"])
PAIRS = Grid("pairs", rates_from="table1")
PAIRS_FREQUENCY = Grid("pairs_frequency", rates_from="smoothed_search")
PAIRS_TUNED = Grid("pairs_tuned", also=["pairs_tuned_frequency"], rates_from="pairs_search")
TREE = Grid("tree", also=["tree_scale", "tree_text"])
FIGURE1_LARGE = Grid(
    "figure1_large", also=["figure1_large_raw", "figure1_large_nce", "figure1_large_prior"]
)

GRIDS = [
    TABLE1,
    SMOOTHED_SEARCH,
    SCALE_SEARCH,
    replace(SMOOTHED_SEARCH, name="pairs_search", also=["pairs_search_frequency"], extended=False),
    FIGURE1,
    FIGURE1_SPLITS,
    SMOOTHED,
    SCALE,
    CROSSED,
    NCE_NORMALISED,
    TABLE1_CODE,
    TABLE1_CODE_FREQUENCY,
    APPENDIX_A2,
    APPENDIX_A2_TEXT,
    TUNED_FOR,
    PAIRS,
    PAIRS_FREQUENCY,
    PAIRS_TUNED,
    TREE,
    FIGURE1_LARGE,
]


VALIDATION_ERROR = "validation_error"
ERRORS = r"^(train|validation|test)_(error|precision_at_1)(_uncorrected)?$"
BARE = "_uncorrected"
SAMPLING, START = "method.sampler", "method.init"
TUNED = ("method.score_l2", "method.l2")

printed = partial(published.number, "adv")  # by table, dataset, method, metric


def at_best(measured: Measured) -> pd.DataFrame:
    """Rows of which every measure stops early by its own validation rows (see `stopped`).

    Losses, times and ``epoch`` are those of the lowest validation log loss; errors, precisions and
    ``error_epoch`` those of the lowest validation error. ``fit_seconds`` are before the first step.
    """
    losses, errors = (
        stopped(measured.results, measured.curves, name) for name in (VALIDATION, VALIDATION_ERROR)
    )
    final_errors = {str(name): column for name, column in errors.filter(regex=ERRORS).items()}
    start = at_start(measured).get("train_seconds")
    return losses.copy().assign(**final_errors, error_epoch=errors.get("epoch"), fit_seconds=start)


def at_best_bare(measured: Measured) -> pd.DataFrame:
    """As `at_best`; measures of bare scores stop early by their own validation rows."""
    rows = at_best(measured)
    for name in (VALIDATION, VALIDATION_ERROR):
        ends = stopped(measured.results, measured.curves, f"{name}{BARE}")
        kind = f"{name.removeprefix('validation')}{BARE}"
        rows = rows.assign(**{it + kind: ends.get(it + kind) for it in ("test", "validation")})
    return rows


def at_start(measured: Measured) -> pd.DataFrame:
    """Rows as they stand before the first step: the tree is fitted, the weights have begun."""
    return at(measured.results, measured.curves.sort_values("epoch", kind="stable"))


def compared(results: pd.DataFrame, dataset: str) -> dict[str, pd.DataFrame]:
    """Cells of Figure 1 that ended, by the printed name of their method."""
    rows = FIGURE1(dataset).of(results)
    every = {
        name: having(rows, {"method": method, SAMPLING: sampler})
        for name, (method, sampler) in DRAWS.items()
    }
    return {name: frame for name, frame in every.items() if len(frame)}
