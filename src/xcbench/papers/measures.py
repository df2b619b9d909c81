"""Which columns of which rows measure the numbers that a paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pandas as pd

from xcbench.papers import verdicts
from xcbench.papers.columns import Column
from xcbench.papers.frames import Values
from xcbench.papers.replication import Key
from xcbench.papers.rows import Conditions

if TYPE_CHECKING:
    from xcbench.papers import Grid


@dataclass(frozen=True)
class Number:
    """A number as it is printed."""

    table: str
    dataset: str
    method: str
    metric: str
    value: str = ""
    unit: str = ""

    @property
    def key(self) -> Key:
        """What tells it from the others of its paper."""
        return self.table, self.dataset, self.method, self.metric

    def chosen(self, texts: str | Mapping[str, str]) -> str:
        """The first of some texts that is meant for it, or the only one."""
        if isinstance(texts, str):
            return texts
        words = {self.dataset, self.method, self.metric}
        words |= {f"{self.dataset} {name}" for name in (self.method, self.metric)}
        return next((text for word, text in texts.items() if word in words), "")


Texts = str | Mapping[str, str]  # one, or by dataset, method, metric, or dataset and one of them
Measurement = Callable[[Number, str, pd.DataFrame], Values]  # of a variant's rows
Note = Callable[[Number, str, pd.DataFrame], str]
Columns = Mapping[str, Column | Measurement | Mapping[str, Column]]


@dataclass(frozen=True)
class Measure:
    """How some printed numbers are measured; the first of a list that speaks of one counts.

    Attributes
    ----------
    table, dataset, method, metric : patterns of what it speaks of, else of all.
    rows : by variant, the grid that measures it.
    data, our_method : our dataset and method, where the printed names do not tell.
    where : what else the rows have; settings are in the command too.
    columns : by metric (and variant), the column, or a function.
    once : one row counts, as all are the same.
    in_time : cells that were over their time do not count.
    units : what a printed unit is in ours.
    kind : what a number is, where name and unit do not tell: ``definition``, ``fitted`` (a setting
        was chosen to hit it).
    verdict : of numbers that are no results; settings and times without a column are none anyway.
    reason : why they deviate.
    note : by variant, what should be known of the measurement.
    command : instead of the grid's; ``{data}``, ``{our_method}`` and ``{variant}`` are filled in.
    """

    table: str
    rows: Mapping[str, Grid] = field(default_factory=dict)
    dataset: str | Sequence[str] = "*"
    method: str | Sequence[str] = "*"
    metric: str | Sequence[str] = "*"
    data: str | None = None
    our_method: str | None = None
    where: Conditions = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    once: bool = False
    in_time: bool = False
    units: Mapping[str, float] = field(default_factory=dict)
    kind: Texts = ""
    verdict: str = ""
    reason: Texts | Callable[[Number], str] = ""
    note: Mapping[str, Texts | Note] = field(default_factory=dict)
    command: str = ""

    def speaks_of(self, number: Number) -> bool:
        """Whether it says how a number is measured, or that it is none to measure."""
        fits = (
            any(fnmatchcase(printed, pattern) for pattern in _list(patterns))
            for printed, patterns in (
                (number.table, self.table),
                (number.dataset, self.dataset),
                (number.method, self.method),
                (number.metric, self.metric),
            )
        )
        return all(fits) and bool(
            number.metric in self.columns or self.verdict or unmeasured(number)
        )


def unmeasured(number: Number) -> str:
    """What a number is that is no result: a setting, or a time; else empty."""
    verdict = verdicts.without_run(verdicts.kind(number.metric, number.unit), number.value)
    return verdict if verdict in (verdicts.SETTING, verdicts.TIME) else ""


def _list(patterns: str | Sequence[str]) -> Sequence[str]:
    return [patterns] if isinstance(patterns, str) else patterns
