"""How cost grows with N, K, D and the non-zeros of a row, over three decades each.

Exponents are fitted by least squares in log-log. A sampled step does the same work whatever K is;
what remains is the price of reaching weights that lie outside a cache. A control shows that price
alone: the weights of a step are read and written, pair after pair, and nothing else is done.

In these rows ``ours`` is the time at the smallest size, ``peer`` the time at the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from benchmarks import shapes
from benchmarks.table import Row
from benchmarks.timing import repeated
from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.methods.double_sum import UmaxOptions
from xcbench.methods.one_vs_each import OneVsEachOptions

BASE = {"N": 2000, "K": 1000, "D": 1000, "non-zeros": 50}
SIZES = {
    "N": (100, 1000, 10_000, 100_000),
    "K": (100, 1000, 10_000, 100_000),
    "D": (100, 1000, 10_000, 100_000),
    "non-zeros": (1, 10, 100, 1000),
}
UMAX = UmaxOptions(name="umax", lr=0.1, bias=False)
OVE = OneVsEachOptions(
    name="ove", lr=1e-4, batch_size=100, negatives=5, sampler="others", bias=False
)
GOAL = 0.1


def uniform(size: dict[str, int]) -> Dataset:
    """Rows with distinct features and classes, all equally likely."""
    rng = np.random.default_rng(0)
    N, D, count = size["N"], size["D"], size["non-zeros"]
    step = D // count  # one feature of every stretch of the features
    features = np.arange(count) * step + rng.integers(0, step, (N, count))
    values = np.full(N * count, count**-0.5)
    start = np.arange(N + 1) * count
    return shapes.of(values, features.ravel(), start, rng.integers(0, size["K"], N), D, size["K"])


@njit(cache=True)
def _touch(V: Any, classes: Any, begin: Any, end: Any, features: Any) -> None:
    for i in range(begin.size):
        for c in range(classes.shape[1]):
            w = V[classes[i, c]]
            for j in range(begin[i], end[i]):
                w[features[j]] += np.float32(1.0)


def steps(settings: Any, per: int) -> Callable[[Dataset], float]:
    """Seconds for ``per`` observations."""

    def measure(dataset: Dataset) -> float:
        work = shapes.Work.of(dataset, settings, "numba")
        return repeated(work.updates) / len(work.chunk) * per

    return measure


def control(settings: Any, per: int) -> Callable[[Dataset], float]:
    """Seconds to add 1 to the weights that ``per`` observations of a method reach."""

    def measure(dataset: Dataset) -> float:
        work = shapes.Work.of(dataset, settings, "numba")
        begin, end, features, _ = work.chunk.rows.record
        V, classes = work.model.V, work.chunk.classes
        touch = partial(_touch, V, classes, begin, end, features)
        return repeated(touch) / len(work.chunk) * per

    return measure


def evaluation(dataset: Dataset) -> float:
    """Seconds of an evaluation of all rows."""
    info = dataset.info
    model = models.make("numba", info.classes, info.features, False, "float32")
    return repeated(lambda: model.summarise(dataset.train), rounds=3)


MEASURES: dict[str, Callable[[Dataset], float]] = {
    "U-max update": steps(UMAX, 1),
    "OVE 100 x 5 iteration": steps(OVE, 100),
    "evaluation": evaluation,
    "control of U-max, memory alone": control(UMAX, 1),
    "control of OVE, memory alone": control(OVE, 100),
}


def run() -> list[Row]:
    """One row a quantity and an axis."""
    rows = []
    for axis, sizes in SIZES.items():
        seconds: dict[str, list[float]] = {name: [] for name in MEASURES}
        for size in sizes:
            dataset = uniform(BASE | {axis: size})
            for name, measure in MEASURES.items():
                seconds[name].append(measure(dataset))
        for name, timings in seconds.items():
            exponent = float(np.polyfit(np.log(sizes), np.log(timings), 1)[0])
            gated = axis == "K" and name.startswith(("U-max", "OVE"))
            rows.append(
                Row(
                    f"{name}, s: {axis}^{exponent:.2f}",
                    f"{axis}={sizes[0]}…{sizes[-1]}",
                    timings[0],
                    timings[-1],
                    verdict=(f"exponent <= {GOAL}", exponent <= GOAL) if gated else None,
                )
            )
    return rows
