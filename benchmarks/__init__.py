"""Timings of xcbench against NumPy, SciPy and PyTorch; ``python -m benchmarks`` runs all of them.

``python -m benchmarks…`` pins the process to one core with one thread in every library; it has to
happen before NumPy is imported. To import the package pins nothing.
"""

import os
import sys

if any(word.split(".")[0] == "benchmarks" for word in sys.orig_argv):
    for _name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"):
        os.environ[f"{_name}_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
