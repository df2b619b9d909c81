"""Rows of the committed tables: of a grid, a dataset, a method, and settings.

With ``best`` the first half of the seeds chooses a rate by the training log loss. The rows are
those of the other half: on the seeds that chose it, a minimum over rates would be too low.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from xcbench.errors import UserError
from xcbench.papers.columns import TRAIN_LOG_LOSS, Column
from xcbench.show.summary import ENDED, at_best_rate

BEST = "best"
RATIO = "ratio"
Conditions = Mapping[Column, object]


def having(rows: pd.DataFrame, wanted: Mapping[str, object] | Conditions) -> pd.DataFrame:
    """Rows with these values, or any of a list of values."""
    kept = np.arange(len(rows))
    for name, value in wanted.items():
        column = rows.get(str(name))
        values = value if isinstance(value, list) else [value]
        kept = kept[column.iloc[kept].isin(values)] if column is not None else kept[:0]
    return rows.iloc[kept]


def ended(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the cells that ended."""
    return rows[rows["status"].isin(ENDED)]


def without_twins(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of real data: numbers of a synthetic stand-in have no place beside printed ones."""
    return results[~results["dataset"].astype(str).str.endswith("-twin")]


def compact(table: pd.DataFrame) -> pd.DataFrame:
    """The same table in a few blocks, words as Python's own: rows are taken five times as fast."""
    words: list[str] = [*table.select_dtypes("str")]
    return table.astype(dict.fromkeys(words, object)).copy()


@dataclass(frozen=True)
class Rows:
    """Which rows; what is empty is not asked for.

    Attributes
    ----------
    where : values of columns, numbers or words.
    """

    grid: str
    dataset: str = ""
    method: str = ""
    where: Conditions = field(default_factory=dict)
    best: bool = False

    def on(self, dataset: str) -> Rows:
        """The same of a dataset, where none is named."""
        return replace(self, dataset=self.dataset or dataset)

    def __str__(self) -> str:
        return " ".join([self.grid, self.dataset, self.label]).strip()

    @property
    def label(self) -> str:
        """Method and settings in words."""
        settings = [f"{column}={value}" for column, value in self.where.items()]
        return " ".join(filter(None, [self.method, *settings, BEST if self.best else ""]))

    def all_of(self, results: pd.DataFrame) -> pd.DataFrame:
        """Rows that ran."""
        named = {"grid": self.grid, "dataset": self.dataset, "method": self.method}
        selected = having(results, {name: value for name, value in named.items() if value})
        selected = having(selected, self.where)
        if self.best and len(ended(selected)):
            selected = _at_best(selected)
        return selected[selected["status"] != "skipped"]

    def of(self, results: pd.DataFrame) -> pd.DataFrame:
        """Rows that ended."""
        return ended(self.all_of(results))

    def numbers(self, results: pd.DataFrame, column: Column) -> pd.Series:
        """A column by seed, of the rows that ended.

        Raises
        ------
        UserError
            If two rows have the same seed, as where a setting is not named.
        """
        selected = self.of(results)
        by_seed = column.of(selected).groupby(selected["seed"])
        if len(selected) and (by_seed.size() > 1).any():
            raise UserError(
                f"'{self}' selects several rows per seed: name the setting in which they differ"
            )
        return by_seed.first().dropna()


def between(
    results: pd.DataFrame, one: Rows, other: Rows, column: Column, by: str = ""
) -> list[float]:
    """Differences of two sets of rows in a column, or with ``by=RATIO`` ratios, seed by seed."""
    return differences(one.numbers(results, column), other.numbers(results, column), by)


def differences(first: pd.Series, second: pd.Series, by: str = "") -> list[float]:
    """Differences of two columns by seed, or with ``by=RATIO`` ratios, of the common seeds.

    What was run once, as no random number is in it, stands beside every seed.
    """
    if len(second) == 1 and len(first) > 1:
        second = pd.Series(second.iloc[0], first.index)
    if len(first) == 1 and len(second) > 1:
        first = pd.Series(first.iloc[0], second.index)
    common = first.index.intersection(second.index)
    first, second = first.loc[common], second.loc[common]
    return [float(value) for value in (first / second if by == RATIO else first - second)]


def _at_best(selected: pd.DataFrame) -> pd.DataFrame:
    """Rows at the rate that is best on the first half of the seeds, of the other half."""
    seeds = sorted(selected["seed"].unique())
    half = seeds[: len(seeds) // 2]
    if not half:
        return selected[:0]
    chosen = at_best_rate(selected[selected["seed"].isin(half)], str(TRAIN_LOG_LOSS))["lr"]
    return selected[selected["lr"].isin(chosen) & ~selected["seed"].isin(half)]
