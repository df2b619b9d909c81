"""The report of a paper: sections of text, tables and figures, as one page and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from tabulate import tabulate

from xcbench.report import templates
from xcbench.report.figures import Picture, slug
from xcbench.report.formats import NONE, plain

__all__ = ["Picture", "Section", "Table", "markdown", "render"]

# How verdicts begin, and their class on the page; the longest beginning that fits counts.
VERDICTS = {
    "reproduced": "reproduced",
    "reproduced with the code's settings": "code-settings",
    "deviates": "deviates",
    "not run": "not-run",
    "not printed": "neutral",
    "setting": "neutral",
    "orientation only": "neutral",
    "holds": "reproduced",
    "holds with the code's settings": "code-settings",
    "does not hold": "deviates",
    "not testable": "not-run",
}


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
    """

    caption: str
    frame: pd.DataFrame
    right: tuple[str, ...] = ()
    verdict: str | None = None

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
    """A part of a report: paragraphs of plain text, then tables, then figures."""

    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """What links to the section end with."""
        return slug(self.title).lower()


def render(title: str, intro: list[str], sections: list[Section]) -> str:
    """Render a report as HTML, complete in itself: figures inside, no script, no network.

    The same input gives the same bytes.

    Parameters
    ----------
    title : heading of the page.
    intro : paragraphs before the first section.
    sections : what follows; their titles differ.
    """
    anchors = [section.anchor for section in sections]
    if len(set(anchors)) < len(anchors):
        raise ValueError("two sections have the same title; links could not tell them apart")
    page = templates.environment().get_template("papers/page.html")
    return page.render(title=title, intro=intro, sections=sections)


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
