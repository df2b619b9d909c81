"""Synthetic rows of the papers' shapes, a solver's first chunk on them, costs of a training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import in_process
from xcbench.core import metrics, models
from xcbench.core.dataset import Dataset, Rows, Split, square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams
from xcbench.core.solvers.minibatch import Minibatch
from xcbench.core.statistics import describe
from xcbench.data import synthetic
from xcbench.data.settings import SyntheticSettings
from xcbench.methods import registry
from xcbench.methods.options import FullBatchOptions
from xcbench.system.memory import PeakMemory
from xcbench.train import training

BLOCK_ROWS = 1 << 14
INK = 0.19  # share of MNIST's pixels that are not 0


@cache
def twin(
    train: int, features: int, classes: int, nonzeros: float, constant: bool = False
) -> Dataset:
    """Rows of length 1 with power laws of features and classes.

    Parameters
    ----------
    constant : whether one more feature is always 1, as MEMOIR's protocol has it.
    """
    spec = SyntheticSettings(
        train=train, test=1, features=features, classes=classes, nonzeros=nonzeros
    )
    raw = synthetic.make(spec)[0]
    X: Any = raw.X
    X.data /= np.sqrt(np.repeat(square_norms(X), np.diff(X.indptr)))
    if constant:
        X = sp.csr_array(sp.hstack([X, sp.csr_array(np.ones((train, 1)))], format="csr"))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return of_rows(X.astype(np.float32), raw.labels, classes)


def of_rows(X: Rows, y: np.ndarray, classes: int) -> Dataset:
    """Dataset whose test part is its training part."""
    split = Split(X, y)
    info = describe("synthetic", "", True, split, split, classes)
    return Dataset(info, split, split, np.bincount(y, minlength=classes))


eurlex = partial(twin, 15539, 5000, 896, 237)  # the shapes of datasets
bibtex = partial(twin, 4880, 1836, 148, 69)
amazoncat = partial(twin, 1_186_239, 203_882, 2919, 71)  # AmazonCat-13K
omniglot = partial(twin, 25968, 784, 1623, 113)  # images as sparse rows


def mnist() -> Dataset:
    """MNIST's shape: dense rows that are mostly 0."""
    rng = np.random.default_rng(0)
    X = rng.random((60_000, 784), np.float32)
    X[rng.random(X.shape, np.float32) >= INK] = 0
    return of_rows(X, rng.integers(0, 10, len(X)), 10)


def uniform(rows: int, classes: int, features: int, nonzeros: int) -> Dataset:
    """Rows with distinct features and classes, all equally likely; made without much memory."""
    rng = np.random.default_rng(0)
    step = features // nonzeros  # one feature of every stretch of the features
    indices = rng.integers(0, step, (rows, nonzeros), dtype=np.int32)
    indices += np.arange(nonzeros, dtype=np.int32) * step
    start = np.arange(rows + 1, dtype=np.int32) * nonzeros
    values = np.full(indices.size, nonzeros**-0.5, np.float32)
    X = sp.csr_array((values, indices.ravel(), start), shape=(rows, features))
    return of_rows(X, rng.integers(0, classes, rows), classes)


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
        labels = y[first : first + BLOCK_ROWS]
        block = rng.standard_normal((len(labels), features), np.float32)
        X[first : first + BLOCK_ROWS] = block * np.float32(0.7 / features**0.5)
        X[first : first + BLOCK_ROWS] += centres[labels] @ axes
    X.flush()
    return of_rows(np.load(path, mmap_mode="r"), y, classes)


def shape(dataset: Dataset) -> str:
    """N, D, K and non-zeros a row, as they stand in the table."""
    info = dataset.info
    return (
        f"N={info.train} D={info.features} K={info.classes} {info.nonzeros_per_row:.0f} non-zeros"
    )


