"""The grids of the paper, in the order in which they run."""

from __future__ import annotations

from dataclasses import replace

from xcbench.papers import Grid, paper

METHODS = ("negative_sampling", "nce", "ar_softmax", "ove", "umax", "softmax")
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
    criterion=dict.fromkeys(METHODS, VALIDATION),
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
PAIRS_SEARCH = replace(
    SMOOTHED_SEARCH, name="pairs_search", also=["pairs_search_frequency"], extended=False
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
FIGURE1_LARGE_RAW = Grid("figure1_large_raw")
FIGURE1_LARGE_NCE = Grid("figure1_large_nce")
FIGURE1_LARGE_PRIOR = Grid("figure1_large_prior")

PAPER = paper(
    "adv",
    [
        TABLE1,
        SMOOTHED_SEARCH,
        SCALE_SEARCH,
        PAIRS_SEARCH,
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
    ],
)
