"""How inexact margins are: recall of the oracles, and the (epsilon, delta) that they induce.

MEMOIR's theorems assume margins within epsilon of the true ones, with a probability of 1 - delta or
more. `xcbench.core.oracles.quality` measures both on MEMOIR-l2's weights after 1, 5 and 25 batches.
They come from synthetic rows, with and without a constant feature, and from the cells of the grid
``margins``. Their weights stay in ``runs/``, so the numbers are a committed table. Epsilon is in
units of the mean absolute score of the best rival, since the scale of weights is arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from omegaconf import OmegaConf

from xcbench import data
from xcbench.committed.results_cache import load, save
from xcbench.core import oracles
from xcbench.core.dataset import Dataset, Info
from xcbench.core.models.sparse import SparseModel, sparse_rows
from xcbench.core.oracles import Oracle
from xcbench.core.oracles.exact import Exact
from xcbench.core.oracles.graph import Graph, installed
from xcbench.core.oracles.random_class import RandomClass
from xcbench.core.oracles.simple_lsh import SimpleLSH
from xcbench.core.solvers import Streams
from xcbench.core.statistics import describe
from xcbench.data import protocol, synthetic
from xcbench.data.settings import DatasetSettings, Protocol, SyntheticSettings
from xcbench.methods import registry
from xcbench.methods.memoir import batch
from xcbench.methods.memoir_l2 import MemoirL2Options
from xcbench.methods.memoir_l2 import method as memoir_l2
from xcbench.store import cells
from xcbench.store.cell import Cell

FILE = "margins.csv"
SPEC = SyntheticSettings(train=3000, test=1000, features=1000, classes=300, nonzeros=20)
CONSTANTS = {"with": 1.0, "without": 0.0}  # the feature that is always 1
BATCHES = (1, 5, 25)
DELTAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
ROWS = 2000  # of the test part that are asked for
SEEDS = 3  # of the oracles' random numbers
ORACLES: dict[str, Callable[[np.random.Generator], Oracle]] = {
    "random class": RandomClass,
    "SimpleLSH, 64 bits": partial(SimpleLSH, 64),
    "scaled SimpleLSH, 16 bits": partial(SimpleLSH, 16, scaled=True),
    "scaled SimpleLSH, 32 bits": partial(SimpleLSH, 32, scaled=True),
    "scaled SimpleLSH, 64 bits": partial(SimpleLSH, 64, scaled=True),
}
GRAPH = "small-world graph"  # the library draws random numbers of its own: once
KEYS = ["cell", "version", "dataset", "constant", "batches", "oracle", "seed"]
COLUMNS = [*KEYS, "longest", "commonest", "recall", *(f"epsilon_at_{delta:g}" for delta in DELTAS)]


# ---------------------------------------------------------------- the table
def measure(rows: pd.DataFrame, grid: str, runs_dir: Path, folder: Path) -> pd.DataFrame:
    """Measure every oracle that the table lacks and write it; the rows stay as they are.

    Of cells whose weights are gone, the table keeps what it has.

    Parameters
    ----------
    rows : all rows so far.
    grid : the one whose cells have weights.
    runs_dir : where cells are.
    folder : where the table is.

    Raises
    ------
    UserError
        If the table cannot be read or written.
    """
    path = folder / FILE
    previous = read(path)
    cells = rows[(rows["grid"] == grid) & (rows["status"] == "done")]
    synthetic = previous[previous["cell"].isna() & (previous["version"] == memoir_l2.version)]
    parts = [_complete(synthetic, on_synthetic_rows)]
    for name in cells["cell"]:
        margins = _complete(previous[previous["cell"] == name], partial(on_cell, name, runs_dir))
        if margins.empty:
            print(
                f"no margins of cell {name}: its weights were not kept; force=true trains it again"
            )
        parts.append(margins)
    table = pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)
    save(table, path)
    return rows


def _complete(previous: pd.DataFrame, measured: Callable[[], Iterator[Any]]) -> pd.DataFrame:
    """What is known, if it lacks no oracle; else what is measured, if that can be."""
    if {*ORACLES, *([GRAPH] if installed() else [])} <= set(previous["oracle"]):
        return previous
    new = pd.DataFrame(measured())
    return new if len(new) else previous


def read(path: Path) -> pd.DataFrame:
    """The table, empty where there is none.

    Returns
    -------
    DataFrame
        By `KEYS`:

        - ``recall``: the share of rows whose rival the oracle returns.
        - ``epsilon_at_<delta>``: over the mean |score| of the best rival.
        - ``longest``: the largest norm of a class's weights over the median one.
        - ``commonest``: the share of rows whose best rival is the most frequent rival.

        Synthetic rows have no ``cell``, but the ``version`` of MEMOIR-l2.
    """
    return load(path, COLUMNS)


# ---------------------------------------------------------------- weights and rows
def on_synthetic_rows() -> Iterator[dict[str, object]]:
    """Measurements on synthetic rows."""
    for constant, value in CONSTANTS.items():
        dataset = problem(value)
        for batches in BATCHES:
            where = {
                "version": memoir_l2.version,
                "dataset": "synthetic",
                "constant": constant,
                "batches": batches,
            }
            for line in qualities(trained(dataset, batches), dataset):
                yield where | line


def on_cell(name: str, runs_dir: Path) -> Iterator[dict[str, object]]:
    """Measurements on a cell that kept its weights, where its data are here."""
    cell = cells.load(runs_dir, name)
    path = cells.folder(runs_dir, name) / cells.WEIGHTS
    dataset = rows_of(cell, runs_dir / "cache") if cell and path.exists() else None
    if cell is None or dataset is None:
        return
    saved = cells.saved_arrays(runs_dir, cell)
    W = sp.csr_array((saved["values"], saved["features"], saved["start"]), _shape(dataset))
    where = {
        "cell": name,
        "dataset": cell.dataset,
        "constant": "with" if cell.config["dataset"]["protocol"]["constant"] else "without",
        "batches": cell.config["method"]["iterations"],
    }
    for line in qualities(SparseModel.of(W), dataset):
        yield where | line


def rows_of(cell: Cell, cache: Path) -> Dataset | None:
    """The dataset that a cell was trained on; None where it is not here as it was."""
    name = cell.dataset.removesuffix("-twin")
    content = {**cell.config["dataset"], **cell.launch["dataset"], "name": name}
    settings = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(DatasetSettings), content))
    assert isinstance(settings, DatasetSettings)
    info = data.prepare(settings, Path(cell.launch["data_dir"]), cache)
    if not isinstance(info, Info) or info.digest != cell.dataset_digest:
        return None
    return data.load(info, cache)


def problem(constant: float) -> Dataset:
    """Synthetic rows under the paper's protocol, with this value of the constant feature."""
    values = Protocol(classes="train", tfidf=True, row_norm="l2", constant=constant)
    train, test, K, _ = protocol.apply(*synthetic.make(SPEC), values)
    info = describe("synthetic", "", True, train, test, K)
    return Dataset(info, train, test, np.bincount(train.y, minlength=K))


