"""The report of a paper: sections of text, tables and figures, as one page and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from tabulate import tabulate

from xcbench.show import templates
from xcbench.show.formats import NONE, plain
from xcbench.show.pictures import Picture, slug
from xcbench.show.shapes import Shape

__all__ = ["Picture", "Section", "Table", "markdown", "render"]

LONG = 25  # rows of a table that the page shows on demand

# How verdicts begin, and their class on the page; the longest beginning that fits counts.
VERDICTS = {
    "reproduced": "reproduced",
    "reproduced with the code's settings": "code-settings",
    "close": "close",
    "close with the code's settings": "code-settings",
    "agrees with the code's settings": "code-settings",
    "fitted": "fitted",
    "by definition": "neutral",
    "not decided": "neutral",
    "deviates": "deviates",
    "not run": "not-run",
    "not printed": "neutral",
    "setting": "neutral",
    "orientation only": "neutral",
    "holds": "reproduced",
    "holds with the code's settings": "code-settings",
    "does not hold": "deviates",
    "inconclusive": "neutral",
    "not tested": "neutral",
    "not testable": "not-run",
}


class Source(NamedTuple):
    """Where a number comes from: command, cells in a table beside the page, commits of the code."""

    command: str
    cells: tuple[str, ...] = ()
    file: str = ""
    commits: str = ""


@dataclass(frozen=True)
class Table:
    """A table, its first column naming the rows.

    Parameters
    ----------
    caption : what it shows.
    frame : the cells, as text or as values; values that are missing show as a dash, numbers with
        six significant digits.
    right : columns aligned to the right.
    verdict : the column whose words are coloured.
    shape : the same numbers in the paper's own shape, which the page shows first.
    anchors : names of the rows, for links.
    sources : by row, the command that measures it and the cells that were measured.
    """

    caption: str
    frame: pd.DataFrame
    right: tuple[str, ...] = ()
    verdict: str | None = None
    shape: Shape | None = None
    anchors: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.right, *([self.verdict] if self.verdict else [])):
            if name not in self.frame:
                raise ValueError(f"the table '{self.caption}' has no column '{name}'")

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame]

    @property
    def rows(self) -> list[list[str]]:
        """The cells as text, row by row."""
        return [[shown(value) for value in row] for row in self.frame.itertuples(index=False)]

    def kind(self, column: str, text: str) -> str:
        """CSS class of a cell."""
        if column == self.verdict:
            return verdict_class(text)
        return "number" if column in self.right else "words"


@dataclass(frozen=True)
class Section:
    """A part of a report: paragraphs of plain text, then tables, then figures.

    Attributes
    ----------
    folded : whether the page shows its text on demand alone.
    """

    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)
    folded: bool = False

    @property
    def anchor(self) -> str:
        """What links to the section end with."""
        return slug(self.title).lower()


def render(
    title: str,
    intro: list[str],
    sections: list[Section],
    claims: Sequence[Any] = (),
    notes: str = "",
) -> str:
    """Render a report as HTML that needs no script and no network.

    The same input gives the same bytes.

    Parameters
    ----------
    title : heading of the page.
    intro : what stands before the first section, a line each.
    sections : what follows; their titles differ.
    claims : what the paper claims in prose (see `stated`), before the sections.
    notes : what the page shows on demand before them.
    """
    anchors = [section.anchor for section in sections]
    if len(set(anchors)) < len(anchors):
        raise ValueError("two sections have the same title; links could not tell them apart")
    page = templates.environment().get_template("papers/page.html")
    return page.render(
        title=title,
        intro=intro,
        sections=sections,
        claims=claims,
        notes=notes,
        verdict_class=verdict_class,
        long=LONG,
    )


def markdown(sections: list[Section]) -> str:
    """Write sections as Markdown; figures are links to the folder they lie in."""
    return "\n\n".join(part for section in sections for part in _parts(section)) + "\n"


def verdict_class(verdict: str) -> str:
    """CSS class of a verdict such as ``not run: data``; empty where its words are not known."""
    fitting = [word for word in VERDICTS if verdict.startswith(word)]
    return VERDICTS[max(fitting, key=len)] if fitting else ""


def shown(value: Any) -> str:
    """Show a cell of a table: missing values as a dash, numbers with six digits, else as it is."""
    if pd.isna(value):
        return NONE
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _parts(section: Section) -> list[str]:
    tables = [part for table in section.tables for part in (f"**{table.caption}**", _grid(table))]
    figures = [
        f"![{figure.alt}]({figure.png.parent.name}/{figure.png.name})\n\n{figure.caption}"
        for figure in section.figures
    ]
    return [f"## {section.title}", *section.text, *tables, *figures]


def _grid(table: Table) -> str:
    rows = [[plain(text, code=True) for text in row] for row in table.rows]
    align = ["right" if name in table.right else "left" for name in table.columns]
    return tabulate(
        rows, headers=table.columns, tablefmt="pipe", disable_numparse=True, colalign=align
    )