class Work:
    """A method's first chunk on a dataset, drawn and fetched: what is left are the updates.

    The draws depend on dataset and settings alone.

    Parameters
    ----------
    rows : of the chunk at most; 0 for all.
    start : of the weights.
    """

    def __init__(
        self, dataset: Dataset, settings: Any, engine: str, rows: int = 0, start: Any = 0.0
    ) -> None:
        info = dataset.info
        solver = registry.method_of(settings).build(settings, info)
        assert isinstance(solver, Minibatch)
        self.solver = solver
        self.local = solver.local(dataset)
        self.model = models.make(engine, info.classes, info.features, settings.bias, "float32")
        chunk = next(solver._chunks(dataset, self.model, Streams.of(0)))
        self.chunk = chunk.part(0, min(len(chunk), rows or len(chunk)))
        solver.optimizer = solver.optimizer.begun(self.model)
        self.model.V[:] = start

    @property
    def classes(self) -> np.ndarray:
        """Classes (B, 1+S) of the rows, the true one first."""
        assert self.chunk.classes is not None
        return self.chunk.classes

    @property
    def rows(self) -> tuple[np.ndarray, ...]:
        """Begin and end of every row, features and values."""
        record = self.chunk.rows.record
        assert record.features is not None
        return record.begin, record.end, record.features, record.values

    def updates(self) -> float:
        """Run the chunk's updates once more, from where the weights are."""
        return self.solver._run(self.model, self.chunk, self.local, self.solver.optimizer.rate(0))


def settings_of(name: str, **options: Any) -> Any:
    """Settings of a method, trained by minibatches where it could be by full batches."""
    schema: Any = registry.builtin()[name].schema
    minibatch = {"solver": "minibatch"} if issubclass(schema, FullBatchOptions) else {}
    return schema(name=name, **minibatch, **options)


def built(dataset: Dataset, settings: Any, engine: str = "numba") -> tuple[Any, Any]:
    """Solver and untrained model of a method; its kernels are compiled."""
    info, method = dataset.info, registry.method_of(settings)
    solver, model = training.built(method, settings, info, info, engine, "float32")
    training.warm_up(solver, model, dataset)
    return solver, model


class Costs(NamedTuple):
    """Of a training in a process of its own; bytes are beyond the process with the rows loaded."""

    seconds: list[float]  # CPU seconds at every stop, the first before all rows
    evaluation: float  # CPU seconds a row
    prediction: float  # seconds of the wall clock
    peak: int  # bytes, in training and evaluation
    model: int  # bytes


def costs(make: Callable[[], Dataset], settings: Any, **options: Any) -> Costs:
    """What a training costs, in a process of its own; options are those of `costs_here`."""
    results, code = in_process(partial(costs_here, make, settings, **options))
    assert code == 0, f"{settings.name} ended with exit code {code}"
    return Costs(*results[0])


def costs_here(
    make: Callable[[], Dataset],
    settings: Any,
    engine: str = "numba",
    stops: tuple[float, ...] = (1.0,),
    evaluated: int = 0,
    predicted: int = 1,
) -> Iterator[Costs]:
    """What a training costs in this process.

    Parameters
    ----------
    stops : epochs, where the method does not ask for a number of them.
    evaluated, predicted : the numbers of rows.
    """
    dataset = make()
    solver, model = built(dataset, settings, engine)
    np.asarray(dataset.train.X.sum())  # mapped rows are read: part of what was there before
    memory = PeakMemory()
    memory.begin()
    if isinstance(model, LinearModel):
        model.V[:] = 0
    clock = [time.process_time()]
    for _ in solver.fit(dataset, model, Streams.of(0), [solver.epochs] if solver.epochs else stops):
        clock.append(time.process_time())
    if evaluated:
        metrics.evaluate(model.corrected, dataset.train.first(evaluated))
    evaluation = (time.process_time() - clock[-1]) / max(1, evaluated)
    memory.end()
    prediction = metrics.costs(model, dataset.test.sample(predicted))["predict_seconds"]
    seconds = [now - clock[0] for now in clock[1:]]
    yield Costs(seconds, evaluation, prediction, memory.peak - memory.start, model.nbytes)
