"""The report of the MEMOIR paper: a section for every table and figure, and what lies beyond."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from xcbench.papers import Measured, pictures, report
from xcbench.papers.frames import without_twins
from xcbench.papers.memoir import TITLE, beyond, claims, figures, inexact, margins, tables
from xcbench.papers.section import Section
from xcbench.report import style
from xcbench.report.figures import Picture

INTRO = (
    "'As text' is the paper as it is written (Algorithms 1 and 2); 'as published' is what the "
    "authors' code ran (revision 7c0bdac). Both are presets of ordinary settings: "
    "variant=memoir/paper, variant=memoir/code. The margin oracle is exact where nothing "
    "else is said; ± is the standard deviation over seeds."
)
MARGINS = "How inexact the margins of an oracle are"


def write(measured: Measured, folder: Path) -> pd.DataFrame:
    """Write page, Markdown and figures; returns the replication rows."""
    measured = replace(measured, results=without_twins(measured.results))
    known = claims.claims(measured.results)
    kept = without_twins(margins.read(folder / margins.FILE))
    return report.write("memoir", TITLE, INTRO, known, folder, partial(_sections, measured, kept))


def _sections(
    measured: Measured, kept: pd.DataFrame, rows: pd.DataFrame, folder: Path
) -> list[Section]:
    results, curves = measured.results, measured.curves
    drawn = figures.draw(results, curves, folder)
    return [
        Section("What was found", report.paragraphs(Path(__file__).parent / "findings.md")),
        Section(
            "Table 1: datasets",
            tables=[
                tables.sizes(results),
                report.of_rows(rows, "Table 1", "Sizes as printed and read"),
            ],
        ),
        Section(
            "Table 2: size of a batch",
            tables=[
                tables.table2(results),
                report.of_rows(rows, "Table 2", "Verdicts, number by number"),
            ],
        ),
        Section(
            "Table 3: time, memory, accuracy, macro-F1",
            tables=[
                tables.table3(results),
                tables.ratios(results),
                tables.dense_memory(),
                report.of_rows(rows, "Table 3", "Verdicts, number by number"),
            ],
        ),
        replace(
            _figure("Table 4: settings, and the number of batches T", drawn, "batches", "table4"),
            tables=[
                tables.table4(results, curves),
                report.of_rows(rows, "Table 4", "Settings as printed"),
            ],
        ),
        replace(
            _figure("Figure 1: strength of the l1 penalty", drawn, "figure1", "figure1"),
            tables=[beyond.strengths(results)],
        ),
        _figure("Figure 2: methods side by side", drawn, "figure2", "table3_as_published"),
        Section("Beyond the paper: thousands of classes", tables=[beyond.large(results)]),
        Section("Beyond the paper: the constant feature", tables=[beyond.constants(results)]),
        Section("Beyond the paper: other margin oracles", tables=[beyond.margin_oracles(results)]),
        _inexact(kept, folder),
    ]


def _figure(title: str, drawn: dict[str, Picture], name: str, experiment: str) -> Section:
    return pictures.section(title, drawn, name, f"memoir/{experiment}")


def _inexact(kept: pd.DataFrame, folder: Path) -> Section:
    """The theory made visible, from the committed table."""
    if kept.empty:
        return Section(MARGINS, ["Not measured: `xcbench paper memoir grid=margins` measures it."])
    with style.look():
        made = {"inexact": inexact.draw(kept)}
    drawn = pictures.save(made, {"inexact": inexact.CAPTION}, folder)
    return Section(MARGINS, tables=[inexact.table(kept)], figures=[drawn["inexact"]])
