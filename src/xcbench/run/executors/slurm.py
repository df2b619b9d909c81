"""SLURM, by submitit: an array of jobs, a task each.

States come from squeue, which needs no accounting.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import submitit

from xcbench.config.settings import Config
from xcbench.errors import UserError, one_line
from xcbench.options import Content
from xcbench.run.executors.elsewhere import PAUSE, VISIBLE, Executor, LostTask
from xcbench.run.executors.task import Handle, Result, Task, work
from xcbench.system import durable
from xcbench.system.processes import delayed

ARRAY = 1000  # jobs of an array, by SLURM's own default
SECONDS = 5.0  # between calls of squeue
CLUSTER = "slurm"  # the tests have no SLURM: "local"
OVER = ("COMPLETED", "CANCELLED", "TIMEOUT", "FAILED", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED",
        "BOOT_FAIL", "DEADLINE", "REVOKED")  # fmt: skip
GONE = "GONE"  # a job that SLURM does not know any more
ENDS = {
    "CANCELLED": "was cancelled",
    "TIMEOUT": "reached its time limit; slurm.timeout_min sets it",
    "OUT_OF_MEMORY": "ran out of memory; slurm.mem_gb sets it",
    "NODE_FAIL": "lost its node",
    "PREEMPTED": "was preempted",
    GONE: "is not known to SLURM any more: cancelled before it began?",
}
USUAL = ("None", "Priority", "Resources", "JobArrayTaskLimit", "BeginTime", "Cleaning")
GENERAL = ("timeout_min", "mem_gb", "cpus_per_task")  # settings of submitit for any cluster
LOG = 4000  # last characters of a job's log that are kept


class Engine(Executor):
    """Jobs of a launch; one array at a time.

    Attributes
    ----------
    folder : where submitit keeps what jobs get and print; it stays where one failed.
    """

    def __init__(self, launch: Config, runs_dir: Path) -> None:
        settings = asdict(launch.slurm)
        python = settings.pop("python")
        parameters = {
            **{
                name if name in GENERAL else f"slurm_{name}": value
                for name, value in settings.items()
                if value is not None
            },
            "name": f"xcbench-{launch.grid}",
            "slurm_array_parallelism": launch.workers,
            "slurm_signal_delay_s": 0,
        }
        self.at_once = launch.workers
        self.folder = runs_dir.absolute() / "submitit" / f"{launch.grid}-{os.getpid()}"
        try:
            self.executor = submitit.AutoExecutor(self.folder, cluster=CLUSTER, slurm_python=python)
            self.executor.update_parameters(**parameters)
        except (RuntimeError, ValueError, TypeError) as error:
            raise UserError(f"executor=slurm is not possible: {one_line(error)}") from None
        self.jobs: Content = {}  # that run, by their numbers
        self.states: dict[str, str] = {}
        self.lost = False
        self.printed: set[str] = set()
        self.looked = 0.0

    def room(self, running: int) -> int:
        """An array when the one before has ended."""
        return 0 if running else ARRAY

    def submit(self, tasks: Sequence[Task]) -> Sequence[Handle]:
        """Submit an array."""
        with delayed():  # until the jobs are known, which an interrupt cancels
            try:
                jobs = self.executor.map_array(_as_slurm_has_it, tasks)
            except Exception as error:  # what sbatch says comes as one of several
                raise UserError(f"sbatch refuses the jobs: {one_line(error)}") from None
            self.jobs = {job.job_id: job for job in jobs}
        self.looked = time.monotonic()
        numbers = ", ".join(dict.fromkeys(map(_array, self.jobs)))
        print(f"SLURM has {len(jobs)} jobs, {self.at_once} at a time (workers): {numbers}",
              flush=True)  # fmt: skip
        return [*self.jobs]

    def ended(self, tasks: Sequence[Handle]) -> Sequence[Handle]:
        """Jobs that left a result, or that SLURM says are over."""
        there = set(os.listdir(self.folder))
        with_result = {it for it in tasks if self.jobs[it].paths.result_pickle.name in there}
        if time.monotonic() - self.looked > SECONDS:
            self._look()
            self.looked = time.monotonic()
        return [it for it in tasks if it in with_result or self.states.get(it) in (*OVER, GONE)]

    def _look(self) -> None:
        """Ask for the states of the jobs; where that fails, the last ones stay."""
        try:
            jobs = states()
        except (OSError, subprocess.SubprocessError) as error:
            self._say(f"squeue does not answer ({one_line(error)}); the launch goes on waiting")
            return
        for job in self.jobs:
            self.states[job], why = jobs.get(job, (GONE, "None"))
            if self.states[job] == "PENDING" and why not in USUAL:
                self._say(f"SLURM lets jobs wait: {why}")

    def _say(self, text: str) -> None:
        """Say something once."""
        if text not in self.printed:
            self.printed.add(text)
            print(text, flush=True)

    def result(self, task: Handle) -> Result:
        """What a job left."""
        try:
            return self._result(task, self.jobs.pop(task))
        except LostTask:
            self.lost = True
            raise

    def _result(self, task: str, job: Handle) -> Result:
        state = self.states.get(task, GONE)
        end = time.monotonic() + (VISIBLE if state == "COMPLETED" else 0)
        while not (there := job.paths.result_pickle.exists()) and time.monotonic() < end:
            time.sleep(PAUSE)
        if not there:
            how = ENDS.get(state, f"ended without a result ({state.lower()})")
            raise LostTask(f"SLURM's job {task} {how}", self._log(job))
        try:
            return job.result()
        except Exception as error:
            raise LostTask(
                f"SLURM's job {task}: {one_line(error)[-200:]}", self._log(job)
            ) from None

    def _log(self, job: Handle) -> str:
        """The end of what a job printed."""
        with suppress(OSError):
            return str(job.paths.stderr.read_text("utf-8", "replace"))[-LOG:]
        return ""

    def close(self) -> None:
        """Cancel the jobs that have not ended, an array in one go."""
        for number, job in {_array(number): job for number, job in self.jobs.items()}.items():
            if CLUSTER == "slurm":
                subprocess.run(["scancel", number], capture_output=True)
            else:
                job.cancel()
        if not self.lost:
            durable.remove(self.folder)
        with suppress(OSError):
            self.folder.parent.rmdir()


def states() -> dict[str, tuple[str, str]]:
    """States of my jobs by their numbers, and why those that wait do so."""
    command = ["squeue", "--me", "--array", "--states=all", "--noheader", "--format=%i|%T|%r"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    rows = (line.split("|") for line in printed.splitlines())
    return {number: (state, why) for number, state, why in rows}


def _array(number: str) -> str:
    return number.partition("_")[0]


def _as_slurm_has_it(task: Task) -> Result:
    """Work, with the signals that SLURM sends: submitit would wait for the kill that follows them.

    SLURM starts a preempted job again by itself.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    sys.stdout.flush()
    return work(task)
