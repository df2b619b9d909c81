"""Timings of xcbench against NumPy, SciPy and PyTorch; ``python -m benchmarks`` runs all of them.

Importing the package pins the process to one core with one thread in every library; it has to
happen before NumPy is imported.
"""

import os

for _name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
