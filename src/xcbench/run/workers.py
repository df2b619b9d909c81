"""Run jobs in several processes, each with one BLAS thread; a crash loses one cell only."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from xcbench.plan.job import Job
from xcbench.run import runner
from xcbench.run.leases import Queue
from xcbench.store.cell import Cell
from xcbench.system import memory, threads
from xcbench.system.processes import childless, delayed, end_with_parent, spawned

PAUSE = 0.5  # seconds between looks at what other launches run
KILLED = "worker died: killed by signal {}"


class Outcome(NamedTuple):
    """Outcome of a job.

    Attributes
    ----------
    seconds : time it took here; None if another launch ran the cell.
    saved : whether the worker saved the cell in ``runs/``.
    """

    job: Job
    cell: Cell
    seconds: float | None = None
    saved: bool = False


def run(
    queue: Queue,
    workers: int,
    begin: Callable[[Sequence[Job]], None],
    watch: Callable[[float], None],
) -> Iterator[Outcome]:
    """Run jobs and yield their outcomes, in order of completion.

    Parameters
    ----------
    queue : the jobs.
    workers : number of processes; 1, or a process that may start none, runs the jobs in this one.
    begin, watch : called at a job's start and with its progress, if one runs at a time.
    """
    if workers == 1 or childless():
        while queue:
            taken = queue.take()
            if taken is None:
                time.sleep(PAUSE)
                continue
            group, cell = taken
            if cell is not None:
                yield Outcome(group[0], cell)
                continue
            begin(group)
            started = time.perf_counter()
            yield from shared(group, runner.run(group, watch), started)
        return
    idle, busy = [Worker() for _ in range(min(workers, len(queue)))], list[Worker]()
    with _single_threaded():
        try:
            while queue or busy:
                while idle and (taken := queue.take()):
                    group, cell = taken
                    if cell is not None:
                        yield Outcome(group[0], cell)
                        continue
                    busy.append(idle.pop())
                    busy[-1].start(group)
                handles = [handle for worker in busy for handle in worker.handles]
                wait(handles, PAUSE if idle and queue else None if busy else 0)
                for worker in [worker for worker in busy if worker.ready]:
                    busy.remove(worker)
                    idle.append(worker)
                    yield from worker.finish()
        finally:
            for worker in (*idle, *busy):
                worker.stop()


def shared(jobs: Sequence[Job], cells: Sequence[Cell], started: float) -> Iterator[Outcome]:
    """Outcomes of jobs run together, each with an equal share of the seconds."""
    spent = (time.perf_counter() - started) / len(jobs)
    with delayed():  # a signal waits until all of them are saved
        yield from (Outcome(job, cell, spent) for job, cell in zip(jobs, cells, strict=True))


class Worker:
    """A process that runs one job at a time, or several in lockstep; replaced when it dies."""

    def __init__(self) -> None:
        self.process: BaseProcess | None = None

    def start(self, jobs: Sequence[Job]) -> None:
        """Send jobs, to a new process if there is none."""
        if self.process is None or not self.process.is_alive():
            self.pipe, self.process = spawned(_serve)
        self.jobs, self.started, self.kills = jobs, time.perf_counter(), memory.kills()
        with suppress(BrokenPipeError):  # of one that died on its way here: `finish` says so
            self.pipe.send([job.to_json() for job in jobs])

    @property
    def handles(self) -> list[Connection | int]:
        """Handles that become readable when the job ends, successfully or not."""
        assert self.process is not None
        return [self.pipe, self.process.sentinel]

    @property
    def ready(self) -> bool:
        """Whether the job has ended."""
        assert self.process is not None
        return self.pipe.poll() or not self.process.is_alive()

    def finish(self) -> Iterator[Outcome]:
        """Return the cells; for a dead process, failed cells with the cause."""
        assert self.process is not None
        try:
            cells = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            how = KILLED.format(-code)
            if code >= 0:
                how = f"worker died: exit code {code}"
            elif code == -signal.SIGKILL:
                how = memory.KILLED if memory.killed_since(self.kills) else f"{how}; out of memory?"
            cells = [replace(job.cell, status="failed", message=how) for job in self.jobs]
        return shared(self.jobs, cells, self.started)

    def stop(self) -> None:
        """Kill the process."""
        if self.process is not None and self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(pipe: Connection) -> None:
    """Run the jobs that arrive, until the launch ends, well or badly."""
    end_with_parent()
    while True:
        try:
            jobs = [Job.of_json(text) for text in pipe.recv()]
        except (EOFError, OSError):
            return
        cells = runner.run(jobs)
        with suppress(OSError):
            pipe.send(cells)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start here have one thread each."""
    before = {name: os.environ.get(name) for name in threads.LIMITS}
    os.environ.update(dict.fromkeys(threads.LIMITS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
