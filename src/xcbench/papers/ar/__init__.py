"""Augment and reduce (Ruiz, Titsias, Dieng and Blei 2018): softmax, probit and logistic A&R."""

from __future__ import annotations

from xcbench.papers import Grid, Paper, report_of

TITLE = "Augment and reduce: stochastic inference for large categorical distributions (2018)"


paper = Paper(
    "ar",
    TITLE,
    (
        Grid("table2"),
        Grid("table3_as_published"),
        Grid("table3_as_published_exact"),
        Grid("table3_as_text"),
        Grid("table3_as_text_exact"),
        Grid("steps_clock"),
        Grid("steps_local"),
        Grid("steps_entropy"),
        Grid("steps_accumulator"),
        Grid("synthetic"),
        Grid("unification"),
        Grid("unification_adaptive"),
        Grid("citeulike"),
        Grid("table3_large"),
        Grid("table3_omniglot"),
        Grid("table3_omniglot_drawers"),
    ),
    report_of("ar"),
)
