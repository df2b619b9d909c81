"""Limits of processor seconds: cells run in a process that can be killed, as libraries cannot."""

from __future__ import annotations

import math
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from xcbench.board import tuning
from xcbench.core.dataset import Info
from xcbench.errors import UserError, one_line
from xcbench.plan.job import Job
from xcbench.run import runner, workers
from xcbench.run.execute import execute
from xcbench.run.leases import Leases
from xcbench.store import cells
from xcbench.store.cell import OVERTIME
from xcbench.system import memory
from xcbench.system.processes import INTERRUPTED, end_with_parent, interruptible, without_signals
from xcbench.units import printable

FORK = multiprocessing.get_context("fork")
WRONG = 2  # exit code where an error was said


def within(seconds: float, jobs: Sequence[Job]) -> int:
    """Compile what cells need, and run them within a total of processor seconds.

    Returns the exit code.
    """
    _warm(jobs[0])
    end = math.ceil(time.process_time() + seconds)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)  # of a shell or a batch system
    end = end if most == resource.RLIM_INFINITY else min(end, most)
    resource.setrlimit(resource.RLIMIT_CPU, (end, most))
    return execute(jobs)


def isolated(run: Callable[[], int]) -> int:
    """Run a function in a process that can be killed, since libraries have no time limit.

    Cells that ended before the limit are kept.

    Returns
    -------
    int
        Its exit code; of a process that a signal ended, minus the number of the signal.
    """
    process = FORK.Process(target=_interruptible, args=(run,))
    try:
        with without_signals():  # one that came meanwhile interrupts as this ends
            process.start()
        process.join()
    except KeyboardInterrupt:
        if process.pid is not None:
            process.terminate()
            process.join()
        return INTERRUPTED
    if process.exitcode == -signal.SIGXCPU:
        print(" ended: it took far more than its processor seconds")
    return process.exitcode or 0


def _interruptible(run: Callable[[], int]) -> None:
    """Run a function; Ctrl-C of the terminal waits for ever, as the parent passes it on."""
    end_with_parent()
    with interruptible():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        try:
            code = run()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except (UserError, OSError) as error:
            print(f"error: {printable(one_line(error))}", file=sys.stderr)
            code = WRONG
    raise SystemExit(code)


def explained(job: Job, number: int, limit: float) -> bool:
    """Whether a cell has a result, once a signal ended its process.

    If not, the reason is saved where it is the cell's: its limit, too little memory, or a library
    that crashed. A process that somebody killed tells nothing of its cells.
    """
    runs_dir, name = Path(job.settings.runs_dir), job.cell.cell
    leases = Leases(runs_dir)
    left = leases.take(name)
    if left is None:  # another launch runs it
        return False
    try:
        if cells.usable(runs_dir, name) is None:
            reason = _reason(number, limit, left)
            if reason:
                cells.save(runs_dir, replace(job.cell, status="failed", message=reason))
            return bool(reason)
    finally:
        leases.release(name)
    return True


def _reason(number: int, limit: float, left: str) -> str:
    """Why a cell has no result; with what its claim held if it had begun."""
    if number == signal.SIGXCPU:
        return f"{OVERTIME} {limit:.0f} processor seconds"
    if memory.killed_since(left):
        return memory.KILLED
    return workers.KILLED.format(number) if left and number != signal.SIGKILL else ""


def _warm(job: Job) -> None:
    """Compile and import all that steps need: with looks at the clock, more than a warm-up sees.

    Not of a training that cannot be stopped.
    """
    settings = job.settings
    if not (isinstance(job.info, Info) and tuning.solver(settings, job.info).interruptible):
        return
    few = replace(settings.evaluation, rows=1, train_rows=1, curve_rows=0)
    brief = replace(settings.budget, seconds=1e-3)
    runner.run([replace(job, settings=replace(settings, budget=brief, evaluation=few))])
