"""How far weights are from those of exact softmax, as columns of the committed rows (Eq. 17)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.core.metrics import param_norm
from xcbench.papers import Place
from xcbench.run import cells

NORM = "param_norm"
WITHOUT_BIASES = "param_norm_without_biases"
REFERENCE = "table2"  # the grid with exact softmax at its optimum

Weights = dict[str, np.ndarray]


def measure(rows: pd.DataFrame, place: Place) -> pd.DataFrame:
    """Fill the two columns for the cells of a grid that kept their weights.

    The reference of a cell is exact softmax of its own grid, dataset and seed, where seeds draw
    the split; else that of `REFERENCE`.

    Parameters
    ----------
    rows : all rows so far.
    place : the grid to fill, and where cells are.
    """
    made = rows.reindex(columns=[*rows, *(c for c in (NORM, WITHOUT_BIASES) if c not in rows)])
    made = made.astype({NORM: float, WITHOUT_BIASES: float})
    for at, row in made[made["grid"] == place.grid].iterrows():
        exact = _weights(_reference(made, row), place.runs_dir)
        own = _weights(str(row["cell"]), place.runs_dir)
        if exact and own:
            made.loc[at, NORM] = param_norm(exact, own)
            made.loc[at, WITHOUT_BIASES] = param_norm(exact, own, biases=False)
    return made


def _reference(rows: pd.DataFrame, row: pd.Series) -> str | None:
    """Identity of the cell of exact softmax that a row is compared with."""
    exact = rows[(rows["method"] == "softmax") & (rows["dataset"] == row["dataset"])]
    same = exact[(exact["grid"] == row["grid"]) & (exact["seed"] == row["seed"])]
    found = same if len(same) else exact[exact["grid"] == REFERENCE]
    return str(found["cell"].iloc[0]) if len(found) else None


def _weights(name: str | None, runs_dir: Path) -> Weights | None:
    """Weights of a cell, where it is there and kept them."""
    cell = cells.load(runs_dir, name) if name else None
    if cell is None or not (cells.folder(runs_dir, cell.cell) / cells.WEIGHTS).exists():
        return None
    return cells.weights(runs_dir, cell)
