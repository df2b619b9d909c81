"""How far weights are from those of exact softmax, as columns of the committed rows (Eq. 17)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.papers import Place
from xcbench.store import cells

NORM = "param_norm"
WITHOUT_BIASES = "param_norm_without_biases"
REFERENCE = "table2"  # the grid with exact softmax at its optimum

Weights = Mapping[str, np.ndarray]


def measure(rows: pd.DataFrame, place: Place) -> pd.DataFrame:
    """Fill the two columns for the cells of a grid that kept their weights.

    The reference of a cell is exact softmax of its own grid, dataset and seed, where seeds draw
    the split; else that of `REFERENCE`.

    Parameters
    ----------
    rows : all rows so far.
    place : the grid to fill, and where cells are.
    """
    table = rows.reindex(columns=[*rows, *(c for c in (NORM, WITHOUT_BIASES) if c not in rows)])
    table = table.astype({NORM: float, WITHOUT_BIASES: float})
    for at, row in table[table["grid"] == place.grid].iterrows():
        exact = _weights(_reference(table, row), place.runs_dir)
        weights = _weights(str(row["cell"]), place.runs_dir)
        if exact and weights:
            table.loc[at, NORM] = param_norm(exact, weights)
            table.loc[at, WITHOUT_BIASES] = param_norm(exact, weights, biases=False)
    return table


def param_norm(reference: Weights, weights: Weights, biases: bool = True) -> float:
    """Distance from exact softmax's weights, |w_SOFT - w|_1 / |w_SOFT|_1 (Titsias 2016, Eq. 17).

    Parameters
    ----------
    reference, weights : ``W`` (K, D) and, if there are biases, ``b`` (K,), as in ``weights.npz``.
    biases : whether b counts as part of w; the paper does not say.

    Raises
    ------
    ValueError
        If one has biases that count and the other has none, or their shapes differ.
    """
    parts = ["W", "b"] if biases and "b" in {*reference, *weights} else ["W"]
    apart = size = 0.0
    for part in parts:
        if any(part not in side for side in (reference, weights)):
            raise ValueError(f"one of two models has no {part}")
        w_soft, w = (np.asarray(side[part], np.float64) for side in (reference, weights))
        if w_soft.shape != w.shape:
            raise ValueError(f"{part} has the shapes {w_soft.shape} and {w.shape}")
        apart += float(np.abs(w_soft - w).sum())
        size += float(np.abs(w_soft).sum())
    return apart / size


def _reference(rows: pd.DataFrame, row: pd.Series) -> str | None:
    """Identity of the cell of exact softmax that a row is compared with."""
    exact = rows[(rows["method"] == "softmax") & (rows["dataset"] == row["dataset"])]
    same = exact[(exact["grid"] == row["grid"]) & (exact["seed"] == row["seed"])]
    reference = same if len(same) else exact[exact["grid"] == REFERENCE]
    return str(reference["cell"].iloc[0]) if len(reference) else None


def _weights(name: str | None, runs_dir: Path) -> Weights | None:
    """Weights of a cell, where it is there and kept them."""
    cell = cells.load(runs_dir, name) if name else None
    if cell is None or not (cells.folder(runs_dir, cell.cell) / cells.WEIGHTS).exists():
        return None
    return cells.weights(runs_dir, cell)
