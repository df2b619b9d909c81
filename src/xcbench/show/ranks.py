"""Average ranks, critical difference, performance profiles and Pareto fronts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from xcbench.core.metrics import of_column

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ranks:
    """Ranks of methods over tasks.

    Attributes
    ----------
    average : average rank by method, the best first; a method without a number ranks last on that
        task.
    difference : Nemenyi's critical difference (95 %).
    p : p-value of Friedman's test that all methods are equal.
    """

    average: pd.Series
    difference: float
    p: float
    tasks: int


def ranks(values: pd.DataFrame, column: str) -> Ranks | None:
    """Rank a table of tasks × methods by values of a column; None for fewer than two tasks."""
    values = values.dropna(how="all").dropna(how="all", axis="columns")
    n, k = values.shape
    if n < 2 or k < 3:
        return None
    placed = of_column(column).key(values).rank(axis="columns", na_option="bottom")
    quantile = stats.studentized_range.ppf(CONFIDENCE, k, np.inf) / np.sqrt(2)
    p = float(stats.friedmanchisquare(*placed.to_numpy().T).pvalue)
    difference = float(quantile * np.sqrt(k * (k + 1) / (6 * n)))
    return Ranks(placed.mean().sort_values(kind="stable"), difference, p, n)


def cliques(table: Ranks) -> list[tuple[int, int]]:
    """Maximal groups of methods that do not differ, as first and last place."""
    average = table.average.to_numpy()
    ends = [
        int(np.searchsorted(average, value + table.difference, side="right")) - 1
        for value in average
    ]
    return [
        (first, last)
        for first, last in enumerate(ends)
        if last > first and (first == 0 or ends[first - 1] < last)
    ]


def profile(values: pd.DataFrame, ratios: np.ndarray) -> pd.DataFrame:
    """Share of tasks on which a method is within a ratio of the lowest loss."""
    values = values.dropna(how="all", axis="columns")
    relative = values.div(values.min(axis="columns"), axis="index")
    return pd.DataFrame({ratio: (relative <= ratio).mean() for ratio in ratios}).T


def front(entries: pd.DataFrame, cost: str, quality: str) -> pd.Index:
    """Pareto front: entries for which no other has a better quality at the same cost or less."""
    columns = {name: of_column(name).key(entries[name]) for name in (cost, quality)}
    keys = pd.DataFrame(columns).dropna().astype(float).sort_values([cost, quality], kind="stable")
    best = keys[quality].cummin().shift(fill_value=np.inf)
    return keys.index[keys[quality] < best]
