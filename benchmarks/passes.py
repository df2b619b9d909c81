"""Passes over all rows: evaluation, the gradient of exact softmax, rates in lockstep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.shapes import bibtex, eurlex, mnist, shape
from benchmarks.table import Candidate, Row, ratios
from xcbench.core import models
from xcbench.core.dataset import Dataset, Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams, lockstep
from xcbench.core.solvers.lbfgs import LBFGS, _Mean
from xcbench.methods import registry

BLOCKS = (256, 1024, 4096)
SIX = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
EIGHT = [*SIX, 0.0003, 0.0001]  # which fill a register


def model_of(dataset: Dataset, engine: str, bias: bool = True, dtype: str = "float32") -> Any:
    """A model with zero weights."""
    return models.make(engine, dataset.info.classes, dataset.info.features, bias, dtype)


# ---------------------------------------------------------------- evaluation
def summarised(model: LinearModel, split: Split) -> np.ndarray:
    """Mean log loss and error, by the compiled engine."""
    loss, best = model.summarise(split)
    return np.array([loss.mean(), (best != split.y).mean()])


def scipy(W: np.ndarray, split: Split, size: int) -> np.ndarray:
    """Mean log loss and error; the weights are laid out as the product wants them."""
    transposed = np.ascontiguousarray(W.T)
    total = np.zeros(2)
    for first in range(0, len(split), size):
        y = split.y[first : first + size]
        scores = split.X[first : first + size] @ transposed
        row = np.arange(len(y))
        true, top = scores[row, y], scores.max(axis=1)
        wrong = (scores.argmax(axis=1) != y).sum()
        scores -= top[:, None]
        np.exp(scores, out=scores)
        losses = np.log(scores.sum(axis=1, dtype=np.float64)) + top - true
        total += losses.sum(), wrong
    return total / len(split)


def evaluation() -> list[Row]:
    """Mean log loss and top-1 error over all rows, without an array of N x K scores.

    The peer is SciPy's product of sparse rows with dense weights, in blocks, and a log-sum-exp in
    NumPy; the fastest of its block sizes counts.
    """
    dataset = eurlex()
    model = model_of(dataset, "numba", bias=False)
    model.V[:] = np.random.default_rng(0).normal(size=model.V.shape)
    candidates = {"ours": Candidate(partial(summarised, model, dataset.train))}
    for size in BLOCKS:
        peer = partial(scipy, model.V, dataset.train, size)
        candidates[f"SciPy CSR@dense, blocks of {size}"] = Candidate(peer)
    return ratios(shape(dataset), candidates, {"SciPy": 2.0}, tolerance=1e-5)


# ---------------------------------------------------------------- full batch
def gradient(dataset: Dataset, goals: dict[str, float]) -> list[Row]:
    """Seconds a pass of L-BFGS over all rows and classes, in float64, by both engines."""
    method = registry.find("softmax").thing
    solver = method.build(method.schema(name="softmax"), dataset.info)
    assert isinstance(solver, LBFGS)
    info, candidates = dataset.info, {}
    theta = np.random.default_rng(1).normal(size=info.classes * (info.features + 1)) * 0.01
    for name, engine in {"ours": "numba", "engine=numpy": "numpy"}.items():
        mean = _Mean(solver, dataset, model_of(dataset, engine, dtype="float64"), Streams.of(0))
        candidates[name] = Candidate(lambda mean=mean: np.append(*mean(theta)))  # type: ignore[misc]
    label = "pass over all rows "
    return ratios(shape(dataset), candidates, goals, label=label, tolerance=1e-11)


def full_batch() -> list[Row]:
    """MNIST's and Bibtex's shapes."""
    return gradient(mnist(), {"engine=numpy": 2.5}) + gradient(bibtex(), {})


# ---------------------------------------------------------------- lockstep
def one_by_one(
    solvers: list[Any], dataset: Dataset, trained: list[Any], streams: Streams, stops: list[float]
) -> None:
    """Train with one rate after the other, with the same draws."""
    for solver, model in zip(solvers, trained, strict=True):
        list(solver.fit(dataset, model, Streams.of(0), stops))


def in_lockstep(*arguments: Any) -> None:
    """Train with all rates together."""
    list(lockstep.fit(*arguments))


def rates_together(name: str, dataset: Dataset, rates: list[float], epochs: float) -> list[Row]:
    """Seconds a rate; the weights are the same to the last bit."""
    method = registry.find(name).thing
    settings = method.schema(name=name)

    def trained(train: Callable[..., None]) -> np.ndarray:
        """Weights of all rates."""
        solvers = [method.build(replace(settings, lr=lr), dataset.info) for lr in rates]
        weights = [model_of(dataset, "numba") for _ in rates]
        train(solvers, dataset, weights, Streams.of(0), [epochs])
        return np.array([model.V for model in weights])

    faster = lockstep.is_faster(dataset.info, "float32")
    return ratios(
        shape(dataset),
        {
            "ours": Candidate(partial(trained, in_lockstep)),
            "one by one": Candidate(partial(trained, one_by_one)),
        },
        {"one by one": 2.0} if faster else {},
        label=f"{name}, {len(rates)} rates, ",
        unit="s/rate",
        units=len(rates),
        tolerance=0.0,
    )


def lockstepped() -> list[Row]:
    """Learning rates in lockstep against as many runs one after the other, of the same updates.

    MNIST's shape, where launches take it, and two of which the weights leave the cache.
    """
    data = [
        (mnist(), SIX, 1.0),
        (mnist(), EIGHT, 1.0),
        (bibtex(), SIX, 3.0),
        (eurlex(), SIX, 1.0),
    ]
    methods = ("umax", "implicit", "ove")
    return [row for work in data for name in methods for row in rates_together(name, *work)]
