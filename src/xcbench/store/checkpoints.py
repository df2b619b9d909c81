"""The checkpoint that stands for a cell: its last one, or the best one on validation rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from xcbench.errors import UserError
from xcbench.store.cell import ENDED, Cell
from xcbench.store.ordering import place_of_best

LAST, BEST = "last", "best"
COLUMN = "checkpoint"  # of the frame: which checkpoint a row is
NONE = "none"  # of a cell without a curve
VALIDATION = ("validation_log_loss", "validation_error")
# Without `evaluation.validation` there are no rows to choose by but those of training.
CHOOSING = (*VALIDATION, "train_log_loss", "train_error")


class Checkpoint(NamedTuple):
    """A checkpoint: its row in the curve, and the column that chose it, if one did."""

    place: int
    by: str = ""


def check(name: str) -> str:
    """The name of a rule.

    Raises
    ------
    UserError
        If there is no such rule.
    """
    if name not in (LAST, BEST):
        raise UserError(f"checkpoint={name} is not possible: it must be {BEST} or {LAST}")
    return name


def best(curve: pd.DataFrame, columns: Sequence[str] = CHOOSING) -> Checkpoint | None:
    """The first of the best checkpoints by the first of these columns that has a value."""
    for column in columns:
        if column in curve and (place := place_of_best(curve[column], column)) is not None:
            return Checkpoint(place, column)
    return None


def of(cell: Cell, rule: str) -> Checkpoint:
    """The checkpoint that stands for a cell.

    With the rule `BEST`, or patience, it is the best one by validation, if the cell ended and has
    validation rows; else it is the last one. With patience, the one before training does not count.
    """
    curve, patience = cell.curve, cell.config.get("budget", {}).get("patience")
    if patience:
        curve = curve.where(curve["epoch"] > 0)
    by_validation = rule == BEST or patience
    chosen = best(curve, VALIDATION) if by_validation and cell.status in ENDED else None
    return chosen or Checkpoint(max(0, len(cell.curve) - 1))


def marked(rows: pd.DataFrame, cells: Iterable[Cell], rule: str) -> pd.DataFrame:
    """Rows of cells with `COLUMN`: ``last``, or ``best`` with the column that chose it.

    Of a frame of curves only the checkpoint that stands for a cell has a mark.
    """
    chosen = {cell.cell: (of(cell, rule), len(cell.curve)) for cell in cells}
    curves = rows["cell"].duplicated().any()
    place = rows.groupby("cell").cumcount()
    marks = [
        _mark(*chosen[cell]) if not curves or at == chosen[cell][0].place else ""
        for cell, at in zip(rows["cell"], place, strict=True)
    ]
    return rows.assign(**{COLUMN: pd.Series(marks, rows.index, dtype=object)})


def _mark(chosen: Checkpoint, length: int) -> str:
    if not length:
        return NONE
    return f"{BEST} {chosen.by}" if chosen.by else LAST
