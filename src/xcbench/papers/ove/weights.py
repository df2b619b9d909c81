"""Final weights of small cells as a committed table, for figures that are made of them.

Weights are no part of a curve and ``runs/`` is not committed. The table is written from the cells
that kept theirs (``save_weights=true``); as long as a cell is among the results, its rows stay.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.committed.results_cache import load, save
from xcbench.papers import Place
from xcbench.store import cells

BIAS = -1  # in the column ``feature``
COLUMNS = ["cell", "class", "feature", "value"]
FILE = "toy-weights.csv"


def measure(rows: pd.DataFrame, place: Place) -> pd.DataFrame:
    """Keep the weights that the figures need; the rows stay as they are."""
    collect(weighed(rows), place.runs_dir, place.folder / FILE)
    return rows


def weighed(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of the results whose weights the figures need: of Figure 2, the first seed alone."""
    done = results[results["status"] == "done"]
    large = done[done["grid"] == "figure2"]
    first = large[large["seed"] == large["seed"].min()]
    return pd.concat([done[done["grid"].isin(["figure1a", "figure1b"])], first])


def collect(results: pd.DataFrame, runs_dir: Path, path: Path) -> pd.DataFrame:
    """Write the weights of cells, and return them.

    Parameters
    ----------
    results : rows of the cells that are wanted.
    runs_dir : where cells are looked for; of those that are not there the table keeps its rows.
    path : the table.

    Returns
    -------
    DataFrame
        One row a weight: ``cell``, ``class``, ``feature`` (`BIAS` for b), ``value``. A cell that
        kept no weights has no rows.

    Raises
    ------
    UserError
        If the table cannot be read or written.
    """
    previous = read(path)
    parts = [previous[:0]]
    for name in dict.fromkeys(results["cell"]):
        cell = cells.load(runs_dir, name)
        saved = cell is not None and (cells.folder(runs_dir, name) / cells.WEIGHTS).exists()
        if cell is not None and saved:
            parts.append(rows(name, **cells.weights(runs_dir, cell)))
        else:
            parts.append(previous[previous["cell"] == name])
    table = pd.concat(parts, ignore_index=True)
    save(table, path, digits=7)
    return table


def rows(cell: str, W: np.ndarray, b: np.ndarray | None = None) -> pd.DataFrame:
    """Weights W (K, D) and b (K,) as rows of the table."""
    whole = W if b is None else np.column_stack([W, b])
    K, width = whole.shape
    feature = np.arange(width)
    if b is not None:
        feature[-1] = BIAS
    return pd.DataFrame(
        {
            "cell": cell,
            "class": np.repeat(np.arange(K), width),
            "feature": np.tile(feature, K),
            "value": whole.ravel().astype(np.float64),
        }
    )


def matrix(table: pd.DataFrame, cell: str) -> np.ndarray | None:
    """Weights (K, D) of a cell, its biases as a last column; None where none were kept."""
    cell_rows = table[table["cell"] == cell]
    if cell_rows.empty:
        return None
    whole = cell_rows.pivot(index="class", columns="feature", values="value").sort_index()
    order = sorted(whole.columns, key=lambda feature: (feature == BIAS, feature))
    return whole[order].to_numpy()


def read(path: Path) -> pd.DataFrame:
    """The table, empty where there is none."""
    return load(path, COLUMNS)
