"""The grids of the one-vs-each paper, and what is measured of the weights of their cells.

How far weights are from those of exact softmax (Eq. 17) becomes columns of the committed rows. The
weights of toy cells become a committed table, for figures that are made of them: ``runs/`` is not
committed. They come from the cells that kept theirs (``save_weights=true``); as long as a cell is
among the results, its rows stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.committed.results_cache import load, save
from xcbench.papers import Grid, published
from xcbench.papers import columns as c
from xcbench.papers.columns import Column
from xcbench.papers.rows import Values, values
from xcbench.store import cells

NORM = "param_norm"
WITHOUT_BIASES = "param_norm_without_biases"
REFERENCE = "table2"  # the grid with exact softmax at its optimum

Weights = Mapping[str, np.ndarray]


def measure_norms(rows: pd.DataFrame, grid: str, runs_dir: Path, folder: Path) -> pd.DataFrame:
    """Fill the two columns for the cells of a grid that kept their weights.

    The reference of a cell is exact softmax of its own grid, dataset and seed, where seeds draw
    the split; else that of `REFERENCE`.

    Parameters
    ----------
    rows : all rows so far.
    grid : the grid to fill.
    runs_dir : where cells are.
    """
    table = rows.reindex(columns=[*rows, *(c for c in (NORM, WITHOUT_BIASES) if c not in rows)])
    table = table.astype({NORM: float, WITHOUT_BIASES: float})
    for at, row in table[table["grid"] == grid].iterrows():
        exact = _kept_weights(_reference(table, row), runs_dir)
        weights = _kept_weights(str(row["cell"]), runs_dir)
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
    distance = size = 0.0
    for part in parts:
        if any(part not in side for side in (reference, weights)):
            raise ValueError(f"one of two models has no {part}")
        w_soft, w = (np.asarray(side[part], np.float64) for side in (reference, weights))
        if w_soft.shape != w.shape:
            raise ValueError(f"{part} has the shapes {w_soft.shape} and {w.shape}")
        distance += float(np.abs(w_soft - w).sum())
        size += float(np.abs(w_soft).sum())
    return distance / size


def _reference(rows: pd.DataFrame, row: pd.Series) -> str | None:
    """Identity of the cell of exact softmax that a row is compared with."""
    exact = rows[(rows["method"] == "softmax") & (rows["dataset"] == row["dataset"])]
    same = exact[(exact["grid"] == row["grid"]) & (exact["seed"] == row["seed"])]
    reference = same if len(same) else exact[exact["grid"] == REFERENCE]
    return str(reference["cell"].iloc[0]) if len(reference) else None


def _kept_weights(name: str | None, runs_dir: Path) -> Weights | None:
    """Weights of a cell, where it is there and kept them."""
    cell = cells.load(runs_dir, name) if name else None
    if cell is None or not (cells.folder(runs_dir, cell.cell) / cells.WEIGHTS).exists():
        return None
    return cells.weights(runs_dir, cell)


BIAS = -1  # in the column ``feature``
WEIGHT_COLUMNS = ["cell", "class", "feature", "value"]
TOY_WEIGHTS = "toy-weights.csv"


def keep_toy_weights(rows: pd.DataFrame, grid: str, runs_dir: Path, folder: Path) -> pd.DataFrame:
    """Keep the weights that the figures need; the rows stay as they are."""
    collect_weights(cells_with_weights(rows), runs_dir, folder / TOY_WEIGHTS)
    return rows


def cells_with_weights(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of the results whose weights the figures need: of Figure 2, the first seed alone."""
    done = results[results["status"] == "done"]
    large = done[done["grid"] == "figure2"]
    first = large[large["seed"] == large["seed"].min()]
    return pd.concat([done[done["grid"].isin(["figure1a", "figure1b"])], first])


