"""Passes over all rows: evaluation, the gradient of exact softmax, rates in lockstep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import interleaved
from benchmarks.shapes import bibtex, eurlex, mnist, of_rows, shape
from benchmarks.table import Candidate, Row, ratios
from xcbench.core import models
from xcbench.core.dataset import Dataset, Split
from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.evaluation import exponential
from xcbench.core.models import panels
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Streams, lockstep
from xcbench.core.solvers.lbfgs import LBFGS, _Mean
from xcbench.methods import registry

PASSES = 100  # over a panel, to time one
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
    return np.array([loss.mean(), (best[:, 0] != split.y).mean()])


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
    model = with_weights(dataset)
    candidates = {"ours": Candidate(partial(summarised, model, dataset.train))}
    for size in BLOCKS:
        peer = partial(scipy, model.V, dataset.train, size)
        candidates[f"SciPy CSR@dense, blocks of {size}"] = Candidate(peer)
    return ratios(shape(dataset), candidates, {"SciPy": 2.0}, tolerance=1e-5) + shares_of_limit()


def with_weights(dataset: Dataset) -> Any:
    """A model with random weights and no biases."""
    model = model_of(dataset, "numba", bias=False)
    model.V[:] = np.random.default_rng(0).standard_normal(model.V.shape, np.float32)
    return model


def shares_of_limit() -> list[Row]:
    """Evaluation beside its limit: weights read as fast as a panel of them can be, exponentials.

    A non-zero of a row takes one weight of each class, 4 bytes for 2 flops, and every score is
    raised once. So the limit is 4 · non-zeros · K bytes at the speed of one read after the other of
    an array as large as a panel, and N · K exponentials at their speed; both measured in turn.
    """
    rows = []
    for n_rows, K in ((15539, 1000), (4000, 10_000), (2000, 100_000)):
        X: Any = eurlex().train.X[:n_rows]
        dataset = of_rows(X, np.arange(n_rows) % K, K)
        numbers = np.ones(dataset.info.features * panels.NARROW, np.float32)
        exponents = -np.ones(1 << 12, np.float32)
        model, powers = with_weights(dataset), np.empty_like(exponents)
        candidates = {
            "ours": partial(model.summarise, dataset.train),
            "read": partial(_read, numbers, PASSES),
            "raise": partial(_raise, exponents, powers, n_rows * K // len(powers)),
        }
        seconds = interleaved(candidates, rounds=3)
        limit = seconds["read"] * X.nnz * K / (PASSES * len(numbers)) + seconds["raise"]
        rows.append(Row("vs limit, s", shape(dataset), seconds["ours"], limit, ">= 0.5"))
    return rows


@kernel(fastmath={"reassoc"})
def _read(numbers: Any, passes: int) -> float:
    """Add up numbers so many times; every pass changes one, so that none is spared."""
    for p in range(passes):
        total = np.float32(0)
        for j in range(numbers.size):
            total += numbers[j]
        numbers[p % numbers.size] = total
    return float(numbers[0])


@kernel
def _raise(exponents: Any, powers: Any, passes: int) -> None:
    for _ in range(passes):
        for j in range(exponents.size):
            powers[j] = exponential(exponents[j])


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
) -> Iterator[Any]:
    """Train with one rate after the other, with the same draws."""
    for solver, model in zip(solvers, trained, strict=True):
        yield from solver.fit(dataset, model, Streams.of(0), stops)


def rates_together(name: str, dataset: Dataset, rates: list[float], epochs: float) -> list[Row]:
    """Seconds a rate; the weights are the same to the last bit."""
    method = registry.find(name).thing
    settings = method.schema(name=name)

    def trained(train: Callable[..., Iterator[Any]]) -> np.ndarray:
        """Weights of all rates."""
        solvers = [method.build(replace(settings, lr=lr), dataset.info) for lr in rates]
        weights = [model_of(dataset, "numba") for _ in rates]
        list(train(solvers, dataset, weights, Streams.of(0), [epochs]))
        return np.array([model.V for model in weights])

    faster = lockstep.fewest(dataset.info, "float32") <= len(rates)
    return ratios(
        shape(dataset),
        {
            "ours": Candidate(partial(trained, lockstep.fit)),
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

    MNIST's shape, whose weights stay near the processor, and two whose weights do not.
    """
    data = [
        (mnist(), SIX, 1.0),
        (mnist(), EIGHT, 1.0),
        (bibtex(), SIX, 3.0),
        (eurlex(), SIX, 1.0),
    ]
    methods = ("umax", "implicit", "ove")
    return [row for work in data for name in methods for row in rates_together(name, *work)]
