"""Claims as data: which columns of which rows measure the numbers that a paper prints.

A paper's ``paper.yaml`` has its ``datasets`` and ``methods``, ours by printed name, and ``claims``:
entries, of which the first that speaks of a number counts.

- ``table``, ``dataset``, ``method``, ``metric``: patterns of what it speaks of, else of all.
- ``rows``: by variant, the grid that measures it.
- ``data``, ``own``: our dataset and method, where the printed names do not tell. ``where``: what
  else the rows have; settings, with a dot in their names, are in the command too.
- ``columns``: by metric (and variant): a column, or an expression of columns. ``once``: one row
  counts, as all are the same. ``in_time``: cells that were over their time do not count.
  ``units``: what a printed unit is in ours.
- ``kind``: what a number is, where name and unit do not tell: ``definition``, ``fitted`` (a setting
  was chosen to hit it).
- ``verdict``: of numbers that are no results; settings and times without a column are none anyway.
- ``reason``: why they deviate; ``note``, by variant: what should be known of the measurement.
  These and ``kind`` may be told by dataset, method, metric, or dataset and one of the others: the
  first that fits.
- ``command``: instead of the grid's own.

Where a value is code, it is a function of the paper's, named with its file:
``columns.chosen()``. Of a whole paper, ``prepared`` is one that adds columns to the rows, ``more``
one that adds claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from xcbench.errors import UserError
from xcbench.papers import published, verdicts
from xcbench.papers.frames import Values, part, remark, values
from xcbench.papers.replication import Claim, Key, Variant, absent, command

FIELDS = ("table", "dataset", "method", "metric", "value", "unit")


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

    def told(self, said: str | Mapping[str, str]) -> str:
        """The first of some texts that is meant for it, or the only one."""
        if isinstance(said, str):
            return said
        words = {self.dataset, self.method, self.metric}
        words |= {f"{self.dataset} {name}" for name in (self.method, self.metric)}
        return next((text for word, text in said.items() if word in words), "")


@dataclass(frozen=True)
class Entry:
    """An entry below ``claims``, as the head of this file has it."""

    table: str
    rows: Mapping[str, str] = field(default_factory=dict)
    dataset: str | Sequence[str] = "*"
    method: str | Sequence[str] = "*"
    metric: str | Sequence[str] = "*"
    data: str | None = None
    own: str | None = None
    where: Mapping[str, object] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    once: bool = False
    in_time: bool = False
    units: Mapping[str, float] = field(default_factory=dict)
    kind: str | Mapping[str, str] = ""
    verdict: str = ""
    reason: str | Mapping[str, str] = ""
    note: Mapping[str, Any] = field(default_factory=dict)
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


@dataclass(frozen=True)
class Claims:
    """A paper's names and claims.

    Attributes
    ----------
    prepared, more : functions that the paper names, see the head of this file.
    """

    paper: str
    datasets: Mapping[str, str]
    methods: Mapping[str, str]
    entries: Sequence[Entry]
    prepared: str = ""
    more: str = ""

    def build(self, results: pd.DataFrame) -> dict[Key, Claim]:
        """Claims of the printed numbers that an entry speaks of."""
        printed = published.numbers()
        printed = printed[(printed["paper"] == self.paper) & (printed["value"] != "NA")]
        numbers = (Number(*record) for record in printed[list(FIELDS)].itertuples(index=False))
        results = function(self.paper, self.prepared)(results) if self.prepared else results
        claims = {
            number.key: self._claim(results, number, entry)
            for number in numbers
            if (entry := self._of(number))
        }
        return function(self.paper, self.more)(results, claims) if self.more else claims

    def rows(self, results: pd.DataFrame, *key: str) -> dict[str, pd.DataFrame]:
        """Rows of a number by variant; its table, dataset, method and metric as printed."""
        number = Number(*key)
        entry = self._of(number) or Entry("")
        return {variant: self._rows(results, number, entry, variant) for variant in entry.rows}

    def values(self, results: pd.DataFrame, *key: str) -> dict[str, Values]:
        """Measurements of a number by variant; its table, dataset, method and metric as printed."""
        number = Number(*key)
        entry = self._of(number) or Entry("")
        every = self.rows(results, *key).items()
        return {variant: self._values(number, entry, variant, rows) for variant, rows in every}

    def _of(self, number: Number) -> Entry | None:
        return next((entry for entry in self.entries if entry.speaks_of(number)), None)

    def _ours(self, number: Number, entry: Entry) -> tuple[str, str]:
        """Our dataset and method."""
        data, method = self.datasets.get(number.dataset, ""), self.methods.get(number.method, "")
        return (
            data if entry.data is None else entry.data,
            method if entry.own is None else entry.own,
        )

    def _rows(
        self, results: pd.DataFrame, number: Number, entry: Entry, variant: str
    ) -> pd.DataFrame:
        named = zip(("dataset", "method"), self._ours(number, entry), strict=True)
        conditions = {name: value for name, value in named if value} | dict(entry.where)
        return part(results, entry.rows[variant], **conditions)

    def _values(self, number: Number, entry: Entry, variant: str, rows: pd.DataFrame) -> Values:
        column = entry.columns[number.metric]
        column = column if isinstance(column, str) else column[variant]
        rows = rows[rows["status"] != "timeout"] if entry.in_time else rows
        rows = rows.head(1) if entry.once else rows
        if column.endswith("()"):
            measurements: Values = function(self.paper, column)(number, variant, rows)
            return measurements
        unit = next(
            (divisor for name, divisor in entry.units.items() if number.unit.split()[:1] == [name]),
            1,
        )
        return values(rows, column if unit == 1 else f"({column}) / {unit}")

    def _command(self, number: Number, entry: Entry, variant: str) -> str:
        data, method = self._ours(number, entry)
        if entry.command:
            return entry.command.format(data=data, own=method, variant=variant)
        settings = [f" {name}={value}" for name, value in entry.where.items() if "." in name]
        return command(f"{self.paper}/{entry.rows[variant]}", data, method) + "".join(settings)

    def _claim(self, results: pd.DataFrame, number: Number, entry: Entry) -> Claim:
        reason = _text(self.paper, number, entry.reason, number)
        last = next((self._command(number, entry, name) for name in reversed(list(entry.rows))), "")
        kind = number.told(entry.kind)
        if entry.verdict or number.metric not in entry.columns:
            return Claim((), reason, entry.verdict or unmeasured(number), last, kind)
        every, variants, why = self.rows(results, *number.key), [], ""
        for variant, rows in every.items():
            measurements = self._values(number, entry, variant, rows)
            why = why or measurements.skipped
            if measurements.values:
                note = _text(self.paper, number, entry.note.get(variant, ""), number, variant, rows)
                run = self._command(number, entry, variant)
                lost, tied = len(measurements.diverged), measurements.tied
                variants.append(Variant(variant, measurements.values, run, note, lost, tied))
        if variants or unmeasured(number) == verdicts.TIME:
            return Claim(variants, reason, unmeasured(number), last, kind)
        if why == verdicts.NO_DATA:
            return Claim((), absent(self._ours(number, entry)[0]), why, last, kind)
        if why == verdicts.NO_PACKAGE:
            return Claim((), "an extra that is not installed", why, last, kind)
        return Claim((), why or remark(pd.concat(every.values())), verdicts.NOT_YET, last, kind)


def unmeasured(number: Number) -> str:
    """What a number is that is no result: a setting, or a time; else empty."""
    verdict = verdicts.without_run(verdicts.kind(number.metric, number.unit), number.value)
    return verdict if verdict in (verdicts.SETTING, verdicts.TIME) else ""


def _list(patterns: str | Sequence[str]) -> Sequence[str]:
    return [patterns] if isinstance(patterns, str) else patterns


def _text(paper: str, number: Number, said: Any, *arguments: object) -> str:
    """A text that is told, or that a function makes."""
    if isinstance(said, str) and said.endswith("()"):
        return str(function(paper, said)(*arguments))
    return number.told(said)


def function(paper: str, name: str) -> Any:
    """A function of a paper's own files; of its ``tables``, where no file is named."""
    file, _, attribute = name.removesuffix("()").rpartition(".")
    try:
        return vars(import_module(f"xcbench.papers.{paper}.{file or 'tables'}"))[attribute]
    except (ImportError, KeyError) as error:
        text = f"papers/{paper}/paper.yaml names '{name}', which is not in {file or 'tables'}.py"
        raise UserError(text) from error


def declared(kind: Any, spec: Mapping[str, Any], paper: str, place: str) -> Any:
    """An entry of a ``paper.yaml``, as what it describes."""
    names = [field.name for field in fields(kind)]
    where = f"papers/{paper}/paper.yaml, {place}"
    if unknown := [name for name in spec if name not in names]:
        raise UserError(f"{where}: there is no '{unknown[0]}'; there are {', '.join(names)}")
    try:
        return kind(**spec)
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: {error}") from error


@cache
def described(paper: str) -> dict[str, Any]:
    """What a paper's ``paper.yaml`` says."""
    spec: Any = OmegaConf.to_container(OmegaConf.load(Path(__file__).parent / paper / "paper.yaml"))
    return {str(part): said for part, said in spec.items()}


def of(paper: str) -> Claims:
    """Names and claims of a paper."""
    spec = described(paper)
    entries = [
        declared(Entry, entry, paper, f"claim {i}") for i, entry in enumerate(spec["claims"], 1)
    ]
    code = {name: spec[name] for name in ("prepared", "more") if name in spec}
    return Claims(paper, spec["datasets"], spec["methods"], entries, **code)
