"""The training clock, and the epochs at which a solver yields."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from xcbench.config.settings import Budget
from xcbench.system import processes

LOOK = 0.1  # seconds of training between two looks at the clock, about
SHORTEST = 1e-9  # epochs before the first look


class Stopwatch:
    """Wall-clock seconds, without those in which the process was suspended.

    A suspended process receives SIGCONT when it continues. The system does not say how long it was
    suspended, so for such an interval processor time is counted instead. `time.perf_counter`
    excludes the sleep of a machine. Only a main thread receives the signal.

    Parameters
    ----------
    processor : count processor time of all threads in any case.
    """

    def __init__(self, processor: bool = False) -> None:
        self.seconds, self.suspended, self.processor = 0.0, False, processor
        self.before: processes.Handler = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGCONT, self._resume)
        return self

    def __exit__(self, *error: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGCONT, self.before)

    def _resume(self, *arguments: object) -> None:
        self.suspended = True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run."""
        self.suspended = False
        started, worked = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            wall, work = time.perf_counter() - started, time.process_time() - worked
            self.seconds += work if self.processor else min(wall, work) if self.suspended else wall


class Stops:
    """Epochs of the checkpoints and, in between, of looks at the clock.

    The epoch of a look is computed when a solver asks for it, from the training time since the last
    look. So looks are about `LOOK` seconds apart, however long an epoch takes.

    Parameters
    ----------
    checkpoints : epochs of the evaluations.
    clock : training clock, paused while the solver is.
    looking : whether to look at the clock between checkpoints.
    """

    def __init__(self, checkpoints: list[float], clock: Stopwatch, looking: bool) -> None:
        self.checkpoints, self.clock, self.looking = checkpoints, clock, looking
        self.numbers = [0]  # of the checkpoint at every stop, the start first; -1 for a look

    def __iter__(self) -> Iterator[float]:
        at, stretch = 0.0, SHORTEST
        for number, checkpoint in enumerate(self.checkpoints, start=1):
            while self.looking and at + stretch < checkpoint:
                at += stretch
                before = self.clock.seconds
                self.numbers.append(-1)
                yield at
                spent = self.clock.seconds - before
                stretch = max(SHORTEST, stretch * (min(2.0, LOOK / spent) if spent else 2.0))
            at = checkpoint
            self.numbers.append(number)
            yield checkpoint

    def checkpoint(self, stop: int) -> int:
        """Number of the checkpoint at a stop, 0 for the start; -1 for a look at the clock."""
        return self.numbers[stop] if stop < len(self.numbers) else len(self.checkpoints)

    def is_last(self, stop: int) -> bool:
        """Whether it is the start or the last checkpoint, which are always evaluated."""
        return self.checkpoint(stop) in (0, len(self.checkpoints))


def checkpoints(budget: Budget, passes: float) -> list[float]:
    """Epochs of the evaluations after the one at the start."""
    if budget.times:
        return [passes]
    count = budget.checkpoints
    if budget.ratio == 1:
        return [passes * (i + 1) / count for i in range(count)]
    return [passes * budget.ratio ** (i + 1 - count) for i in range(count)]
