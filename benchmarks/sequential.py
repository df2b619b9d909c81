"""One observation and one drawn class an update: U-max and Implicit SGD, EURLex's shape.

Drawing classes and fetching rows stand outside the clock, for all candidates. The careful loop
takes NumPy for the rows and plain floats for the formula, whose NumPy form is slow on single
numbers; the loop of ``engine=numpy`` is the one of the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from benchmarks import c_loops
from benchmarks.shapes import Work, eurlex, shape, twin
from benchmarks.table import Candidate, Row, ratios
from xcbench.core.dataset import Dataset
from xcbench.core.objectives.implicit import CONVERGED, NEWTON_STEPS
from xcbench.methods.double_sum import DoubleSumOptions
from xcbench.methods.umax import UmaxOptions

ROWS = 4096
GOALS = {"umax": 8.0, "implicit": 15.0}
SETTINGS = {
    "umax": UmaxOptions(name="umax", lr=0.1, bias=False, step="gradient"),
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
Peer = Callable[..., Callable[[], object]]


def observations(work: Work) -> Iterator[tuple[int, float, tuple[int, int]]]:
    """Number, square norm, and true and drawn class of every row."""
    chunk = work.chunk
    pairs = map(tuple, work.classes.tolist())
    return zip(chunk.index.tolist(), chunk.square_norms.tolist(), pairs, strict=True)


def numpy_loop(work: Work, formula: Formula) -> Callable[[], float]:
    """Weight rows by fancy indices; one array for what both rows move by."""
    V, local, log_weight = work.model.V, work.local, float(work.chunk.log_weight)
    rate, drawn_rows = work.solver.optimizer.rate(0), [*observations(work)]
    rows = list(work.chunk.rows)

    def run() -> float:
        total = 0.0
        for (features, values), (i, norm, (y, k)) in zip(rows, drawn_rows, strict=True):
            true, drawn = V[y], V[k]
            of_true, of_drawn = true[features], drawn[features]
            difference = float((of_drawn - of_true).dot(values))
            value, grad, local[i] = formula(
                difference + log_weight, difference, float(local[i]), rate, norm
            )
            shift = np.float32(rate * grad) * values
            true[features] = of_true + shift
            drawn[features] = of_drawn - shift
            total += value
        return total

    return run


def torch_loop(work: Work, formula: Formula) -> Callable[[], float]:
    """The same in torch's eager mode."""
    import torch

    V, local = torch.from_numpy(work.model.V), work.local.tolist()
    log_weight = float(work.chunk.log_weight)
    rate, drawn_rows = work.solver.optimizer.rate(0), [*observations(work)]
    rows = [
        (torch.from_numpy(features.astype(np.int64)), torch.from_numpy(values.copy()))
        for features, values in work.chunk.rows
    ]

    def run() -> float:
        total = 0.0
        with torch.inference_mode():
            for (features, values), (i, norm, (y, k)) in zip(rows, drawn_rows, strict=True):
                true, drawn = V[y], V[k]
                of_true, of_drawn = true[features], drawn[features]
                difference = float((of_drawn - of_true).dot(values))
                value, grad, local[i] = formula(
                    difference + log_weight, difference, local[i], rate, norm
                )
                shift = values * (rate * grad)
                true.index_add_(0, features, shift)
                drawn.index_add_(0, features, shift, alpha=-1.0)
                total += value
        return total

    return run


PEERS: dict[str, Peer] = {
    "engine=numpy": lambda work, formula: work.updates,
    "careful NumPy loop": numpy_loop,
    "torch eager loop": torch_loop,
}


def run() -> list[Row]:
    """Seconds an update; of rows of four numbers beside C alone: what does not grow with a row."""
    short = twin(15539, 5000, 896, 4)
    rows = []
    for name in SETTINGS:
        rows += compared(name, eurlex(), PEERS, name)
        rows += compared(name, short, {}, f"{name}, short rows")
    return rows


def compared(name: str, dataset: Dataset, peers: Mapping[str, Peer], label: str) -> list[Row]:
    """Ours, these peers and the loops in C, each with the same draws and weights of its own."""

    def candidate(engine: str, loop: Callable[[Work], Callable[[], object]]) -> Candidate:
        work = Work(dataset, SETTINGS[name], engine, rows=ROWS)
        return Candidate(loop(work), lambda: work.model.V)

    loops = c_loops.libraries()
    candidates = {
        "ours": candidate("numba", lambda work: work.updates),
        **{
            peer: candidate("numpy", partial(loop, formula=FORMULAS[name]))
            for peer, loop in peers.items()
        },
        **{
            flags: candidate("numba", partial(c_loops.sequential, library, name=name))
            for flags, library in loops.items()
        },
    }
    goals = dict.fromkeys(("engine=numpy", "careful NumPy loop"), GOALS[name])
    goals |= dict.fromkeys(loops, c_loops.GOAL)
    return ratios(
        shape(dataset),
        candidates,
        {peer: goal for peer, goal in goals.items() if peers and peer in candidates},
        label=f"{label} ",
        unit="s/update",
        units=ROWS,
        limits=("careful NumPy loop", loops) if peers else ("", ()),
    )
