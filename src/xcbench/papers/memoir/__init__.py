"""MEMOIR: multi-class extreme classification with inexact margin (Belyy and Sholokhov 2018)."""

from __future__ import annotations

from xcbench.papers import Grid, Paper, report_of
from xcbench.papers.memoir import margins

TITLE = "MEMOIR: multi-class extreme classification with inexact margin (2018)"


paper = Paper(
    "memoir",
    TITLE,
    (
        Grid("margins", measure=margins.measure),
        Grid("table1"),
        Grid("table3_as_published"),
        Grid("table3_as_text"),
        Grid("table3_baselines"),
        Grid("table3_lsh_as_published", also=("table3_lsh_as_published_citeulike",)),
        Grid("table3_lsh_as_text", also=("table3_lsh_as_text_citeulike",)),
        Grid("table4", also=("table4_as_text",)),
        Grid("constant"),
        Grid("oracles", also=("oracles_citeulike", "oracles_citeulike_graph")),
        Grid("figure1"),
        Grid("table2", also=("table2_20news", "table2_citeulike")),
        Grid("citeulike_baselines"),
        Grid("citeulike"),
    ),
    report_of("memoir"),
)
