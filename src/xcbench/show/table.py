"""Tables: a frame as Markdown or text, and as HTML by ``parts.html``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd
from tabulate import tabulate

from xcbench.show.colours import verdict_class
from xcbench.show.formats import cell, plain
from xcbench.show.shapes import Shape

LONG = 25  # rows of a table that a page shows on demand


class Source(NamedTuple):
    """Where a number comes from: command, cells in a table, commits of the code."""

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
    frame : the cells, as text or as values; values that are missing show as a dash.
    right : columns aligned to the right.
    verdict : the column whose words are coloured.
    shape : the same numbers in the paper's own shape, which the page shows first.
    anchors : names of the rows, for links.
    sources : by row, the command that measures it and the cells that were measured.
    bold : for each cell, whether it is bold.
    digits : significant digits of numbers.
    folded : whether the page shows it on demand, however short.
    verbatim : whether its texts are not ours, so that nothing in them is markup.
    """

    caption: str
    frame: pd.DataFrame
    right: Sequence[str] = ()
    verdict: str | None = None
    shape: Shape | None = None
    anchors: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    bold: pd.DataFrame | None = None
    digits: int = 6
    folded: bool = False
    verbatim: bool = False

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
        lines = self.frame.itertuples(index=False, name=None)
        return [[cell(value, self.digits) for value in line] for line in lines]

    @property
    def on_demand(self) -> bool:
        """Whether a page shows it on demand alone."""
        return self.folded or len(self.frame) > LONG

    def kind(self, column: str, text: str) -> str:
        """CSS class of a cell."""
        if column == self.verdict:
            return verdict_class(text)
        return "number" if column in self.right else "words"

    def is_bold(self, row: int, column: int) -> bool:
        """Whether a cell is bold."""
        return self.bold is not None and bool(self.bold.iat[row, column])


def numeric(frame: pd.DataFrame) -> tuple[str, ...]:
    """Columns of numbers, which are aligned to the right."""
    return tuple(map(str, frame.select_dtypes("number")))


def markdown(table: Table) -> str:
    """A table as Markdown, without its caption."""
    escape = partial(plain, code=not table.verbatim)
    rows = [
        [
            f"**{escape(text)}**" if table.is_bold(i, j) else escape(text)
            for j, text in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    return grid(rows, table.columns, table.right)


def grid(
    rows: Iterable[Sequence[object]],
    columns: Sequence[str],
    right: Sequence[str] = (),
    form: str = "pipe",
) -> str:
    """Lay out cells as text, in a format of tabulate."""
    align = ["right" if name in right else "left" for name in columns]
    return tabulate(
        list(rows), headers=columns, tablefmt=form, disable_numparse=True, colalign=align
    )
