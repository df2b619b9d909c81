"""Rows as they stand at a checkpoint: the best one (early stopping), or the first."""

from __future__ import annotations

import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.store.ordering import best_of_each


def stopped(rows: pd.DataFrame, curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint at which a column is best (early stopping).

    Parameters
    ----------
    rows : one row a cell.
    curves : checkpoints, of these cells among others.
    column : such as ``validation_log_loss``; cells that lack it stay as they are.
    """
    of_column(column)  # a wrong name is no missing column
    return at(rows, best_of_each(_of(rows, curves), column, "cell")) if column in curves else rows


def at_start(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Rows as they stand at the first checkpoint."""
    return at(rows, _of(rows, curves).sort_values("epoch", kind="stable"))


def at(rows: pd.DataFrame, checkpoints: pd.DataFrame) -> pd.DataFrame:
    """Rows as they stand at the first of these checkpoints; cells without one stay as they are."""
    of_cell = checkpoints.drop_duplicates("cell").set_index("cell")
    measured = rows["cell"].isin(of_cell.index)
    values = {
        str(name): rows["cell"].map(of_cell[name]).where(measured, rows[name])
        for name in of_cell
        if name in rows
    }
    return rows.assign(**values)


def _of(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Checkpoints of the cells of some rows."""
    return curves[curves["cell"].isin(rows["cell"])]
