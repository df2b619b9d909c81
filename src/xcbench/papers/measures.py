"""Which columns of which rows measure the numbers that a paper prints, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import pandas as pd

from xcbench.papers import Grid, published, verdicts
from xcbench.papers.columns import METHOD, Column
from xcbench.papers.replication import Evidence, Key, Variant, absent, command
from xcbench.papers.rows import Conditions, Values, remark, values


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


FIELDS = ("table", "dataset", "method", "metric", "value", "unit")
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
            any(
                fnmatchcase(printed, pattern)
                for pattern in ([patterns] if isinstance(patterns, str) else patterns)
            )
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


@dataclass(frozen=True)
class Measures:
    """All that is measured of the printed numbers of a paper of a name.

    Attributes
    ----------
    datasets, methods : our names by the printed ones.
    measures : the first that speaks of a number counts.
    """

    name: str
    datasets: Mapping[str, str]
    methods: Mapping[str, str]
    measures: Sequence[Measure]

    def evidence(self, results: pd.DataFrame) -> dict[Key, Evidence]:
        """What is known of the printed numbers that a measure speaks of."""
        printed = published.of(self.name).query("value != 'NA'")
        numbers = (Number(*record) for record in printed[list(FIELDS)].itertuples(index=False))
        return {
            number.key: self._evidence(results, number, measure)
            for number in numbers
            if (measure := self._of(number))
        }

    def rows_of(self, results: pd.DataFrame, *key: str) -> dict[str, pd.DataFrame]:
        """Rows of a number by variant; its table, dataset, method and metric as printed."""
        number = Number(*key)
        measure = self._of(number) or Measure("")
        return {variant: self._rows(results, number, measure, variant) for variant in measure.rows}

    def _of(self, number: Number) -> Measure | None:
        return next((it for it in self.measures if it.speaks_of(number)), None)

    def _ours(self, number: Number, measure: Measure) -> tuple[str, str]:
        """Our dataset and method."""
        data, method = measure.data, measure.our_method
        return (
            self.datasets.get(number.dataset, "") if data is None else data,
            self.methods.get(number.method, "") if method is None else method,
        )

    def _rows(
        self, results: pd.DataFrame, number: Number, measure: Measure, variant: str
    ) -> pd.DataFrame:
        named = zip(("dataset", "method"), self._ours(number, measure), strict=True)
        conditions: dict[str, object] = {name: value for name, value in named if value}
        conditions |= {str(column): value for column, value in measure.where.items()}
        return measure.rows[variant].rows(results, **conditions)

    def _values(self, number: Number, measure: Measure, variant: str, rows: pd.DataFrame) -> Values:
        column = measure.columns[number.metric]
        column = column[variant] if isinstance(column, Mapping) else column
        rows = rows[rows["status"] != "timeout"] if measure.in_time else rows
        rows = rows.head(1) if measure.once else rows
        if not isinstance(column, Column):
            return column(number, variant, rows)
        unit = next(
            (
                divisor
                for name, divisor in measure.units.items()
                if number.unit.split()[:1] == [name]
            ),
            1,
        )
        return values(rows, column if unit == 1 else column / unit)

    def _command(self, number: Number, measure: Measure, variant: str) -> str:
        data, method = self._ours(number, measure)
        if measure.command:
            return measure.command.format(data=data, our_method=method, variant=variant)
        settings = [
            f" {column}={value}" for column, value in measure.where.items() if column != METHOD
        ]
        grid = measure.rows[variant].name
        return command(f"{self.name}/{grid}", data, method) + "".join(settings)

    def _evidence(self, results: pd.DataFrame, number: Number, measure: Measure) -> Evidence:
        reason = measure.reason
        cause = reason(number) if callable(reason) else number.chosen(reason)
        last = next(
            (self._command(number, measure, name) for name in reversed(list(measure.rows))), ""
        )
        kind = number.chosen(measure.kind)
        if measure.verdict or number.metric not in measure.columns:
            return Evidence((), cause, measure.verdict or unmeasured(number), last, kind)
        every, variants, why = self.rows_of(results, *number.key), [], ""
        for variant, rows in every.items():
            measurements = self._values(number, measure, variant, rows)
            why = why or measurements.skipped
            if measurements.values:
                note = measure.note.get(variant, "")
                text = note(number, variant, rows) if callable(note) else number.chosen(note)
                run = self._command(number, measure, variant)
                variants.append(Variant(variant, measurements, run, text))
        if variants or unmeasured(number) == verdicts.TIME:
            return Evidence(variants, cause, unmeasured(number), last, kind)
        lacking = {
            verdicts.NO_DATA: absent(self._ours(number, measure)[0]),
            verdicts.NO_PACKAGE: "an extra that is not installed",
        }
        if why in lacking:
            return Evidence((), lacking[why], why, last, kind)
        return Evidence((), why or remark(pd.concat(every.values())), verdicts.NOT_YET, last, kind)
