"""Order rows by a column in the direction of its metric: the best first, the best of a group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.core.metrics import of_column


def best_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Sort rows; equal ones keep their order, and rows without a value are last."""
    return rows.sort_values(column, key=of_column(column).key, kind="stable")


def best_of_each(rows: pd.DataFrame, column: str, by: str) -> pd.DataFrame:
    """The best row of each group, the first among equals; a group without a value has none.

    Of checkpoints by cell, this is early stopping.
    """
    valued = rows.dropna(subset=[column])
    key = of_column(column).key(valued[column])
    return valued.loc[key.groupby(valued[by], sort=False).idxmin()]


def place_of_best(values: pd.Series, column: str) -> int | None:
    """Place of the best value of a column, the first among equals; None without a value."""
    keys = np.asarray(of_column(column).key(values), dtype=float)
    return None if np.isnan(keys).all() else int(np.nanargmin(keys))


def best_value(values: pd.Series, column: str) -> float:
    """The best of the values of a column."""
    metric = of_column(column)
    return float(metric.key(metric.key(values).min()))


def near_best(values: pd.Series, column: str, share: float) -> pd.Series:
    """Whether values of a column are within this share of the best one."""
    key = of_column(column).key(values)
    return key <= key.min() + share * abs(key.min())
