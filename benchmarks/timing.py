"""Interleaved timing: one candidate after the other, round after round, in one process.

The clock is the CPU time of the process: on one core with one thread it is the wall clock's time,
less what other programs took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

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
