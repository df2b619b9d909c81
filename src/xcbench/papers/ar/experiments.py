"""The grids of the paper, in the order in which they run."""

from __future__ import annotations

from xcbench.papers import Grid, paper

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
UNIFICATION = Grid("unification")
UNIFICATION_ADAPTIVE = Grid("unification_adaptive")
CITEULIKE = Grid("citeulike")
TABLE3_LARGE = Grid("table3_large")
TABLE3_OMNIGLOT = Grid("table3_omniglot")
TABLE3_OMNIGLOT_DRAWERS = Grid("table3_omniglot_drawers")
TABLE3_OMNIGLOT_PAPER = Grid("table3_omniglot_paper")
COMPLEMENTARY = Grid("complementary")
BOUND_AFTER = Grid("bound_after")

PAPER = paper(
    "ar",
    [
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
    ],
)
