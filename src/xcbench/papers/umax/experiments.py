"""The grids of the paper, in the order in which they run."""

from __future__ import annotations

from xcbench.papers import Grid, paper
from xcbench.papers.umax.names import RECORDED

TABLE2_CODE = Grid(
    "table2_code",
    part="tuning",
    criterion=RECORDED,
)
TABLE2_PAPER = Grid("table2_paper", part="tuning", also=["table2_paper_citeulike"], extended=True)
TABLE3_CODE = Grid("table3_code")
TABLE3_PAPER = Grid("table3_paper")
TABLE3_TUNED = Grid("table3_tuned", also=["table3_tuned_citeulike"], rates_from="table2_paper")
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

PAPER = paper(
    "umax",
    [
        TABLE2_CODE,
        TABLE2_PAPER,
        TABLE3_CODE,
        TABLE3_PAPER,
        TABLE3_TUNED,
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
    ],
)
