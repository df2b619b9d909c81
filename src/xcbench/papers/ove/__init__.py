"""One-vs-each approximation to softmax (Titsias 2016): OVE, OVE-SGD, Bouchard's bound."""

from __future__ import annotations

from xcbench.papers import Grid, Paper, report_of
from xcbench.papers.ove import norms, weights

TITLE = "One-vs-each approximation to softmax (Titsias, 2016)"


paper = Paper(
    "ove",
    TITLE,
    (
        Grid("figure1a", measure=weights.measure),
        Grid("figure1b", measure=weights.measure),
        Grid("figure1c"),
        Grid("figure2", measure=weights.measure),
        Grid("table2", measure=norms.measure),
        Grid("table2_bibtex_splits", measure=norms.measure),
        Grid("table2_early", measure=norms.measure),
        Grid("table2_ascent", measure=norms.measure),
        Grid("grouped", measure=norms.measure),
        Grid("figure3", measure=norms.measure),
        Grid("figure3d"),
    ),
    report_of("ove"),
)
