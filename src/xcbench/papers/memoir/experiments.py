"""The grids of the paper, in the order in which they run."""

from __future__ import annotations

from xcbench.papers import Grid, paper
from xcbench.papers.memoir import margins

MARGINS = Grid("margins", measure=margins.measure)
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
STRENGTH = Grid("strength")
AVERAGED = Grid("averaged", also=["averaged_citeulike", "averaged_citeulike_paper"])
FIRST_STEP = Grid("first_step")
TRUNCATION = Grid("truncation")
FIGURE1 = Grid("figure1")
TABLE2 = Grid("table2", also=["table2_20news", "table2_citeulike", "table2_citeulike_small"])
CITEULIKE_BASELINES = Grid("citeulike_baselines")
CITEULIKE = Grid("citeulike")

PAPER = paper(
    "memoir",
    [
        MARGINS,
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
        STRENGTH,
        AVERAGED,
        FIRST_STEP,
        TRUNCATION,
        FIGURE1,
        TABLE2,
        CITEULIKE_BASELINES,
        CITEULIKE,
    ],
)
