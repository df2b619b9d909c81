"""Environment of a cell: machine, system and numerical libraries."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from threadpoolctl import threadpool_info

import xcbench
from xcbench.core import engines
from xcbench.options import Content
from xcbench.store import checkout

COMPUTING = ("numpy", "scipy", "scikit-learn", "pandas")
BASELINES = ("napkinxc", "omikuji", "nmslib", "vowpalwabbit", "libmultilabel")


def of(engine: str) -> Content:
    """Versions, BLAS and its threads, processor and system: recorded with every cell."""
    compiler = {"llvmlite": metadata.version("llvmlite")} if engine == "numba" else {}
    return {**_of_process(), **engines.versions(engine), **compiler}


def baselines() -> dict[str, str]:
    """Versions of the baseline libraries used by this process."""
    return {name: metadata.version(name) for name in BASELINES if name in sys.modules}


@cache
def _of_process() -> dict[str, object]:
    return {
        "xcbench": xcbench.__version__,
        **checkout.commit(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in COMPUTING},
        "machine": platform.machine(),
        "cpu": _processor(),
        "cpus": os.cpu_count(),
        "os": platform.platform(),
        **_blas(),
    }


def _processor() -> str:
    """Model of the processor, as the system names it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _blas() -> dict[str, object]:
    """The BLAS of NumPy, and that of SciPy where it has its own and has loaded it."""
    libraries = [it for it in threadpool_info() if it["user_api"] == "blas"]
    of_scipy = [it for it in libraries if "scipy.libs" in it["filepath"]]
    of_numpy = [it for it in libraries if it not in of_scipy] or of_scipy
    first: dict[str, object] = of_numpy[0] if of_numpy else {}
    others = [_named(it) for it in of_scipy if it is not first]
    return {
        "blas": _named(first),
        **({"scipy_blas": others[0]} if others else {}),
        "blas_core": first.get("architecture", "unknown"),
        "blas_threads": max((it["num_threads"] for it in libraries), default=1),
    }


def _named(library: dict[str, object]) -> str:
    return f"{library.get('internal_api', 'unknown')} {library.get('version', '')}".strip()
