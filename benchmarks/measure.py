"""Time and memory: of candidates in turn in one process, of a fresh process, of a command.

The clock of `interleaved` and `repeated` is the CPU time of the process: on one core with one
thread it is the wall clock's time, less what other programs took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xcbench.system import processes

ROOT = Path(__file__).parents[1]
ROUNDS = 5


def interleaved(
    candidates: Mapping[str, Callable[[], object]], rounds: int = ROUNDS, units: int = 1
) -> dict[str, float]:
    """Median seconds a unit of every candidate.

    At its turn a candidate runs once untimed, so that the caches hold its data and not those of
    the one before it, then for at least a tenth of a second: training goes on and on.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            seconds[name].append(repeated(run, least=0.1, rounds=1) / units)
    return {name: float(np.median(timings)) for name, timings in seconds.items()}


def repeated(run: Callable[[], object], least: float = 0.02, rounds: int = ROUNDS) -> float:
    """Median seconds of a call; short calls are repeated to last ``least`` seconds together."""
    run()
    started = time.process_time()
    run()
    calls = max(1, int(least / max(time.process_time() - started, 1e-9)))
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(calls):
            run()
        seconds.append((time.process_time() - started) / calls)
    return float(np.median(seconds))


def in_process(function: Callable[..., Iterator[Any]], *arguments: Any) -> tuple[list[Any], int]:
    """What a function yields in a fresh process, until it ends or is ended; its exit code."""
    receiver, process = processes.spawned(_send, function, arguments)
    results = []
    with suppress(EOFError):
        while True:
            results.append(receiver.recv())
    process.join()
    return results, process.exitcode or 0


def _send(sender: Connection, function: Callable[..., Iterator[Any]], arguments: Any) -> None:
    for result in function(*arguments):
        sender.send(result)


class Spent(NamedTuple):
    """Seconds and memory of a command with the processes that it started, and its exit code."""

    wall: float
    cpu: float
    peak_mib: int
    code: int


def command(
    *words: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    pinned: bool = False,
    check: bool = True,
) -> Spent:
    """Run a Python command as users start it: on every core, with the libraries' own threads.

    Parameters
    ----------
    environment : variables beside those of this process.
    pinned : whether it stays on this process's core, with one thread.
    check : whether another exit code than 0 is an error.
    """
    inherited = {name: it for name, it in os.environ.items() if pinned or "_THREADS" not in name}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**inherited, **(environment or {})},
        preexec_fn=None if pinned else _every_core,
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    peak_mib = round(used.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024))
    return Spent(wall, used.ru_utime + used.ru_stime, peak_mib, process.returncode)


def _every_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
