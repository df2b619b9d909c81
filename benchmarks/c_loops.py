"""The loops of `loops.c`, compiled on the spot where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.shapes import Work
from benchmarks.table import Row
from xcbench.core.objectives.implicit import CONVERGED, NEWTON_STEPS

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = {  # a compiler may add numbers in another order only under -ffast-math
    "C -O3 -march=native": ("-O3", "-march=native"),
    "C -O3 -march=native -ffast-math": ("-O3", "-march=native", "-ffast-math"),
}
APART = {"C -O3 -march=native, scores apart": ("-O3", "-march=native", "-DAPART")}
CONSTANTS = (f"-DNEWTON_STEPS={NEWTON_STEPS}", f"-DCONVERGED={CONVERGED!r}")
GOAL = 1 / 1.3  # ours takes at most 1.3 times as long


@cache
def libraries() -> dict[str, ctypes.CDLL]:
    """The loops compiled with `FLAGS` and `APART`; none, which is said, without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler (cc, gcc, clang): nothing is compared with C")
        return {}
    loaded = {}
    with TemporaryDirectory() as folder:
        for number, (name, flags) in enumerate({**FLAGS, **APART}.items()):
            target = str(Path(folder) / f"loops{number}.so")
            shared = (*flags, *CONSTANTS, "-shared", "-fPIC")
            subprocess.run([compiler, *shared, str(SOURCE), "-o", target, "-lm"], check=True)
            loaded[name] = ctypes.CDLL(target)
    return loaded


def _pointers(*arrays: np.ndarray) -> list[Any]:
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]


def _rows(work: Work) -> tuple[list[np.ndarray], np.ndarray]:
    """Begin, end, features and values of the chunk's rows, and its classes."""
    rows = work.chunk.rows.record
    assert work.chunk.classes is not None and rows.features is not None
    arrays = [rows.begin, rows.end, rows.features, rows.values]
    return [np.ascontiguousarray(array) for array in arrays], np.ascontiguousarray(
        work.chunk.classes
    )


def sequential(loops: ctypes.CDLL, work: Work, name: str) -> Callable[[], float]:
    """Updates of a chunk, one after the other, by a loop of this name.

    It moves the weights and the local state of ``work``, which is of the compiled engine.
    """
    loop = loops[name]
    loop.restype = ctypes.c_double
    rows, pairs = _rows(work)
    V, chunk = work.model.V, work.chunk
    kept = (*rows, pairs, chunk.index, np.asarray(chunk.square_norms, np.float64), work.local)
    begin, end, features, values, *others = _pointers(*kept)
    n, D = ctypes.c_int64(len(chunk)), ctypes.c_int64(V.shape[1])
    rate, log_weight = work.solver.optimizer.rate(0), float(chunk.log_weight)

    def run() -> float:
        return float(
            loop(
                n,
                *_pointers(V),
                D,
                begin,
                end,
                features,
                values,
                *others,
                ctypes.c_double(rate),
                ctypes.c_double(log_weight),
            )
        )

    run.kept = kept  # type: ignore[attr-defined]  # C has only their addresses
    return run


def minibatch(loops: ctypes.CDLL, work: Work, rate: float) -> Callable[[], None]:
    """A step of one-vs-each on a whole chunk."""
    rows, classes = _rows(work)
    V = work.model.V
    kept = (*rows, classes)
    begin, end, features, values, chosen = _pointers(*kept)
    shape = [ctypes.c_int64(number) for number in classes.shape]
    weight = float(np.exp(work.chunk.log_weight))

    def run() -> None:
        loops.ove(
            *shape,
            *_pointers(V),
            ctypes.c_int64(V.shape[1]),
            begin,
            end,
            features,
            values,
            chosen,
            ctypes.c_double(rate),
            ctypes.c_double(weight),
        )

    run.kept = kept  # type: ignore[attr-defined]
    return run


def limits(
    method: str, unit: str, where: str, seconds: Mapping[str, float], peer: str
) -> list[Row]:
    """What each loop in C reaches against a peer that ours has a goal against."""
    named = f"{method} " if method else ""
    return [
        Row(f"limit: {named}{name} vs {peer}, {unit}", where, seconds[name], seconds[peer])
        for name in (*FLAGS, *APART)
        if name in seconds
    ]
