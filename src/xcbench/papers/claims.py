"""Claims as data: of a printed table, which columns of which rows measure its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from xcbench.papers import published, replication, verdicts
from xcbench.papers.frames import Values, part, remark, values
from xcbench.papers.replication import Claim, Key, Reading, absent


@dataclass(frozen=True)
class Number:
    """A number as it is printed."""

    table: str
    dataset: str
    method: str
    metric: str
    value: str
    unit: str

    @property
    def key(self) -> Key:
        """What tells it from the others of its paper."""
        return self.table, self.dataset, self.method, self.metric


@dataclass(frozen=True)
class Source:
    """Rows that measure a number, in our names, and the command that measures them.

    Attributes
    ----------
    where : what else the rows have, and the command does not say.
    command : empty: the grid by itself, with dataset and method.
    """

    grid: str
    dataset: str = ""
    method: str = ""
    where: Mapping[str, object] | None = None
    command: str = ""

    def rows(self, results: pd.DataFrame) -> pd.DataFrame:
        """Its rows among those of all grids."""
        named = {"dataset": self.dataset, "method": self.method}
        wanted = {name: value for name, value in named.items() if value}
        return part(results, self.grid, **wanted, **(self.where or {}))

    def launch(self, paper: str) -> str:
        """The command."""
        name = f"{paper}/{self.grid}"
        return self.command or replication.command(name, self.dataset, self.method)


FIELDS = ("table", "dataset", "method", "metric", "value", "unit")
Measure = Callable[[Number, str, pd.DataFrame], Values]  # of a number, its variant and their rows


@dataclass(frozen=True)
class Rule:
    """How the numbers of a printed table are measured.

    Attributes
    ----------
    sources : of a number, by variant, that of the text first; none: no package measures it.
    columns : by metric: a column, an expression of columns, or what measures it; or a verdict of
        numbers that are no results. What is left out and is no setting has no claim.
    reason : why a number deviates, or is no result.
    note : what should be known of the measurement under a variant.
    rows : which rows of a source count.
    """

    sources: Callable[[Number], Mapping[str, Source]]
    columns: Mapping[str, str | Measure]
    reason: Callable[[Number], str] = lambda it: ""
    note: Callable[[Number, str, pd.DataFrame], str] = lambda it, variant, rows: ""
    rows: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows


def once(columns: Mapping[str, str]) -> dict[str, Measure]:
    """Columns of what is the same in all rows, which count as one."""

    def of(column: str) -> Measure:
        return lambda it, variant, rows: values(rows.head(1), column)

    return {metric: of(column) for metric, column in columns.items()}


def build(paper: str, results: pd.DataFrame, rules: Mapping[str, Rule]) -> dict[Key, Claim]:
    """Claims of a paper's printed numbers, by rules of its tables."""
    printed = published.numbers()
    printed = printed[(printed["paper"] == paper) & (printed["value"] != "NA")]
    printed = printed[printed["table"].isin(list(rules))]
    numbers = [Number(*record) for record in printed[list(FIELDS)].itertuples(index=False)]
    claims = {it.key: claim(paper, results, it, rules[it.table]) for it in numbers}
    return {key: made for key, made in claims.items() if made}


def claim(paper: str, results: pd.DataFrame, it: Number, rule: Rule) -> Claim | None:
    """Claim of a printed number by the rule of its table."""
    unmeasured = verdicts.without_run(it.metric, it.value)
    column = rule.columns.get(it.metric, unmeasured)
    if column == verdicts.NOT_YET:
        return None
    sources = rule.sources(it)
    last = next(reversed([source.launch(paper) for source in sources.values()]), "")
    if not sources and column != verdicts.SETTING:
        return Claim((), rule.reason(it), verdicts.NO_PACKAGE)
    if column in verdicts.ALL:
        return Claim((), rule.reason(it), str(column), last)
    every = {variant: source.rows(results) for variant, source in sources.items()}
    readings, why = [], ""
    for variant, rows in every.items():
        own = rule.rows(rows)
        found = values(own, column) if isinstance(column, str) else column(it, variant, own)
        why = why or found.skipped
        if found.values:
            note = rule.note(it, variant, own)
            readings.append(Reading(variant, found.values, sources[variant].launch(paper), note))
    if readings or unmeasured == verdicts.TIME:
        return Claim(readings, rule.reason(it), unmeasured, last)
    if why == verdicts.NO_DATA:
        return Claim((), absent(sources[variant].dataset), why, last)
    if why == verdicts.NO_PACKAGE:
        return Claim((), "an extra that is not installed", why, last)
    return Claim((), why or remark(pd.concat(every.values())), verdicts.NOT_YET, last)
