"""What a paper is made of, besides its grids: ``PAPER`` in the file ``paper.py`` of its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd

from xcbench.papers import Lines, Measured
from xcbench.papers.findings import Findings
from xcbench.papers.measures import Measures
from xcbench.papers.pivots import Pivot
from xcbench.papers.prose import Statement
from xcbench.papers.replication import Evidence, Key
from xcbench.show.pictures import Drawing
from xcbench.show.section import Section

ByNumber = dict[Key, Evidence]
Sections = Callable[[Measured, Path], Iterable[Section]]  # of what was measured, and a folder


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes
    ----------
    caption : what it shows, or a function that says it.
    cells : a pivot of the measured rows, or a function that gives them, as lines or as a frame.
    words : columns of words, aligned to the left; else all are.
    rows, above : rows for a pivot, where not all count; and lines above it.
    """

    caption: str | Callable[[Measured], str]
    cells: Pivot | Callable[[Measured], Lines | pd.DataFrame]
    words: Sequence[str] | None = None
    rows: Callable[[Measured], pd.DataFrame] | None = None
    above: Callable[[Measured], pd.DataFrame] | None = None

    def frame(self, measured: Measured) -> pd.DataFrame:
        """The cells."""
        if not isinstance(self.cells, Pivot):
            return pd.DataFrame(self.cells(measured))
        frame = self.cells.table(self.rows(measured) if self.rows else measured.results)
        return pd.concat([self.above(measured), frame]) if self.above else frame


@dataclass(frozen=True)
class Verdicts:
    """A printed table, number by number.

    Attributes
    ----------
    columns : what stands above its columns in the paper; nothing, where it has no such table.
    """

    table: str
    caption: str
    columns: Sequence[str] = ("method", "metric")


@dataclass(frozen=True)
class Part:
    """A section of the page.

    Attributes
    ----------
    printed : what the paper's own figure shows, of a part that has one: axes and curves.
    figures : pattern of their names; ``run`` is the command, where none was drawn.
    text : gives its paragraphs.
    """

    title: str
    tables: Sequence[Table | Verdicts] = ()
    printed: str = ""
    figures: str = ""
    run: str = ""
    text: Callable[[Measured], Iterable[str]] | None = None


@dataclass(frozen=True)
class Description(Measures):
    """A paper in our words, and what is measured of its printed numbers.

    Attributes
    ----------
    title, intro : what its report begins with.
    statements : claims in prose.
    sections : of the page, or functions that make some.
    figures : gives what is drawn of what was measured.
    findings : paragraphs of what was found.
    more : adds evidence on printed numbers.
    rows : changes rows, or adds columns, where tables show others than the last ones.
    """

    title: str
    intro: str
    statements: Sequence[Statement]
    sections: Sequence[Part | Sections]
    figures: Callable[[Measured], Iterable[Drawing]] | None = None
    findings: Callable[[Findings], list[str]] | None = None
    more: Callable[[pd.DataFrame, ByNumber], ByNumber] | None = None
    rows: Callable[[Measured], pd.DataFrame] | None = None

    @property
    def short(self) -> str:
        """The title without authors and second line."""
        return self.title.split(":")[0].split(" (")[0]

    @property
    def cited(self) -> str:
        """The title without second line, with authors and year."""
        return f"{self.short} ({self.title.rpartition('(')[2]}"

    def evidence(self, results: pd.DataFrame) -> ByNumber:
        """What is known of its printed numbers."""
        evidence = super().evidence(results)
        return self.more(results, evidence) if self.more else evidence


def of(paper: str) -> Description:
    """Description of a paper by its name."""
    described: Description = import_module(f"xcbench.papers.{paper}.paper").PAPER
    return described
