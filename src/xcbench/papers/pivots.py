"""Tables as data: groups of measured rows, and what is shown of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from xcbench.papers import published
from xcbench.papers.columns import Column
from xcbench.papers.rows import Conditions, Values, having, number, remark, values
from xcbench.show.formats import NONE

DIGITS = ".4f"


@dataclass(frozen=True)
class Labels:
    """Values of a column as labels of lines, in ascending order, numbers with a format."""

    of: Column
    form: str = ""


def named(column: Column, labels: Mapping[str, object]) -> dict[str, Conditions]:
    """Labels of values of a column."""
    return {label: {column: value} for label, value in labels.items()}


@dataclass(frozen=True)
class Printed:
    """What a paper prints for a line's dataset and method."""

    paper: str
    table: str
    metric: str

    def values(self, labels: Mapping[str, str], rows: pd.DataFrame) -> Values:
        """The number of a line, whose headings are ``dataset`` and ``method``."""
        key = self.table, labels["dataset"], labels["method"], self.metric
        value = published.number(self.paper, *key)
        return Values(() if np.isnan(value) else (value,))


@dataclass(frozen=True)
class Cell:
    """What a line shows of its rows: mean and spread of a column over the seeds.

    Attributes
    ----------
    of : the column, or a printed number.
    less : what is subtracted, mean from mean.
    where : what the rows have besides.
    """

    of: Column | Printed
    form: str = DIGITS
    less: Column | Printed | None = None
    where: Conditions = field(default_factory=dict)


@dataclass(frozen=True)
class Once:
    """A value that all rows of a line share."""

    of: Column
    form: str = ",.0f"


Shown = Cell | Once | Column | Printed | Callable[[pd.DataFrame], str]
Cells = Mapping[str, Shown]


@dataclass(frozen=True)
class Pivot:
    """A table of measured rows.

    Attributes
    ----------
    by : by heading, what distinguishes its lines, the slowest first: values of a column, or labels,
        each with what its rows have. A label without rows has no line.
    columns : by heading, what a line shows. `rows.remark` says why cells did not end.
    where : what its rows have, a value or a list of values; of `columns.GRID` a grid.
    order : headings of ``by``, if lines are in another order than their labels.
    every : whether lines without a cell are shown; else only where a remark says why.

    Raises
    ------
    ValueError
        If ``order`` has other headings than ``by``.
    """

    by: Mapping[str, Labels | Mapping[str, Conditions]]
    columns: Cells
    where: Conditions = field(default_factory=dict)
    order: Sequence[str] = ()
    every: bool = False

    def __post_init__(self) -> None:
        if self.order and {*self.order} != {*self.by}:
            raise ValueError(f"'order' has other headings than 'by': {', '.join(self.order)}")

    def table(self, results: pd.DataFrame) -> pd.DataFrame:
        """Table of measured rows."""
        groups = self._groups(having(results, self.where), self.order or [*self.by])
        every = self.every or remark in self.columns.values()
        lines = [
            [labels[heading] for heading in self.by]
            + [self._text(shown, labels, rows) for shown in self.columns.values()]
            for labels, rows in groups
            if every or (rows["status"] != "skipped").any()
        ]
        return pd.DataFrame(lines, columns=[*self.by, *self.columns])

    def _groups(
        self, rows: pd.DataFrame, headings: Sequence[str]
    ) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
        if not headings:
            yield {}, rows
            return
        for label, part in _split(rows, self.by[headings[0]]):
            for labels, last in self._groups(part, headings[1:]):
                yield {headings[0]: label, **labels}, last

    def _text(self, shown: Shown, labels: Mapping[str, str], rows: pd.DataFrame) -> str:
        if isinstance(shown, Once):
            numbers = shown.of.of(rows).dropna()
            return f"{numbers.iloc[0]:{shown.form}}" if len(numbers) else NONE
        if not isinstance(shown, Cell | Column | Printed):
            return shown(rows)
        cell = shown if isinstance(shown, Cell) else Cell(shown)
        digits, rows = int(cell.form[1:-1]), having(rows, cell.where)
        first = _values(cell.of, labels, rows)
        if cell.less:
            return number(first.mean - _values(cell.less, labels, rows).mean, digits, "+z")
        return NONE if remark in self.columns.values() and not first.values else first.text(digits)


def _values(of: Column | Printed, labels: Mapping[str, str], rows: pd.DataFrame) -> Values:
    return of.values(labels, rows) if isinstance(of, Printed) else values(rows, of)


def _split(
    rows: pd.DataFrame, heading: Labels | Mapping[str, Conditions]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the labels of a heading."""
    if isinstance(heading, Labels):
        for value, part in rows.groupby(str(heading.of)) if str(heading.of) in rows else ():
            yield format(value, heading.form), part
        return
    for label, conditions in heading.items():
        part = having(rows, conditions)
        if len(part):
            yield label, part
