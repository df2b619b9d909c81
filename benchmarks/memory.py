"""How near the hot loops come to what the memory can do, how much a run takes, how costs grow.

The floor of a step is the time for its reads and writes of weights alone, measured in the same
run; a share of 1 would mean that nothing but these accesses costs time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from benchmarks.measure import interleaved, repeated
from benchmarks.shapes import Work, costs, eurlex, shape, uniform
from benchmarks.table import Candidate, Row, ratios
from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.umax import UmaxOptions

UMAX = UmaxOptions(name="umax", lr=0.1, bias=False)
OVE = OneVsEachOptions(
    name="ove", lr=1e-4, batch_size=100, negatives=5, sampler="others", bias=False
)
LARGE = OneVsEachOptions(
    name="ove", lr=1e-4, batch_size=379, negatives=50, sampler="others", bias=False
)
BASE = {"N": 2000, "K": 1000, "D": 1000, "non-zeros": 50}
SIZES = {
    "N": (100, 1000, 10_000, 100_000),
    "K": (100, 1000, 10_000, 100_000),
    "D": (100, 1000, 10_000, 100_000),
    "non-zeros": (1, 10, 100, 1000),
}
LARGEST_EXPONENT = 0.1


@njit(cache=True)
def triad(a: Any, b: Any, c: Any) -> None:
    """Write a sum of two arrays: 12 bytes a number."""
    for i in range(a.size):
        a[i] = b[i] + np.float32(3.0) * c[i]


@njit(cache=True)
def gather(w: Any, index: Any) -> Any:
    """Read scattered numbers."""
    total = np.float32(0.0)
    for i in range(index.size):
        total += w[index[i]]
    return total


@njit(cache=True)
def scatter(w: Any, index: Any) -> None:
    """Add to scattered numbers."""
    for i in range(index.size):
        w[index[i]] += np.float32(1.0)


@njit(cache=True)
def touch(V: Any, classes: Any, begin: Any, end: Any, features: Any, reads: bool) -> Any:
    """Read, if asked for, then write the weights of an update, update after update."""
    total = np.float32(0.0)
    for i in range(begin.size):
        for c in range(classes.shape[1] if reads else 0):
            w = V[classes[i, c]]
            for j in range(begin[i], end[i]):
                total += w[features[j]]
        for c in range(classes.shape[1]):
            w = V[classes[i, c]]
            for j in range(begin[i], end[i]):
                w[features[j]] += np.float32(1.0)
    return total


def touching(work: Work, reads: bool) -> Callable[[], object]:
    """`touch` with the weights of a chunk."""
    begin, end, features, _ = work.rows
    return partial(touch, work.model.V, work.classes, begin, end, features, reads)


# ---------------------------------------------------------------- memory
def bandwidth() -> list[Row]:
    """Bandwidth in 10⁹ bytes a second, and nanoseconds a scattered access."""
    rng = np.random.default_rng(0)
    a, b, c = (np.ones(1 << 25, np.float32) for _ in range(3))
    seconds = interleaved({"triad": lambda: triad(a, b, c)})["triad"]
    rows = [Row("triad, 10⁹ bytes/s", "3 arrays of 134 MB", 12 * a.size / seconds / 1e9)]
    for label, size in (("20 kB", 5_000), ("18 MB", 4_480_000), ("400 MB", 100_000_000)):
        w = np.ones(size, np.float32)
        index = rng.integers(0, size, 1 << 20).astype(np.uint32)
        timings = interleaved(
            {"gather": partial(gather, w, index), "scatter": partial(scatter, w, index)},
            units=index.size,
        )
        rows += [Row(f"{name}, 10⁻⁹ s", label, 1e9 * timings[name]) for name in timings]
    return rows


def share(label: str, settings: Any, rows: int, units: int) -> list[Row]:
    """Floor of a step as ``peer``: the ratio is the share of the roofline reached."""
    work, floor = (Work(eurlex(), settings, "numba", rows) for _ in range(2))
    candidates = {
        "ours": Candidate(work.updates),
        "its weights' accesses alone": Candidate(touching(floor, reads=True)),
    }
    return ratios(shape(eurlex()), candidates, label=f"{label} ", units=units)


def peaks() -> list[Row]:
    """Peak memory of training and evaluation beyond the process with data loaded; bytes."""
    make = partial(uniform, 20_000, 2_000, 20_000, 50)
    X: Any = make().train.X
    rows = []
    for engine in ("numba", "numpy"):
        for name, settings in {
            "U-max": UmaxOptions(name="umax", lr=0.1),
            "OVE 100 x 5": OneVsEachOptions(name="ove", lr=1e-4, sampler="shared"),
        }.items():
            spent = costs(make, settings, engine=engine, evaluated=20_000)
            sizes = {"W": spent.model, "X": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes}
            label = f"peak bytes, {name}, engine={engine}, as a multiple of"
            rows += [
                Row(f"{label} {what}", f"{what}: {size / 1e6:.0f} MB", spent.peak / size)
                for what, size in sizes.items()
            ]
    return rows


def run() -> list[Row]:
    """Bandwidth, shares of the roofline, peak memory; nothing here has a goal."""
    shares = share("U-max update", UMAX, 4096, 4096) + share("OVE iteration", LARGE, 379, 1)
    return bandwidth() + shares + peaks()


# ---------------------------------------------------------------- growth
def steps(dataset: Dataset, settings: Any, per: int) -> float:
    """Seconds of the updates for ``per`` samples."""
    work = Work(dataset, settings, "numba")
    return repeated(work.updates) / len(work.chunk) * per


def control(dataset: Dataset, settings: Any, per: int) -> float:
    """Seconds to add 1 to the weights that ``per`` samples of a method reach."""
    work = Work(dataset, settings, "numba")
    return repeated(touching(work, reads=False)) / len(work.chunk) * per


def evaluation(dataset: Dataset) -> float:
    """Seconds of an evaluation of all rows."""
    info = dataset.info
    model = models.make("numba", info.classes, info.features, False, "float32")
    return repeated(lambda: model.summarise(dataset.train), rounds=3)


MEASURES: dict[str, Callable[[Dataset], float]] = {
    "U-max update": partial(steps, settings=UMAX, per=1),
    "OVE 100 x 5 iteration": partial(steps, settings=OVE, per=100),
    "evaluation": evaluation,
    "control of U-max, memory alone": partial(control, settings=UMAX, per=1),
    "control of OVE, memory alone": partial(control, settings=OVE, per=100),
}


def scaling() -> list[Row]:
    """How cost grows with N, K, D and the non-zeros of a row, over three decades each.

    Exponents are fitted by least squares in log-log. A sampled step does the same work whatever K
    is; what remains is the price of reaching weights that lie outside a cache. A control shows that
    price alone: the weights of a step are read and written, pair after pair, and nothing else is
    done. ``ours`` is the time at the smallest size, ``peer`` the time at the largest.
    """
    rows = []
    for axis, sizes in SIZES.items():
        data = [uniform(*(BASE | {axis: size}).values()) for size in sizes]
        for name, measure in MEASURES.items():
            seconds = [measure(dataset) for dataset in data]
            exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
            gated = axis == "K" and name.startswith(("U-max", "OVE"))
            rows.append(
                Row(
                    f"{name}, s: {axis}^{exponent:.2f}",
                    f"{axis}={sizes[0]}…{sizes[-1]}",
                    seconds[0],
                    seconds[-1],
                    f"exponent <= {LARGEST_EXPONENT}" if gated else "",
                    exponent,
                )
            )
    return rows
