"""Limits of processor seconds: cells run in a process that can be killed, as libraries cannot."""

from __future__ import annotations

import math
import multiprocessing
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from xcbench.board import tuning
from xcbench.core.dataset import Info
from xcbench.plan.job import Job
from xcbench.run import runner
from xcbench.run.execute import execute
from xcbench.system.processes import INTERRUPTED

FORK = multiprocessing.get_context("fork")


def within(seconds: float, jobs: Sequence[Job]) -> int:
    """Compile what cells need, and run them within a total of processor seconds.

    Returns the exit code.
    """
    _warm(jobs[0])
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
    return execute(jobs)


def isolated(run: Callable[[], object]) -> int:
    """Run a function in a process that can be killed, since libraries have no time limit.

    Cells that ended before the limit are kept.
    """
    process = FORK.Process(target=_interruptible, args=(run,))
    process.start()
    try:
        process.join()
    except KeyboardInterrupt:
        process.join()
        return INTERRUPTED
    if process.exitcode == -signal.SIGXCPU:
        print(" ended: it took far more than its processor seconds")
        return 0
    return process.exitcode or 0


def _interruptible(run: Callable[[], object]) -> None:
    try:
        run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


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
