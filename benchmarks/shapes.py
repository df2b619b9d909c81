"""Synthetic rows of the papers' shapes, and a solver's first chunk on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core import models
from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset, Rows, Split, square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams
from xcbench.core.solvers.minibatch import Minibatch
from xcbench.core.statistics import describe
from xcbench.data import synthetic
from xcbench.data.settings import SyntheticSettings
from xcbench.methods import registry

BLOCK_ROWS = 1 << 14


@cache
def twin(train: int, features: int, classes: int, nonzeros: float) -> Dataset:
    """Rows of length 1 with power laws of features and classes."""
    spec = SyntheticSettings(
        train=train, test=1, features=features, classes=classes, nonzeros=nonzeros
    )
    X = synthetic.make(spec)[0]
    rows = X.X
    assert isinstance(rows, sp.csr_array)
    length = np.sqrt(np.repeat(square_norms(rows), np.diff(rows.indptr)))
    return of(rows.data / length, rows.indices, rows.indptr, X.labels, features, classes)


def with_constant(dataset: Dataset) -> Dataset:
    """The same rows with one more feature, always 1, as MEMOIR's protocol has it."""
    rows, y = dataset.train.X, dataset.train.y
    assert isinstance(rows, sp.csr_array)
    one = sp.csr_array(np.ones((len(y), 1), np.float32))
    X = sp.csr_array(sp.hstack([rows, one], format="csr"))
    return of(X.data, X.indices, X.indptr, y, X.shape[1], dataset.info.classes)


def of(
    values: np.ndarray,
    indices: np.ndarray,
    start: np.ndarray,
    y: np.ndarray,
    features: int,
    classes: int,
) -> Dataset:
    """Dataset of these sparse rows, in the types that a prepared dataset has."""
    X = sp.csr_array(
        (values.astype(np.float32), indices.astype(np.int32), start.astype(np.int32)),
        shape=(len(y), features),
    )
    return whole(X, y, classes, X.nnz / len(y))


def whole(X: Rows, y: np.ndarray, classes: int, nonzeros: float) -> Dataset:
    """Dataset whose test part is its training part."""
    split = Split(X, y)
    info = describe("synthetic", "", True, split, split, classes)
    return Dataset(info, split, split, np.bincount(y, minlength=classes))


def eurlex() -> Dataset:
    """EURLex's shape."""
    return twin(15539, 5000, 896, 237)


def amazoncat() -> Dataset:
    """AmazonCat-13K's shape."""
    return twin(1_186_239, 203_882, 2919, 71)


def omniglot() -> Dataset:
    """Omniglot's shape; its images as sparse rows."""
    return twin(25968, 784, 1623, 113)


def shape(dataset: Dataset) -> str:
    """N, D, K and non-zeros a row, as they stand in the table."""
    info = dataset.info
    return (
        f"N={info.train} D={info.features} K={info.classes} {info.nonzeros_per_row:.0f} non-zeros"
    )


@dataclass
class Work:
    """A method's first chunk on a dataset, drawn and fetched: what is left are the updates."""

    solver: Minibatch
    model: LinearModel
    chunk: Batch
    local: np.ndarray

    @classmethod
    def of(
        cls, dataset: Dataset, settings: Any, engine: str, bias: bool = False, rows: int = 0
    ) -> Work:
        """Prepare; the draws depend on dataset and settings alone."""
        solver = registry.method_of(settings).build(settings, dataset.info)
        assert isinstance(solver, Minibatch)
        info = dataset.info
        model = models.make(engine, info.classes, info.features, bias, "float32")
        chunk = next(solver._chunks(dataset, model, Streams.of(0)))
        chunk = chunk.part(0, min(len(chunk), rows or len(chunk)))
        solver.optimizer = solver.optimizer.begun(model)
        start = solver.objective.start
        return cls(solver, model, chunk, np.full((info.train, *np.shape(start)), start))

    def updates(self) -> float:
        """Run the chunk's updates once more, from where the weights are."""
        return self.solver._run(self.model, self.chunk, self.local, self.solver.optimizer.rate(0))


def uniform_rows(train: int = 20_000, features: int = 20_000, classes: int = 2_000) -> Dataset:
    """Rows of 50 features each, made without much memory; all features and classes alike."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, features // 50, (train, 50), dtype=np.int32)
    indices += np.arange(50, dtype=np.int32) * (features // 50)
    start = np.arange(train + 1, dtype=np.int32) * 50
    values = np.full(indices.size, 50**-0.5, np.float32)
    y = rng.integers(0, classes, train)
    return of(values, indices.ravel(), start, y, features, classes)


def dense(train: int, features: int, classes: int, path: Path) -> Dataset:
    """Dense rows of length about 1 around centres of their classes, popular ones by a power law.

    Every class has a row; centres lie in 32 dimensions, so that a tree finds something. Rows are
    written to a file and mapped into memory.
    """
    rng = np.random.default_rng(0)
    law = synthetic.power_law(classes, 0.8)
    y = np.concatenate([np.arange(classes), rng.choice(classes, train - classes, p=law)])
    rng.shuffle(y)
    axes = rng.normal(size=(32, features)).astype(np.float32)
    centres = rng.normal(size=(classes, 32)).astype(np.float32) / np.float32(8 * features**0.5)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (train, features))
    for first in range(0, train, BLOCK_ROWS):
        own = y[first : first + BLOCK_ROWS]
        block = rng.standard_normal((len(own), features), np.float32)
        block *= np.float32(0.7 / features**0.5)
        X[first : first + BLOCK_ROWS] = block + centres[own] @ axes
    X.flush()
    return whole(np.load(path, mmap_mode="r"), y, classes, features)
