"""A pass of L-BFGS over all rows and classes: value and gradient of exact softmax, in float64."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.shapes import shape, twin, whole
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.core.solvers import Streams
from xcbench.core.solvers.lbfgs import LBFGS, _Mean
from xcbench.methods import registry

GOAL = 2.5
INK = 0.19  # share of MNIST's pixels that are not 0


def mnist() -> Dataset:
    """MNIST's shape: dense rows that are mostly 0."""
    rng = np.random.default_rng(0)
    X = rng.random((60_000, 784), np.float32)
    X[rng.random(X.shape, np.float32) >= INK] = 0
    return whole(X, rng.integers(0, 10, len(X)), 10, INK * X.shape[1])


def compare(dataset: Dataset, goal: float = 0.0) -> Row:
    """Seconds a pass, compiled and by the products of NumPy and SciPy."""
    method = registry.find("softmax").thing
    solver = method.build(method.schema(name="softmax"), dataset.info)
    assert isinstance(solver, LBFGS)
    info, passes = dataset.info, {}
    for engine in ("numba", "numpy"):
        model = models.make(engine, info.classes, info.features, True, "float64")
        passes[engine] = _Mean(solver, dataset, model, Streams.of(0))
    theta = np.random.default_rng(1).normal(size=info.classes * (info.features + 1)) * 0.01
    (value, gradient), (other, expected) = (run(theta) for run in passes.values())
    assert abs(value - other) <= 1e-12 * abs(other)
    assert np.abs(gradient - expected).max() <= 1e-12 * np.abs(expected).max()
    timings = interleaved({name: partial(run, theta) for name, run in passes.items()})
    return Row(
        "pass over all rows vs engine=numpy, s",
        shape(dataset),
        timings["numba"],
        timings["numpy"],
        goal,
    )


def run() -> list[Row]:
    """MNIST's and Bibtex's shapes."""
    return [compare(mnist(), GOAL), compare(twin(4880, 1836, 148, 69))]
