"""Threads: one for BLAS and OpenMP, one a free core for evaluation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, lru_cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
# What gives a process started with them a single thread.
LIMITS = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"


def one() -> AbstractContextManager[object]:
    """Context with one thread for BLAS and OpenMP, so that results do not depend on the cores."""
    return _libraries(len(sys.modules)).limit(limits=1)


def each(function: Callable[[Item], object], items: Sequence[Item]) -> None:
    """Call a function with every item; in threads if there are several.

    The calls must be independent; compiled code and BLAS run in parallel.
    """
    pool = _pool(os.getpid()) if len(items) > 1 else None
    waiting = [pool.submit(function, item) for item in items[1:]] if pool else []
    try:
        function(items[0])
    finally:
        done = [future.exception() for future in waiting]
    for problem in filter(None, done):
        raise problem


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked one has none of those of its parent."""
    return ThreadPoolExecutor(thread_name_prefix="xcbench")


@lru_cache(1)
def _libraries(modules: int) -> ThreadpoolController:
    """Libraries with threads of their own; finding them takes milliseconds, imports bring new ones.

    Parameters
    ----------
    modules : how many are imported.
    """
    return ThreadpoolController()
