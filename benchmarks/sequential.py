"""One observation and one drawn class an update: U-max and Implicit SGD, EURLex's shape.

Drawing classes and fetching rows stand outside the clock, for all candidates. The careful loop
takes NumPy for the rows and plain floats for the formula, whose NumPy form is slow on single
numbers; the loop of ``engine=numpy`` is the one of the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks import c_loops
from benchmarks.shapes import Work, eurlex, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core.objectives.implicit import CONVERGED, NEWTON_STEPS
from xcbench.methods.double_sum import DoubleSumOptions, UmaxOptions

ROWS = 4096
GOALS = {"umax": 8.0, "implicit": 15.0}
SETTINGS = {
    "umax": UmaxOptions(name="umax", lr=0.1, bias=False),
    "implicit": DoubleSumOptions(name="implicit", lr=1.0, bias=False),
}

Formula = Callable[[float, float, float, float, float], tuple[float, float, float]]


def umax(T: float, drawn: float, u: float, rate: float, norm: float) -> tuple[float, float, float]:
    """As `xcbench.core.objectives.double_sum`, for floats and threshold 1."""
    floor = max(drawn, 0.0) + math.log1p(math.exp(-abs(drawn)))
    if u < floor - 1.0:
        u = floor
    excess, shrunk = math.exp(T - u), math.exp(-u)
    value = u + shrunk + excess - 1.0
    return value, excess, max(0.0, u - rate * (1.0 - shrunk - excess))


def implicit(
    T: float, drawn: float, u: float, rate: float, norm: float
) -> tuple[float, float, float]:
    """As `xcbench.core.objectives.implicit`, for floats."""
    value = u + math.exp(-u) + math.exp(T - u) - 1.0
    half, start = 0.5 / norm, u
    C = T + math.log(rate / half)
    above = min(C, math.log(max(C, 1.0)))
    s = min(above, C - start, math.log(max(C - start, 1.0)))
    for _ in range(NEWTON_STEPS):
        a = math.exp(s)
        u = C - s - a
        pull, bent = rate * math.exp(-u), a * half
        change = (bent - rate + pull - u + start) / (bent + (1.0 + a) * (1.0 + pull))
        s = min(above, s - change)
        if abs(change) <= CONVERGED:
            break
    a = math.exp(s)
    return value, a / (2.0 * norm * rate), max(0.0, C - s - a)


FORMULAS: dict[str, Formula] = {"umax": umax, "implicit": implicit}


def numpy_loop(work: Work, formula: Formula) -> Callable[[], float]:
    """Weight rows by fancy indices; one array for what both rows move by."""
    V, chunk, local = work.model.V, work.chunk, work.local
    rate, log_weight = work.solver.optimizer.rate(0), float(chunk.log_weight)
    assert chunk.classes is not None
    pairs, index = chunk.classes.tolist(), chunk.index.tolist()
    norms, rows = chunk.square_norms.tolist(), list(chunk.rows)

    def run() -> float:
        total = 0.0
        for (features, values), i, norm, (y, k) in zip(rows, index, norms, pairs, strict=True):
            true, drawn = V[y], V[k]
            of_true, of_drawn = true[features], drawn[features]
            difference = float((of_drawn - of_true).dot(values))
            value, pull, local[i] = formula(
                difference + log_weight, difference, float(local[i]), rate, norm
            )
            shift = np.float32(rate * pull) * values
            true[features] = of_true + shift
            drawn[features] = of_drawn - shift
            total += value
        return total

    return run


def torch_loop(work: Work, formula: Formula) -> tuple[Callable[[], float], np.ndarray]:
    """The same in torch's eager mode; and the weights it moves."""
    import torch

    chunk, local = work.chunk, work.local.tolist()
    V = torch.from_numpy(work.model.V)
    rate, log_weight = work.solver.optimizer.rate(0), float(chunk.log_weight)
    assert chunk.classes is not None
    pairs, index = chunk.classes.tolist(), chunk.index.tolist()
    norms = chunk.square_norms.tolist()
    rows = [
        (torch.from_numpy(features.astype(np.int64)), torch.from_numpy(values.copy()))
        for features, values in chunk.rows
    ]

    def run() -> float:
        total = 0.0
        with torch.inference_mode():
            for (features, values), i, norm, (y, k) in zip(rows, index, norms, pairs, strict=True):
                true, drawn = V[y], V[k]
                of_true, of_drawn = true[features], drawn[features]
                difference = float((of_drawn - of_true).dot(values))
                value, pull, local[i] = formula(
                    difference + log_weight, difference, local[i], rate, norm
                )
                shift = values * (rate * pull)
                true.index_add_(0, features, shift)
                drawn.index_add_(0, features, shift, alpha=-1.0)
                total += value
        return total

    return run, work.model.V


def run() -> list[Row]:
    """Seconds an update."""
    dataset, rows = eurlex(), []
    for name, settings in SETTINGS.items():
        works = {
            label: Work.of(dataset, settings, engine, rows=ROWS)
            for label, engine in (
                ("ours", "numba"),
                ("engine=numpy", "numpy"),
                ("careful NumPy loop", "numpy"),
                ("torch eager loop", "numpy"),
            )
        }
        candidates = {
            "ours": works["ours"].updates,
            "engine=numpy": works["engine=numpy"].updates,
            "careful NumPy loop": numpy_loop(works["careful NumPy loop"], FORMULAS[name]),
            "torch eager loop": torch_loop(works["torch eager loop"], FORMULAS[name])[0],
        }
        for label, loops in c_loops.libraries().items():
            works[label] = Work.of(dataset, settings, "numba", rows=ROWS)
            candidates[label] = c_loops.sequential(loops, works[label], name)
        for run_once in candidates.values():
            run_once()
        for label, work in works.items():  # all made the same updates
            error = np.abs(work.model.V - works["ours"].model.V).max()
            assert error <= 1e-4 * np.abs(works["ours"].model.V).max(), (label, error)
        seconds = interleaved(candidates, units=ROWS)
        for label in list(seconds)[1:]:
            goal = 0.0 if label.startswith("torch") else GOALS[name]
            goal = c_loops.GOAL if label.startswith("C ") else goal
            row = f"{name} vs {label}, s/update"
            rows.append(Row(row, shape(dataset), seconds["ours"], seconds[label], goal))
        rows += c_loops.limits(name, "s/update", shape(dataset), seconds, "careful NumPy loop")
    return rows
