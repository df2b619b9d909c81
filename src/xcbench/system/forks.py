"""Independent calls side by side, in processes that are forked from this one."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, TypeVar

from xcbench.system import processes

Item = TypeVar("Item")
Result = TypeVar("Result")
_inherited: list[Callable[[], Any]] = []  # the calls, in a forked process


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """What a function gives of every item, in their order; a process a core, if there are several.

    Function and items are inherited, so that they may be anything; results are sent back.
    """
    some = list(items)
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if processes.childless() or min(cores, len(some)) < 2:
        return [function(item) for item in some]
    calls = [lambda item=item: function(item) for item in some]
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(min(cores, len(some)), fork, partial(_inherit, calls))
    try:
        with processes.without_signals():  # the first call starts the processes
            waiting = [pool.submit(_call, number) for number in range(len(some))]
        return [result.result() for result in waiting]
    except BrokenProcessPool:
        raise MemoryError("the system killed a process") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _inherit(calls: Sequence[Callable[[], Any]]) -> None:
    processes.end_with_parent()
    _inherited[:] = calls


def _call(number: int) -> Any:
    return _inherited[number]()
