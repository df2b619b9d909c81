"""The report of the A&R paper: a section for every table and figure, and what lies beyond."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.papers import Measured, pictures, report
from xcbench.papers.ar import TITLE, claims, figures, tables
from xcbench.papers.frames import without_twins
from xcbench.papers.section import Section
from xcbench.report.figures import Picture

INTRO = (
    "'As text' is the paper as it is written; 'as published' is what the authors' code ran "
    "(revision 402209c). Both are presets of ordinary settings: variant=ar/paper, "
    "variant=ar/code. Log likelihoods are means per test row in nats; ± is the standard "
    "deviation over seeds."
)
OMNIGLOT = {
    "table3_omniglot": "16 of 20 drawings drawn at random, others for every seed",
    "table3_omniglot_drawers": "drawers 17 to 20 are the test part",
}
CITEULIKE = {"citeulike": "smallest tag of an article"}


def write(measured: Measured, folder: Path) -> pd.DataFrame:
    """Write page, Markdown and figures; returns the replication rows."""
    measured = replace(measured, results=without_twins(measured.results))
    known = claims.claims(measured.results)
    return report.write("ar", TITLE, INTRO, known, folder, partial(_sections, measured))


def _sections(measured: Measured, rows: pd.DataFrame, folder: Path) -> list[Section]:
    results = measured.results
    drawn = figures.draw(results, measured.curves, folder)
    return [
        Section("What was found", report.paragraphs(Path(__file__).parent / "findings.md")),
        Section(
            "Section 4.1: synthetic data",
            tables=[
                tables.synthetic(results),
                report.of_rows(rows, "Section 4.1", "Results and settings"),
            ],
        ),
        Section(
            "Table 1: datasets and settings",
            tables=[report.of_rows(rows, "Table 1", "Sizes and settings as printed and read")],
        ),
        Section(
            "Table 2: time per epoch",
            tables=[
                tables.times(results),
                report.of_rows(rows, "Table 2", "Printed times, which are never judged"),
            ],
        ),
        Section(
            "Table 3: test log likelihood and accuracy",
            tables=[
                tables.table3(results),
                report.of_rows(rows, "Table 3", "Verdicts, number by number"),
                tables.orderings(results),
                tables.evaluations(results),
            ],
        ),
        Section("From the text to the printed numbers", tables=[tables.steps(results)]),
        Section(
            "Omniglot: which drawings train",
            tables=[tables.variants(results, OMNIGLOT, "omniglot")],
        ),
        _figure("Figure 2: bounds against training time", drawn, "figure2", "table3_as_published"),
        _figure("Beyond the paper: one objective, three methods", drawn, "unification"),
        Section(
            "Beyond the paper: thousands of classes",
            tables=[tables.variants(results, CITEULIKE, "citeulike")],
        ),
    ]


def _figure(title: str, drawn: dict[str, Picture], name: str, experiment: str = "") -> Section:
    return pictures.section(title, drawn, name, f"ar/{experiment or name}")
