"""The grids of the paper, in the order in which they run."""

from __future__ import annotations

from xcbench.papers import Grid, paper
from xcbench.papers.ove import norms, weights

FIGURE1A = Grid("figure1a", measure=weights.measure)
FIGURE1B = Grid("figure1b", measure=weights.measure)
FIGURE1C = Grid("figure1c")
FIGURE2 = Grid("figure2", measure=weights.measure)
TABLE2 = Grid("table2", measure=norms.measure)
TABLE2_BIBTEX_SPLITS = Grid("table2_bibtex_splits", measure=norms.measure)
TABLE2_EARLY = Grid("table2_early", measure=norms.measure)
TABLE2_ASCENT = Grid("table2_ascent", measure=norms.measure)
GROUPED = Grid("grouped", measure=norms.measure)
FIGURE3 = Grid("figure3", measure=norms.measure)
FIGURE3_ASCENT = Grid("figure3_ascent", also=["figure3_ascent_softmax", "figure3_rolling"])
FIGURE3D = Grid("figure3d")

PAPER = paper(
    "ove",
    [
        FIGURE1A,
        FIGURE1B,
        FIGURE1C,
        FIGURE2,
        TABLE2,
        TABLE2_BIBTEX_SPLITS,
        TABLE2_EARLY,
        TABLE2_ASCENT,
        GROUPED,
        FIGURE3,
        FIGURE3_ASCENT,
        FIGURE3D,
    ],
)
