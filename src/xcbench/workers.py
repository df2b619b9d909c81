"""Jobs in several processes: one BLAS thread each, and a dead one costs its cell alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from xcbench import running
from xcbench.cells import Cell
from xcbench.planning import Job

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SPAWN = multiprocessing.get_context("spawn")


def run(
    todo: Sequence[Job],
    workers: int,
    begin: Callable[[Job], None],
    watch: Callable[[float], None],
) -> Iterator[tuple[Job, Cell, float]]:
    """Run jobs and give each with its cell and its seconds, in order of completion.

    Parameters
    ----------
    todo : the jobs.
    workers : processes; 1 runs them in this one.
    begin, watch : told of a job's start and of its progress, where one runs at a time.
    """
    if workers == 1:
        for job in todo:
            begin(job)
            started = time.perf_counter()
            yield job, running.run(job, watch), time.perf_counter() - started
        return
    waiting = list(todo)
    with _single_threaded():
        pool = [Worker() for _ in range(min(workers, len(waiting)))]
        try:
            for worker in pool:
                worker.start(waiting.pop(0))
            while pool:
                wait([handle for worker in pool for handle in worker.handles])
                for worker in [worker for worker in pool if worker.ready]:
                    job, cell, seconds = worker.finish()
                    if waiting:
                        worker.start(waiting.pop(0))
                    else:
                        worker.stop()
                        pool.remove(worker)
                    yield job, cell, seconds
        finally:
            for worker in pool:
                worker.stop()


class Worker:
    """A process that runs one job at a time, and is replaced when it dies."""

    def __init__(self) -> None:
        self.process: multiprocessing.process.BaseProcess | None = None

    def start(self, job: Job) -> None:
        """Hand over a job, to a new process if there is none."""
        if self.process is None or not self.process.is_alive():
            self.pipe, other = SPAWN.Pipe()
            self.process = SPAWN.Process(target=_serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        self.job, self.started = job, time.perf_counter()
        self.pipe.send(job)

    @property
    def handles(self) -> list[Connection | int]:
        """What becomes readable when the job is over, well or badly."""
        assert self.process is not None
        return [self.pipe, self.process.sentinel]

    @property
    def ready(self) -> bool:
        """Whether the job is over."""
        assert self.process is not None
        return self.pipe.poll() or not self.process.is_alive()

    def finish(self) -> tuple[Job, Cell, float]:
        """Take the cell; of a dead process, one that says how it died."""
        assert self.process is not None
        try:
            cell = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            hint = "; out of memory?" if code == -signal.SIGKILL else ""
            cell = replace(self.job.cell, status="failed", message=f"worker died: {how}{hint}")
        return self.job, cell, time.perf_counter() - self.started

    def stop(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None and self.process.is_alive():
            self.process.terminate()
            self.process.join()


def _serve(pipe: Connection) -> None:
    """Run the jobs that arrive; the parent alone decides what Ctrl-C means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            pipe.send(running.run(pipe.recv()))
    except EOFError:
        return


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start here have one BLAS thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
