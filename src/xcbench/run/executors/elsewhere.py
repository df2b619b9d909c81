"""Run the jobs of a launch as tasks of an engine."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from xcbench.plan.job import Job
from xcbench.run.executors.task import Handle, Result, Task
from xcbench.run.leases import Queue
from xcbench.run.workers import Outcome, shared
from xcbench.store import cells
from xcbench.store.cell import Cell

PAUSE = 0.1  # seconds between looks at what has ended
VISIBLE = 10.0  # seconds until a shared file system shows what another machine wrote


class LostTask(Exception):
    """A task ended without a result; has the reason and its output."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.reason, self.log = reason, log


class Executor(ABC):
    """Contract of an engine that runs tasks, made of the settings of a launch and its runs folder.

    Attributes
    ----------
    at_once : cells that may run side by side.
    """

    at_once: int

    def room(self, running: int) -> int:
        """Number of further tasks it accepts while some are running."""
        return self.at_once - running

    @abstractmethod
    def submit(self, tasks: Sequence[Task]) -> Sequence[Handle]:
        """Submit tasks; returns the engine's handles."""

    @abstractmethod
    def ended(self, tasks: Sequence[Handle]) -> Sequence[Handle]:
        """Tasks that have ended, successfully or not."""

    @abstractmethod
    def result(self, task: Handle) -> Result:
        """Result of a task that has ended; raises `LostTask` if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Cancel running tasks and release the engine."""


def run(queue: Queue, executor: Executor) -> Iterator[Outcome]:
    """Run the jobs of a queue and yield their outcomes, in order of completion."""
    running: dict[Handle, tuple[list[Job], float]] = {}
    try:
        while queue or running:
            groups: list[list[Job]] = []
            room = executor.room(len(running))
            while len(groups) < room and (taken := queue.take()):
                group, cell = taken
                if cell is not None:
                    yield Outcome(group[0], cell)
                else:
                    groups.append(group)
            if groups:
                tasks = executor.submit([Task.of(group) for group in groups])
                now = time.perf_counter()
                running |= {task: (group, now) for task, group in zip(tasks, groups, strict=True)}
            ended = executor.ended([*running])
            for task in ended:
                yield from _outcomes(queue.runs_dir, executor, task, *running.pop(task))
            if not ended:
                time.sleep(PAUSE)
    finally:
        executor.close()


def _outcomes(
    runs_dir: Path, executor: Executor, task: object, jobs: Sequence[Job], since: float
) -> Iterator[Outcome]:
    """Cells of a task that has ended; where they are not there, some that say why."""
    try:
        result = executor.result(task)
        if result.problem:
            raise LostTask(result.problem, result.log)
        for job, started in zip(jobs, result.started, strict=True):
            cell = _saved(runs_dir, job, started)
            yield Outcome(job, cell, result.seconds / len(jobs), saved=True)
    except LostTask as lost:
        failed = [
            replace(job.cell, status="failed", message=lost.reason, traceback=lost.log or None)
            for job in jobs
        ]
        yield from shared(jobs, failed, since)


def _saved(runs_dir: Path, job: Job, started: float) -> Cell:
    """The cell that a task left, as soon as it can be seen from here."""
    end = time.monotonic() + VISIBLE
    while True:
        cell = cells.usable(runs_dir, job.cell.cell)
        if cell is not None and cell.started == started:
            return cell
        if time.monotonic() > end:
            raise LostTask(
                f"it ran, but its files are not in {runs_dir}: put runs_dir on a file system that "
                "all machines share"
            )
        time.sleep(PAUSE)
        with suppress(OSError):
            os.listdir(runs_dir / "cells")  # a network's file system looks anew