def collect_weights(results: pd.DataFrame, runs_dir: Path, path: Path) -> pd.DataFrame:
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
    previous = read_weights(path)
    parts = [
        weight_rows(name, **weights) if weights else previous[previous["cell"] == name]
        for name in dict.fromkeys(results["cell"])
        for weights in [_kept_weights(name, runs_dir)]
    ]
    table = pd.concat([previous[:0], *parts], ignore_index=True)
    save(table, path, digits=7)
    return table


def weight_rows(cell: str, W: np.ndarray, b: np.ndarray | None = None) -> pd.DataFrame:
    """Weights W (K, D) and b (K,) as rows of the table."""
    weights = pd.DataFrame(W, dtype=np.float64)
    if b is not None:
        weights[BIAS] = b.astype(np.float64)
    stacked = weights.rename_axis(index="class", columns="feature").stack()
    by_class = pd.Series(stacked, name="value").reset_index()
    return by_class.assign(cell=cell)[WEIGHT_COLUMNS]


def weight_matrix(table: pd.DataFrame, cell: str) -> np.ndarray | None:
    """Weights (K, D) of a cell, its biases as a last column; None where none were kept."""
    cell_rows = table[table["cell"] == cell]
    if cell_rows.empty:
        return None
    weights = cell_rows.pivot(index="class", columns="feature", values="value").sort_index()
    order = sorted(weights.columns, key=lambda feature: (feature == BIAS, feature))
    return weights[order].to_numpy()


def read_weights(path: Path) -> pd.DataFrame:
    """The table, empty where there is none."""
    return load(path, WEIGHT_COLUMNS)


FIGURE1A = Grid("figure1a", measure=keep_toy_weights)
FIGURE1B = Grid("figure1b", measure=keep_toy_weights)
FIGURE1C = Grid("figure1c")
FIGURE2 = Grid("figure2", measure=keep_toy_weights)
TABLE2 = Grid("table2", measure=measure_norms)
TABLE2_BIBTEX_SPLITS = Grid("table2_bibtex_splits", measure=measure_norms)
TABLE2_EARLY = Grid("table2_early", measure=measure_norms)
TABLE2_ASCENT = Grid("table2_ascent", measure=measure_norms)
GROUPED = Grid("grouped", measure=measure_norms)
FIGURE3 = Grid("figure3", measure=measure_norms)
FIGURE3_ASCENT = Grid("figure3_ascent", also=["figure3_ascent_softmax", "figure3_rolling"])
FIGURE3D = Grid("figure3d")

GRIDS = [
    FIGURE1A,
    FIGURE1B,
    FIGURE1C,
    FIGURE2,
    TABLE2,
    TABLE2_BIBTEX_SPLITS,
    TABLE2_EARLY,
    TABLE2_ASCENT,
    GROUPED,
    FIGURE3,
    FIGURE3_ASCENT,
    FIGURE3D,
]


DATASETS = {"MNIST": "mnist", "20NEWS": "20news", "BIBTEX": "bibtex", "AMAZONCAT-13K": "amazoncat"}
METHODS = {"SOFT": "softmax", "BOUCHARD": "bouchard", "OVE": "ove", "OVE-SGD": "ove"}
SMALL = ("MNIST", "20NEWS", "BIBTEX")  # of Table 2
SGD = "OVE-SGD"
MEASURED = {"param_norm": NORM, "test_error": "test_error", "test_nlpd": "test_log_loss"}
OBJECTIVE = c.TRAIN_ROWS * (c.BOUND - c.L2_TERM)  # of the whole sum, less lambda/2 ||w||²

printed = partial(published.number, "ove", "Table 2")  # by dataset, method, metric


def measured(results: pd.DataFrame, dataset: str, method: str, column: Column | str) -> Values:
    """Measurements of a method of Table 2 on a dataset, both as printed."""
    grid = FIGURE3 if method == SGD else TABLE2
    return values(grid(DATASETS[dataset], METHODS[method]).all_of(results), column)
