"""A task for another machine: a few jobs, with cells saved in ``runs/``."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xcbench
from xcbench import plugins
from xcbench.errors import UserError
from xcbench.plan.job import Job
from xcbench.run import runner
from xcbench.store import cells

ALONE = threading.Lock()  # cells of one process share its folder, its clock and BLAS's threads
Handle = Any  # what an executor knows a task by


@dataclass(frozen=True)
class Task:
    """Jobs that run in lockstep or one by one, and the environment they need.

    Attributes
    ----------
    folder : working directory of the launch.
    places : Python's module search path.
    version : version of xcbench.
    jobs : as JSON; their methods may be defined in ``folder``.
    """

    folder: str
    places: tuple[str, ...]
    version: str
    jobs: tuple[str, ...]

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> Task:
        """Task of a launch in this process."""
        return cls(
            folder=os.getcwd(),
            places=tuple(sys.path),
            version=xcbench.__version__,
            jobs=tuple(job.to_json() for job in jobs),
        )


@dataclass(frozen=True)
class Result:
    """Result of a task: start times of its cells, or why there are none."""

    seconds: float = 0.0
    started: tuple[float, ...] = ()
    problem: str = ""
    log: str = ""


def work(task: Task) -> Result:
    """Run the jobs of a task and save their cells."""
    with ALONE:
        try:
            with chdir(task.folder):
                return _work(task)
        except Exception as error:  # an engine would say it in a page, each its own
            return Result(problem=plugins.failure(error), log=traceback.format_exc())


def _work(task: Task) -> Result:
    if task.version != xcbench.__version__:
        raise UserError(
            f"the worker has xcbench {xcbench.__version__} and the launch {task.version}: "
            "install the same on both"
        )
    sys.path += [place for place in task.places if place not in sys.path]
    jobs = [Job.of_json(text) for text in task.jobs]
    began = time.perf_counter()
    ran = runner.run(jobs)
    for job, cell in zip(jobs, ran, strict=True):
        cells.save(Path(job.settings.runs_dir), cell)
    return Result(time.perf_counter() - began, tuple(cell.started for cell in ran))
