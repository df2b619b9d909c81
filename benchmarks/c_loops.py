"""The loops of `loops.c`, compiled on the spot where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.shapes import Work
from xcbench.core.objectives.implicit import CONVERGED, NEWTON_STEPS

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")
CONSTANTS = (f"-DNEWTON_STEPS={NEWTON_STEPS}", f"-DCONVERGED={CONVERGED!r}")
GOAL = 1 / 1.3  # ours takes at most 1.3 times as long
NAME = "C -O3 -march=native -ffast-math"


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops; None, which is said, without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler (cc, gcc, clang): nothing is compared with C")
        return None
    with TemporaryDirectory() as folder:
        target = str(Path(folder) / "loops.so")
        subprocess.run([compiler, *FLAGS, *CONSTANTS, str(SOURCE), "-o", target, "-lm"], check=True)
        return ctypes.CDLL(target)


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


def sequential(work: Work, name: str) -> Callable[[], float] | None:
    """Updates of a chunk, one after the other, by a loop of this name; None without a compiler.

    It moves the weights and the local state of ``work``, which is of the compiled engine.
    """
    loops = library()
    if loops is None:
        return None
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


def minibatch(work: Work, rate: float) -> Callable[[], None] | None:
    """A step of one-vs-each on a whole chunk; None without a compiler."""
    loops = library()
    if loops is None:
        return None
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
