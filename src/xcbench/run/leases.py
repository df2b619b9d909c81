"""Leases: a lock file for each running cell, so that only one launch runs it.

The lock ends with its process. A dead process leaves its file behind, which holds the system's
count of out-of-memory kills when the cell began. The count tells whether memory was the cause.
A signal waits while a file appears or goes: what is left would be taken for a dead process's.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from xcbench.core.dataset import Info
from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.solvers import lockstep
from xcbench.errors import writing
from xcbench.plan.job import Job
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import durable, memory, processes
from xcbench.units import count


class Leases:
    """Leases of a process on cells."""

    def __init__(self, runs_dir: Path) -> None:
        self.folder = runs_dir / "claims"
        self.held: dict[str, IO[str]] = {}

    @processes.delayed()
    def take(self, cell: str) -> str | None:
        """Lease a cell.

        Returns
        -------
        str or None
            Content left by a process that died while running the cell, or "" if there was none.
            None if another process has the lease.
        """
        path = self.folder / cell
        with writing(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            while True:
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
                handle = os.fdopen(durable.no_link(str(path), flags), "a+")
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    handle.close()
                    return None
                if os.fstat(handle.fileno()).st_nlink:
                    break
                handle.close()  # its holder has just removed it
            handle.seek(0)
            left = handle.read()
            handle.truncate(0)
            handle.write(memory.kills())
            handle.flush()
        self.held[cell] = handle
        return left

    @processes.delayed()
    def release(self, cell: str) -> None:
        """Give a lease back."""
        handle = self.held.pop(cell)
        with suppress(OSError):
            (self.folder / cell).unlink()
        handle.close()

    def release_all(self) -> None:
        """Give back every lease."""
        for cell in list(self.held):
            self.release(cell)


class Queue:
    """Remaining jobs of a launch, shared with other launches that run at the same time.

    Parameters
    ----------
    todo : the jobs.
    started : start times of cells that exist before the launch, by identity.
    workers : that take jobs, each of which gets a share of them.
    """

    def __init__(
        self, runs_dir: Path, todo: Iterable[Job], started: Mapping[str, float], workers: int = 1
    ) -> None:
        self.runs_dir, self.started, self.workers = runs_dir, started, workers
        self.waiting = deque(todo)
        self.leases = Leases(runs_dir)
        self.announced = False

    def __len__(self) -> int:
        return len(self.waiting)

    def take(self) -> tuple[list[Job], Cell | None] | None:
        """Claim the next job that no other launch runs; with its cell if it exists by now.

        Includes jobs that can be trained in lockstep with it. Returns None if other launches run
        all remaining jobs.
        """
        for _ in range(len(self.waiting)):
            job = self.waiting.popleft()
            left = self.leases.take(job.cell.cell)
            if left is not None:
                cell = self._there(job) or self._killed(job, left)
                return [job, *([] if cell else self._mates(job))], cell
            self.waiting.append(job)
        if self.waiting and not self.announced:
            self.announced = True
            number = len(self.waiting)
            are = f"{count(number, 'cell')} {'is' if number == 1 else 'are'}"
            print(f"{are} running in another launch: waiting for the results", flush=True)
        return None

    def _mates(self, job: Job) -> list[Job]:
        """Claim jobs that go in lockstep with this one: none that was begun elsewhere before.

        They leave the other workers their share, so that none waits for one that has them all.
        """
        if job.lockstep is None or not isinstance(job.info, Info):
            return []
        share = math.ceil((1 + len(self.waiting)) / self.workers)
        others = [it for it in self.waiting if it.lockstep == job.lockstep]
        most = min(share, SIDE_BY_SIDE, 1 + len(others))
        if most < lockstep.fewest(job.info, job.settings.dtype):
            return []
        mates: list[Job] = []
        for other in others:
            if len(mates) + 1 == most:
                break
            name = other.cell.cell
            if (self.leases.folder / name).exists() or self.leases.take(name) is None:
                continue
            if self._there(other):
                self.leases.release(name)  # it comes with its cell when its turn comes
                continue
            self.waiting.remove(other)
            mates.append(other)
        return mates

    def _there(self, job: Job) -> Cell | None:
        """The cell, if another launch saved it since this one began."""
        try:
            cell = cells.load(self.runs_dir, job.cell.cell)
        except cells.Damaged:  # which was said when the launch looked for it
            return None
        return cell if cell and cell.started != self.started.get(job.cell.cell) else None

    def _killed(self, job: Job, left: str) -> Cell | None:
        """A failed cell, if the system killed for lack of memory since a dead process began it."""
        if not memory.killed_since(left):
            return None
        cell = replace(job.cell, status="failed", message=f"{memory.KILLED} while it ran")
        cells.save(self.runs_dir, cell)
        return cell
