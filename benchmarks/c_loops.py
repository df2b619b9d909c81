"""The loops of `loops.c`, compiled on the spot where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.shapes import Work
from xcbench.core.objectives.implicit import CONVERGED, NEWTON_STEPS

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = {  # a compiler may add numbers in another order only under -ffast-math
    "C -O3 -march=native": ("-O3", "-march=native"),
    "C -O3 -march=native -ffast-math": ("-O3", "-march=native", "-ffast-math"),
}
SEPARATE = {"C -O3 -march=native, scores apart": ("-O3", "-march=native", "-DSEPARATE")}
CONSTANTS = (f"-DNEWTON_STEPS={NEWTON_STEPS}", f"-DCONVERGED={CONVERGED!r}")
GOAL = 1 / 1.3  # ours takes at most 1.3 times as long
TYPES = {int: ctypes.c_int64, float: ctypes.c_double}


@cache
def libraries() -> dict[str, ctypes.CDLL]:
    """The loops compiled with `FLAGS` and `SEPARATE`; without a compiler a line, and no loops."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler (cc, gcc, clang): nothing is compared with C")
        return {}
    loaded = {}
    with TemporaryDirectory() as folder:
        for number, (name, flags) in enumerate({**FLAGS, **SEPARATE}.items()):
            target = str(Path(folder) / f"loops{number}.so")
            shared = (*flags, *CONSTANTS, "-shared", "-fPIC")
            subprocess.run([compiler, *shared, str(SOURCE), "-o", target, "-lm"], check=True)
            loaded[name] = ctypes.CDLL(target)
    return loaded


def call(loop: Any, *arguments: Any) -> Callable[[], object]:
    """A call of a loop with integers, floats and arrays; of these it has the addresses."""
    return partial(loop, *map(converted, arguments))


def converted(argument: Any) -> Any:
    """A number as C has it, or the address of an array, which keeps it."""
    if type(argument) in TYPES:
        return TYPES[type(argument)](argument)
    return np.ascontiguousarray(argument).ctypes.data_as(ctypes.c_void_p)


def sequential(loops: ctypes.CDLL, work: Work, name: str) -> Callable[[], object]:
    """Updates of a chunk, one after the other, by a loop of this name.

    It moves the weights and the local state of ``work``, which is of the compiled engine.
    """
    V, chunk = work.model.V, work.chunk
    state = (work.classes, chunk.index, np.asarray(chunk.square_norms, np.float64), work.local)
    steps = float(work.solver.optimizer.rate(0)), float(chunk.log_weight)
    return call(loops[name], len(chunk), V, V.shape[1], *work.rows, *state, *steps)


def minibatch(loops: ctypes.CDLL, work: Work, rate: float) -> Callable[[], object]:
    """A step of one-vs-each on a whole chunk."""
    V, weight = work.model.V, float(np.exp(work.chunk.log_weight))
    size = (*work.classes.shape, V, V.shape[1])
    return call(loops.ove, *size, *work.rows, work.classes, rate, weight)
