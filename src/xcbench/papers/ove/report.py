"""The report of the one-vs-each paper: a section for every table and figure, and more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.papers import Measured, pictures, report
from xcbench.papers.frames import without_twins
from xcbench.papers.ove import TITLE, claims, figures, figures_toy, tables, weights
from xcbench.papers.section import Section
from xcbench.report.figures import Picture

INTRO = (
    "The paper has no published code, so there is one reading, that of the text "
    "(variant=ove/paper); what it leaves open was settled by experiment, which 'What was found' "
    "says. Bounds and losses are in nats; ± is the standard deviation over seeds."
)


def write(measured: Measured, folder: Path) -> pd.DataFrame:
    """Write page, Markdown and figures; returns the replication rows."""
    measured = replace(measured, results=without_twins(measured.results))
    known, kept = claims.claims(measured.results), weights.read(folder / weights.FILE)
    return report.write("ove", TITLE, INTRO, known, folder, partial(_sections, measured, kept))


def _sections(
    measured: Measured, kept: pd.DataFrame, rows: pd.DataFrame, folder: Path
) -> list[Section]:
    results, curves = measured.results, measured.curves
    toy = figures_toy.draw(results, curves, kept, folder)
    drawn = figures.draw(results, curves, folder)
    findings = report.paragraphs(Path(__file__).parent / "findings.md")
    return [
        Section("What was found", findings),
        Section(
            "Table 1: datasets",
            tables=[report.of_rows(rows, "Table 1", "Sizes as printed and read")],
        ),
        Section(
            "Table 2: exact softmax and its bounds",
            tables=[
                tables.table2(results),
                report.of_rows(rows, "Table 2", "Verdicts, number by number"),
                tables.splits(results),
                tables.early(results),
            ],
        ),
        _figure("Figure 1a: ten values", toy, "figure1a"),
        _figure("Figure 1b: five classes in the plane", toy, "figure1b"),
        _figure("Figure 1c: bounds on the way", toy, "figure1c"),
        _figure("Figure 2: a million observations of 10,000 values", toy, "figure2"),
        replace(
            _figure("Figure 3: bounds on real data", drawn, "figure3"),
            tables=[tables.bounds(results)],
        ),
        _figure("Figure 3d: AmazonCat-13K", drawn, "figure3d"),
        Section(
            "Numbers in the text", tables=[report.of_rows(rows, "text", "Results and settings")]
        ),
        Section("Beyond the paper: classes handled exactly", tables=[tables.grouped(results)]),
    ]


def _figure(title: str, drawn: dict[str, Picture], name: str) -> Section:
    return pictures.section(title, drawn, name, f"ove/{name}")
