"""What is known of the numbers that a paper prints, by the measures of its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from xcbench.papers import published, verdicts
from xcbench.papers.columns import METHOD, Column
from xcbench.papers.description import Description
from xcbench.papers.frames import Values, remark, values
from xcbench.papers.measures import Measure, Number, unmeasured
from xcbench.papers.replication import Claim, Key, Variant, absent, command

FIELDS = ("table", "dataset", "method", "metric", "value", "unit")


@dataclass(frozen=True)
class Measures:
    """All that is measured of a paper's printed numbers."""

    paper: Description

    def claims(self, results: pd.DataFrame) -> dict[Key, Claim]:
        """What is known of the printed numbers that a measure speaks of."""
        printed = published.numbers()
        printed = printed[(printed["paper"] == self.paper.name) & (printed["value"] != "NA")]
        numbers = (Number(*record) for record in printed[list(FIELDS)].itertuples(index=False))
        results = self.paper.prepared(results)
        claims = {
            number.key: self._claim(results, number, measure)
            for number in numbers
            if (measure := self._of(number))
        }
        return self.paper.more(results, claims)

    def rows(self, results: pd.DataFrame, *key: str) -> dict[str, pd.DataFrame]:
        """Rows of a number by variant; its table, dataset, method and metric as printed."""
        number = Number(*key)
        measure = self._of(number) or Measure("")
        return {variant: self._rows(results, number, measure, variant) for variant in measure.rows}

    def _of(self, number: Number) -> Measure | None:
        return next((it for it in self.paper.measures if it.speaks_of(number)), None)

    def _ours(self, number: Number, measure: Measure) -> tuple[str, str]:
        """Our dataset and method."""
        data = self.paper.datasets.get(number.dataset, "")
        method = self.paper.methods.get(number.method, "")
        return (
            data if measure.data is None else measure.data,
            method if measure.our_method is None else measure.our_method,
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
        return values(rows, str(column if unit == 1 else column / unit))

    def _command(self, number: Number, measure: Measure, variant: str) -> str:
        data, method = self._ours(number, measure)
        if measure.command:
            return measure.command.format(data=data, our_method=method, variant=variant)
        settings = [
            f" {column}={value}" for column, value in measure.where.items() if column != METHOD
        ]
        grid = measure.rows[variant].name
        return command(f"{self.paper.name}/{grid}", data, method) + "".join(settings)

    def _claim(self, results: pd.DataFrame, number: Number, measure: Measure) -> Claim:
        reason = measure.reason
        cause = reason(number) if callable(reason) else number.chosen(reason)
        last = next(
            (self._command(number, measure, name) for name in reversed(list(measure.rows))), ""
        )
        kind = number.chosen(measure.kind)
        if measure.verdict or number.metric not in measure.columns:
            return Claim((), cause, measure.verdict or unmeasured(number), last, kind)
        every, variants, why = self.rows(results, *number.key), [], ""
        for variant, rows in every.items():
            measurements = self._values(number, measure, variant, rows)
            why = why or measurements.skipped
            if measurements.values:
                note = measure.note.get(variant, "")
                text = note(number, variant, rows) if callable(note) else number.chosen(note)
                run = self._command(number, measure, variant)
                lost, tied = len(measurements.diverged), measurements.tied
                variants.append(Variant(variant, measurements.values, run, text, lost, tied))
        if variants or unmeasured(number) == verdicts.TIME:
            return Claim(variants, cause, unmeasured(number), last, kind)
        if why == verdicts.NO_DATA:
            return Claim((), absent(self._ours(number, measure)[0]), why, last, kind)
        if why == verdicts.NO_PACKAGE:
            return Claim((), "an extra that is not installed", why, last, kind)
        return Claim((), why or remark(pd.concat(every.values())), verdicts.NOT_YET, last, kind)
