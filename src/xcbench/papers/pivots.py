"""Tables as data: groups of measured rows, and what is shown of each.

A ``pivot`` in a paper's ``paper.yaml`` has

- ``where``: what its rows have, a value or a list of values: ``{grid: [figure1, crossed]}``.
- ``by``: by heading, what distinguishes its lines, the slowest first. One of

  - a column: its values are labels in ascending order, numbers with a format
    (``shape.classes ,.0f``);
  - labels, each with what its rows have: ``tree: {method.sampler: tree}``. A mere value is one of
    the column that the heading names. A label without rows has no line.

- ``columns``: by heading, what a line shows of its rows. One of

  - a column or an expression of columns: mean and spread over seeds, with four digits or a format
    (``train_seconds .1f``);
  - ``once shape.classes``: a value that all rows share;
  - ``printed Table 2 test_error .3f``: what the paper prints for a line's dataset and method;
  - ``a less b``: how far one mean, or print, is above another;
  - ``remark``: why cells did not end;
  - ``tables.error()``: a function of the rows;
  - ``{of: test_error, lr: 10}``: one of these, of the rows that also have these values.

- ``order``: headings of ``by``, if lines are in another order than their labels.
- ``every``: whether lines without a cell are shown; else only where a remark says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from xcbench.papers import published
from xcbench.papers.claims import function
from xcbench.papers.frames import Values, evaluated, having, number, remark, values
from xcbench.report.formats import NONE

FORM = re.compile(r" (,?\.\d+[fe]|g)$")
REMARK, ONCE, LESS, PRINTED = "remark", "once ", " less ", "printed "


@dataclass(frozen=True)
class Pivot:
    """A table, as the head of this file has it.

    Attributes
    ----------
    paper : whose functions and printed numbers are meant.
    """

    by: Mapping[str, Any]
    columns: Mapping[str, Any]
    where: Mapping[str, object] = field(default_factory=dict)
    order: Sequence[str] = ()
    every: bool = False
    paper: str = ""

    def __post_init__(self) -> None:
        if self.order and {*self.order} != {*self.by}:
            raise ValueError(f"'order' has other headings than 'by': {', '.join(self.order)}")
        for heading, said in self.columns.items():
            if not isinstance(said.get("of") if isinstance(said, Mapping) else said, str):
                raise ValueError(f"the column '{heading}' does not say what it is 'of'")

    def table(self, results: pd.DataFrame) -> pd.DataFrame:
        """Table of measured rows."""
        groups = self._groups(having(results, self.where), self.order or [*self.by])
        lines = [
            [labels[heading] for heading in self.by]
            + [self._cell(said, labels, rows) for said in self.columns.values()]
            for labels, rows in groups
            if self.every or self._remarked or (rows["status"] != "skipped").any()
        ]
        return pd.DataFrame(lines, columns=[*self.by, *self.columns])

    @property
    def _remarked(self) -> bool:
        return REMARK in self.columns.values()

    def _groups(
        self, rows: pd.DataFrame, headings: Sequence[str]
    ) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
        if not headings:
            yield {}, rows
            return
        for label, part in _split(rows, headings[0], self.by[headings[0]]):
            for labels, last in self._groups(part, headings[1:]):
                yield {headings[0]: label, **labels}, last

    def _cell(self, said: Any, labels: Mapping[str, str], rows: pd.DataFrame) -> str:
        if isinstance(said, Mapping):
            rows = having(rows, {name: value for name, value in said.items() if name != "of"})
            said = said["of"]
        if said == REMARK:
            return remark(rows)
        if said.endswith("()"):
            return str(function(self.paper, said)(rows))
        if said.startswith(ONCE):
            column, form = formed(said.removeprefix(ONCE), ",.0f")
            numbers = evaluated(rows, column).dropna()
            return f"{numbers.iloc[0]:{form}}" if len(numbers) else NONE
        column, form = formed(said, ".4f")
        digits = int(form[1:-1])
        terms = [self._values(it, labels, rows) for it in column.split(LESS)]
        if len(terms) == 2:
            return number(terms[0].mean - terms[1].mean, digits, "+z")
        return NONE if self._remarked and not terms[0].values else terms[0].text(digits)

    def _values(self, said: str, labels: Mapping[str, str], rows: pd.DataFrame) -> Values:
        if not said.startswith(PRINTED):
            return values(rows, said)
        table, _, metric = said.removeprefix(PRINTED).rpartition(" ")
        value = published.number(self.paper, table, labels["dataset"], labels["method"], metric)
        return Values(() if np.isnan(value) else (value,))


def _split(rows: pd.DataFrame, heading: str, said: Any) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the labels of a heading."""
    if isinstance(said, Mapping):
        for label, value in said.items():
            part = having(rows, value if isinstance(value, Mapping) else {heading: value})
            if len(part):
                yield label, part
    else:
        column, form = formed(said, "")
        for value, part in rows.groupby(column) if column in rows else ():
            yield format(value, form), part


def formed(said: str, form: str) -> tuple[str, str]:
    """A column and its format, or the usual one."""
    match = FORM.search(said)
    return (said[: match.start()], match[1]) if match else (said, form)
