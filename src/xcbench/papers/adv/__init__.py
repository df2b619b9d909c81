"""Extreme classification via adversarial softmax approximation (Bamler and Mandt 2020)."""

from __future__ import annotations

from xcbench.papers import Grid, Paper, report_of
from xcbench.papers.adv.frames import SAMPLING, START, TUNED, VALIDATION
from xcbench.papers.adv.names import OBJECTIVES

TITLE = "Extreme classification via adversarial softmax approximation (Bamler and Mandt, 2020)"


paper = Paper(
    "adv",
    TITLE,
    (
        Grid(
            "table1",
            "tuning",
            (
                "table1_nce",
                "table1_prior",
                "crossed_search",
                "crossed_search_prior",
                "crossed_search_umax",
                "nce_normalised_search",
                "appendix_a2_search",
                "appendix_a2_search_uniform",
            ),
            extended=True,
            criterion=dict.fromkeys((*OBJECTIVES, "softmax"), VALIDATION),
            variants=(SAMPLING, START),
            tuned=TUNED,
            stopped=True,
        ),
        Grid("figure1", also=("figure1_nce", "figure1_prior"), rates_from="table1"),
        Grid("crossed", also=("crossed_prior", "crossed_umax"), rates_from="table1"),
        Grid("nce_normalised", rates_from="table1"),
        Grid("as_published", also=("as_published_raw",), rates_from="table1"),
        Grid("appendix_a2", also=("appendix_a2_uniform",), rates_from="table1"),
        Grid("pairs", rates_from="table1"),
        Grid("tree"),
        Grid(
            "figure1_large",
            also=("figure1_large_raw", "figure1_large_nce", "figure1_large_prior"),
        ),
    ),
    report_of("adv"),
)
