"""A whole command: OVE, U-max and Implicit SGD on MNIST (20 epochs), with both engines."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import Row

ROOT = Path(__file__).parents[1]
COMMAND = ["-m", "method=ove,umax,implicit", "dataset=mnist", "fetch=false"]


def seconds(engine: str, cache: str) -> tuple[float, bool]:
    """Wall time of a sweep into a fresh folder; whether it ran on the twin."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        command = [sys.executable, "run.py", *COMMAND, f"engine={engine}", f"runs_dir={runs}"]
        started = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
        )
        elapsed = time.perf_counter() - started
    return elapsed, "mnist-twin" in done.stdout + done.stderr


def run() -> list[Row]:
    """Seconds of the command; with Numba's compiler on the first call, and without."""
    with tempfile.TemporaryDirectory() as cache:
        first, twin = seconds("numba", cache)
        numpy, _ = seconds("numpy", cache)
        numba, _ = seconds("numba", cache)
    where = "MNIST's synthetic twin" if twin else "MNIST"
    return [
        Row("engine=numba vs engine=numpy, s", where, numba, numpy),
        Row("engine=numba, compiling first, vs engine=numpy, s", where, first, numpy),
    ]
