"""Unbiased scalable softmax optimization (Fagan and Iyengar 2018): U-max and Implicit SGD."""

from __future__ import annotations

from xcbench.papers import Grid, Paper, report_of
from xcbench.papers.umax.names import RECORDED

TITLE = "Unbiased scalable softmax optimization (Fagan and Iyengar, 2018)"


paper = Paper(
    "umax",
    TITLE,
    (
        Grid("table2_as_published", "tuning", criterion=RECORDED),
        Grid("table2_as_text", "tuning", ("table2_as_text_citeulike",), extended=True),
        Grid("table3_as_published"),
        Grid("table3_as_text"),
        Grid("table3_tuned", also=("table3_tuned_citeulike",), rates_from="table2_as_text"),
        Grid("optimum"),
        Grid("steps_split"),
        Grid("steps_split_biased"),
        Grid("steps_order"),
        Grid("steps_u0"),
        Grid("steps_work"),
        Grid("figure2", also=("figure2_comparator", "figure2_citeulike")),
        Grid("figure3", also=("figure3_mnist", "figure3_citeulike"), extended=True),
        Grid("figure3_one_pair"),
        Grid("several"),
        Grid("pairs", rates_from="table2_as_text"),
    ),
    report_of("umax"),
)
