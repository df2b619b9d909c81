"""The page of a paper, as its ``paper.yaml`` lists it, made of what was measured.

At the top:

- ``title`` and ``intro``.
- ``figures``: functions that draw, of what was measured and a folder.
- ``rows``: a function that selects rows, where tables show others than the last ones.
- ``sections``: see below.

A section has

- ``title``, and ``text``: a function that gives paragraphs.
- ``tables``: a list, see below.
- ``figures``: a pattern of their names; ``run`` is the command, where none was drawn.
- ``code``: a function of what was measured and a folder that gives whole sections.

A table has a ``caption``; ``{said}`` there is what the function ``said`` gives. It is one of

- ``table``, a function that gives its cells. ``words`` are its columns of words, else all.
- ``table``, a name, and a ``pivot`` (see `pivots`) of all rows, or of those that the function
  ``rows`` gives. The function ``above`` gives lines before the others.
- ``verdicts``: a printed table, number by number. ``columns`` stand above its columns in the paper,
  else method and metric; none where the paper has no table.

A function is in the paper's file ``tables``, or named with its file: ``race.verdict``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench import options
from xcbench.papers import Measured, claims, findings, prose, published, report
from xcbench.papers.claims import declared, described, function
from xcbench.papers.frames import without_twins
from xcbench.papers.pivots import Pivot
from xcbench.papers.section import Section, Source, Table
from xcbench.report import commits
from xcbench.report.figures import Picture
from xcbench.run import presets

COLUMNS = ("method", "metric")  # above the columns of most printed tables; datasets at the left
DIGITS = 8  # of a cell's identity


@dataclass(frozen=True)
class Page:
    """What a paper's page is made of.

    Attributes
    ----------
    rows : of the replication table.
    """

    paper: str
    measured: Measured
    rows: pd.DataFrame
    folder: Path
    pictures: Mapping[str, Picture]

    def section(self, title: str, **spec: Any) -> Section:
        """Make a section of its entry."""
        text = function(self.paper, spec["text"])(self.measured) if "text" in spec else []
        pattern = spec.get("figures", "")
        figures = [self.pictures[name] for name in self.pictures if fnmatch(name, pattern)]
        if "run" in spec and not figures:
            run = spec["run"].replace("experiment=", f"{options.program()} experiment=")
            text = [f"Not run: `{run}` runs it.", *text]
        printed = published.figures(self.paper).get(title.partition(":")[0])
        text = [f"In the paper: {printed}", *text] if printed else text
        tables = [self.table(**it) for it in spec.get("tables", [])]
        return Section(title, text, sorted(tables, key=lambda table: table.shape is None), figures)

    def source(self, row: pd.Series) -> Source:
        """Where the measured number beside a printed one comes from."""
        command = "" if pd.isna(row["command"]) else row["command"]
        key = [row[name] for name in ("table", "dataset", "method", "metric")]
        rows = claims.of(self.paper).rows(self.measured.results, *key).get(row["variant"])
        if rows is None or rows.empty:
            return Source(command)
        part = presets.grids(self.paper)[rows["grid"].iloc[0]].get("part", "runs")
        cells = tuple(str(cell)[:DIGITS] for cell in rows["cell"])
        return Source(command, cells, f"{part}.csv", commits.counted(rows))

    def table(self, caption: str, words: list[str] | None = None, **spec: Any) -> Table:
        """Make a table of its entry."""
        if "verdicts" in spec:
            columns = spec.get("columns", COLUMNS if spec["verdicts"].startswith("Table") else ())
            return report.of_rows(self.rows, spec["verdicts"], caption, columns, self.source)
        content: Content = declared(
            Content, spec, self.paper, f"table '{spec.get('table', caption)}'"
        )
        frame = content.frame(self.paper, self.measured)
        right = () if words is None else report.all_but(frame, *words)
        verdict = "verdict" if "verdict" in frame else None
        if content.said:
            caption = caption.format(said=function(self.paper, content.said)(self.measured))
        return Table(caption, frame, right, verdict)


@dataclass(frozen=True)
class Content:
    """Where the cells of a table come from, as its entry says.

    Attributes
    ----------
    table : a function of the paper, or a name beside a ``pivot``.
    rows, above : functions of what is measured: rows for the pivot, and lines above it.
    said : a function whose words stand in the caption.
    """

    table: str
    pivot: Mapping[str, Any] | None = None
    rows: str = ""
    above: str = ""
    said: str = ""

    def frame(self, paper: str, measured: Measured) -> pd.DataFrame:
        """The cells."""
        if self.pivot is None:
            lines: pd.DataFrame = function(paper, self.table)(measured)
            return lines
        place = f"table '{self.table}'"
        pivot: Pivot = declared(Pivot, {**self.pivot, "paper": paper}, paper, place)
        frame = pivot.table(function(paper, self.rows)(measured) if self.rows else measured.results)
        return pd.concat([function(paper, self.above)(measured), frame]) if self.above else frame


def write(paper: str, measured: Measured, folder: Path) -> pd.DataFrame:
    """Write a paper's page, its tables as Markdown and its figures; gives the replication rows."""
    spec = described(paper)
    measured = replace(measured, results=without_twins(measured.results), folder=folder)
    if "rows" in spec:
        measured = replace(measured, results=function(paper, spec["rows"])(measured))
    table = claims.of(paper).build(measured.results)
    in_prose = prose.table(paper, measured)
    prose.write(folder, in_prose)

    def sections(rows: pd.DataFrame, figures: Path) -> list[Section]:
        drawn = [function(paper, name)(measured, figures) for name in spec["figures"]]
        pictures = {name: picture for part in drawn for name, picture in part.items()}
        page = Page(paper, measured, rows, figures, pictures)
        section = Section(
            "Findings", findings.paragraphs(paper, measured, rows, in_prose), folded=True
        )
        return [section, *_made(page, spec["sections"])]

    said = spec["title"], spec["intro"]
    return report.write(paper, *said, table, folder, sections, measured.stale)


def _made(page: Page, specs: list[dict[str, Any]]) -> Iterator[Section]:
    for spec in specs:
        if "code" in spec:
            yield from function(page.paper, spec["code"])(page.measured, page.folder)
        else:
            yield page.section(**spec)
