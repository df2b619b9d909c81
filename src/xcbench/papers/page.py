"""The page of a paper, made of its description and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd

from xcbench import options
from xcbench.papers import Measured, description, find, prose, report
from xcbench.papers.description import Description, Part, Table, Verdicts
from xcbench.papers.findings import Findings, paragraphs
from xcbench.papers.rows import compact, without_twins
from xcbench.show import pictures
from xcbench.show.pictures import Picture
from xcbench.show.section import Section
from xcbench.show.table import Source
from xcbench.show.table import Table as Cells
from xcbench.store import commits

DIGITS = 8  # of a cell's identity


@dataclass(frozen=True)
class Page:
    """What a paper's page is made of.

    Attributes
    ----------
    rows : of the replication table.
    """

    paper: Description
    measured: Measured
    rows: pd.DataFrame
    folder: Path
    pictures: Mapping[str, Picture]

    def sections(self) -> Iterator[Section]:
        """All sections, in their order."""
        for part in self.paper.sections:
            if isinstance(part, Part):
                yield self.section(part)
            else:
                yield from part(self.measured, self.folder)

    def section(self, part: Part) -> Section:
        """Make a section."""
        text = [*part.text(self.measured)] if part.text else []
        figures = [self.pictures[name] for name in self.pictures if fnmatch(name, part.figures)]
        if part.run and not figures:
            run = part.run.replace("experiment=", f"{options.program()} experiment=")
            text = [f"Not run: `{run}` runs it.", *text]
        text = [f"In the paper: {part.printed}", *text] if part.printed else text
        tables = [self.table(it) for it in part.tables]
        shaped_first = sorted(tables, key=lambda table: table.shape is None)
        return Section(part.title, text, shaped_first, figures)

    def table(self, table: Table | Verdicts) -> Cells:
        """Make a table."""
        if isinstance(table, Verdicts):
            return report.of_rows(self.rows, table.table, table.caption, table.columns, self.source)
        frame, caption = table.frame(self.measured), table.caption
        right = () if table.words is None else report.all_but(frame, *table.words)
        verdict = "verdict" if "verdict" in frame else None
        return Cells(
            caption if isinstance(caption, str) else caption(self.measured), frame, right, verdict
        )

    def source(self, row: pd.Series) -> Source:
        """Where the measured number beside a printed one comes from."""
        command = "" if pd.isna(row["command"]) else row["command"]
        key = [row[name] for name in ("table", "dataset", "method", "metric")]
        rows = self.paper.rows_of(self.measured.results, *key).get(row["variant"])
        if rows is None or rows.empty:
            return Source(command)
        name = rows["grid"].iloc[0]
        part = next(grid.part for grid in find(self.paper.name).grids if grid.name == name)
        cells = tuple(str(cell)[:DIGITS] for cell in rows["cell"])
        return Source(command, cells, f"{part}.csv", commits.counted(rows))


def write(name: str, measured: Measured, folder: Path) -> pd.DataFrame:
    """Write a paper's page, its tables as Markdown and its figures; gives the replication rows."""
    paper = description.of(name)
    measured = replace(measured, results=without_twins(measured.results), folder=folder)
    rows = paper.rows(measured) if paper.rows else measured.results
    measured = replace(measured, results=compact(rows), curves=compact(measured.curves))
    evidence = paper.evidence(measured.results)
    in_prose = prose.table(name, paper.statements, measured)
    prose.write(folder, in_prose)

    def sections(rows: pd.DataFrame, figures: Path) -> list[Section]:
        drawings = paper.figures(measured) if paper.figures else ()
        drawn = pictures.save(drawings, figures, "runs-curves.csv")
        say = Findings(name, measured, rows, in_prose)
        findings = paragraphs(paper.findings(say)) if paper.findings else []
        page = Page(paper, measured, rows, figures, drawn)
        return [Section("Findings", findings, folded=True), *page.sections()]

    return report.write(paper, evidence, folder, sections, measured.stale)
