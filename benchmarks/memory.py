"""How near the hot loops come to what the memory can do, and how much memory a run takes.

The floor of a step is the time for its reads and writes of weights alone, measured in the same
run; a share of 1 would mean that nothing but these accesses costs time. Nothing here has a goal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from benchmarks.shapes import Work, eurlex, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.methods.double_sum import UmaxOptions
from xcbench.methods.one_vs_each import OneVsEachOptions

BILLION = 1e9


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
def touch(V: Any, classes: Any, begin: Any, end: Any, features: Any) -> Any:
    """Read, then write, the weights of an update, update after update."""
    total = np.float32(0.0)
    for i in range(begin.size):
        for c in range(classes.shape[1]):
            w = V[classes[i, c]]
            for j in range(begin[i], end[i]):
                total += w[features[j]]
        for c in range(classes.shape[1]):
            w = V[classes[i, c]]
            for j in range(begin[i], end[i]):
                w[features[j]] += np.float32(1.0)
    return total


def bandwidth() -> list[Row]:
    """Bandwidth in 10⁹ bytes a second, and nanoseconds a scattered access."""
    rng = np.random.default_rng(0)
    a, b, c = (np.ones(1 << 25, np.float32) for _ in range(3))
    seconds = interleaved({"triad": lambda: triad(a, b, c)})["triad"]
    rows = [Row("triad, 10⁹ bytes/s", "3 arrays of 134 MB", 12 * a.size / seconds / BILLION)]
    for label, size in (("20 kB", 5_000), ("18 MB", 4_480_000), ("400 MB", 100_000_000)):
        w = np.ones(size, np.float32)
        index = rng.integers(0, size, 1 << 20).astype(np.uint32)
        timings = interleaved(
            {"gather": partial(gather, w, index), "scatter": partial(scatter, w, index)},
            units=index.size,
        )
        rows += [Row(f"{name}, 10⁻⁹ s", label, 1e9 * timings[name]) for name in timings]
    return rows


def shares() -> list[Row]:
    """Floor of a step as ``peer``: the ratio is the share of the roofline reached."""
    dataset, rows = eurlex(), []
    for name, settings, count in (
        ("U-max update", UmaxOptions(name="umax", lr=0.1, bias=False), 4096),
        (
            "OVE iteration",
            OneVsEachOptions(
                name="ove", lr=1e-4, batch_size=379, negatives=50, sampler="others", bias=False
            ),
            379,
        ),
    ):
        work = Work.of(dataset, settings, "numba", rows=count)
        begin, end, features, _ = work.chunk.rows.record
        V, classes = np.ones_like(work.model.V), work.chunk.classes
        timings = interleaved(
            {
                "ours": work.updates,
                "floor": partial(touch, V, classes, begin, end, features),
            },
            units=count if settings.batch_size == 1 else 1,
        )
        where = shape(dataset)
        rows.append(
            Row(
                f"{name}, s, vs its weights' accesses alone",
                where,
                timings["ours"],
                timings["floor"],
            )
        )
    return rows


CHILD = """
import json
import benchmarks
from benchmarks import shapes
from benchmarks.memory import peak
from xcbench.core import models
from xcbench.methods import registry
from xcbench.methods.double_sum import UmaxOptions
from xcbench.methods.options import SampledOptions
from xcbench.run import training
from xcbench.run.settings import Budget, Evaluation

dataset = shapes.uniform_rows()
settings = {settings}
solver = registry.method_of(settings).build(settings, dataset.info)
model = models.make("{engine}", dataset.info.classes, dataset.info.features, True, "float32")
training.warm_up(solver, model, dataset)
X, W = dataset.train.X, model.V
open("/proc/self/clear_refs", "w").write("5")  # the peak is from now on
before = peak()
W[:] = 0
training.run(solver, model, dataset, 0, Budget(epochs=1, checkpoints=1), Evaluation(), 0)
print(json.dumps([peak() - before, W.nbytes, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes]))
"""
METHODS = {
    "U-max": "UmaxOptions(name='umax', lr=0.1)",
    "OVE 100 x 5": "SampledOptions(name='ove', lr=1e-4)",
}


def peak() -> int:
    """High-water mark of this process in bytes; ru_maxrss would begin at the parent's."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def peaks() -> list[Row]:
    """Peak memory of training and evaluation beyond the process with data loaded; bytes."""
    rows = []
    for engine in ("numba", "numpy"):
        for name, settings in METHODS.items():
            code = CHILD.format(engine=engine, settings=settings)
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            extra, W, X = json.loads(done.stdout)
            rows += [
                Row(
                    f"peak bytes, {name}, engine={engine}, as a multiple of {what}",
                    size,
                    extra / of,
                )
                for what, of, size in (
                    ("W", W, f"W: {W / 1e6:.0f} MB"),
                    ("X", X, f"X: {X / 1e6:.0f} MB"),
                )
            ]
    return rows


def run() -> list[Row]:
    """Bandwidth, shares of the roofline, peak memory."""
    return bandwidth() + shares() + peaks()