def trained(dataset: Dataset, batches: int) -> SparseModel:
    """MEMOIR-l2 with the code's settings, by the exact oracle."""
    settings = MemoirL2Options("memoir_l2", lr=0.1, iterations=batches)
    solver = registry.method_of(settings).build(settings, dataset.info)
    model = solver.make_model("numpy", *_shape(dataset), False, "float64")
    assert isinstance(model, SparseModel)
    stops = [batches * batch(settings, dataset.info) / len(dataset.train)]
    for _ in solver.fit(dataset, model, Streams.of(0), stops):
        pass
    return model


def _shape(dataset: Dataset) -> tuple[int, int]:
    return dataset.info.classes, dataset.info.features


# ---------------------------------------------------------------- what is measured
def qualities(model: SparseModel, dataset: Dataset) -> Iterator[dict[str, object]]:
    """Recall and epsilons of every oracle and seed on test rows."""
    test = dataset.test.sample(ROWS)
    X, y = sparse_rows(test.X, slice(None), model.dtype), test.y
    best = Exact().rivals(model, X, y)
    scale = float(np.abs(model.at(X, best[:, None])).mean())
    same = {"longest": longest(model), "commonest": float(np.bincount(best).max() / len(best))}
    runs = [(name, make, seed) for name, make in ORACLES.items() for seed in range(SEEDS)]
    if installed():
        runs.append((GRAPH, lambda rng: Graph(), 0))
    for name, make, seed in runs:
        oracle = make(np.random.default_rng(seed))
        oracle.moved(model, np.arange(model.n_classes))
        quality = oracles.quality(oracle, model, X, y, DELTAS)
        values = {metric: x if metric == "recall" else x / scale for metric, x in quality.items()}
        yield {"oracle": name, "seed": seed, **same, **values}


def longest(model: SparseModel) -> float:
    """The largest length of a class's weights over the median of those that are not 0."""
    lengths = model.lengths()[model.seen]
    return float(lengths.max() / np.median(lengths))
