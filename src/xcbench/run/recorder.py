"""Record cells in MLflow while others train.

A finished cell has an entry in the outbox ``<runs_dir>/unrecorded/<store>/`` until its run is in
the store. A separate process empties the outbox during training. If the store is down, entries wait
for the next launch.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from xcbench.errors import UserError, one_line
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.system import durable
from xcbench.system.processes import childless, end_with_parent, spawned
from xcbench.track import tracking
from xcbench.track.mlflow_target import Target
from xcbench.units import count

START = 2.0  # seconds after which a launch takes a second process
PAUSE = 0.5  # seconds from one look at the outbox to the next
PATIENCE = 5.0  # seconds of waiting at the end of a launch without a word
TRIES = (1.0, 3.0)  # seconds before a further try at the end of a launch
NICENESS = 10  # training goes first


class Outbox:
    """Names of cells that are to be recorded in a store, each an empty file.

    Parameters
    ----------
    runs_dir : the cells.
    uri : as of `Target.of`.
    """

    def __init__(self, runs_dir: Path, uri: str | None) -> None:
        self.runs_dir, self.uri = runs_dir, uri
        self.folder = runs_dir / "unrecorded" / Target.of(runs_dir, uri).key

    def add(self, cell: str) -> None:
        """Add a cell."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / cell, "a", opener=durable.no_link):
            pass

    def names(self) -> list[str]:
        """Names of the waiting cells."""
        with suppress(FileNotFoundError):
            return sorted(entry.name for entry in os.scandir(self.folder))
        return []

    def deliver(self) -> None:
        """Record the waiting cells; each is removed when its run is in the store.

        Raises
        ------
        UserError
            As `tracking.track` does.
        """
        names = self.names()
        for first in range(0, len(names), tracking.BATCH):
            batch = names[first : first + tracking.BATCH]
            there = [cells.usable(self.runs_dir, name) for name in batch]
            tracking.track(self.runs_dir, [cell for cell in there if cell], uri=self.uri)
            for name in batch:
                (self.folder / name).unlink(missing_ok=True)

    def deliver_with_patience(self) -> str:
        """Record the waiting cells, with retries; returns the last error, or None."""
        for seconds in (*TRIES, None):
            try:
                self.deliver()
            except (UserError, OSError) as error:
                if seconds is None or Target.of(self.runs_dir, self.uri).is_local:
                    return one_line(error)
                time.sleep(seconds)
            else:
                return ""
        return ""


class Recorder:
    """Records finished cells while others train; failures do not affect the cells.

    Parameters
    ----------
    enabled : whether anything is recorded.
    uri : as of `Target.of`.
    """

    def __init__(self, runs_dir: Path, enabled: bool, uri: str | None = None) -> None:
        self.usable = enabled
        self.outbox = Outbox(runs_dir, uri) if enabled else None
        self.process: multiprocessing.process.BaseProcess | None = None
        self.began = time.monotonic()

    def add(self, cell: Cell) -> None:
        """Add a saved cell."""
        if self.outbox and self.usable:
            try:
                self.outbox.add(cell.cell)
            except OSError as error:
                self._warn(one_line(error))
            if self.process is None and time.monotonic() - self.began > START:
                self._start(self.outbox)

    def finish(self, started: Mapping[str, float]) -> None:
        """Record the remaining cells, and those with these start times that the store lacks."""
        if not self.outbox or not self.usable:
            return
        try:
            problem = self._end() if self.process else ""
            if started and not problem:
                for name in tracking.behind(self.outbox.runs_dir, started, self.outbox.uri):
                    self.outbox.add(name)
            problem = problem or self.outbox.deliver_with_patience()
        except (UserError, OSError) as error:
            problem = one_line(error)
        if problem:
            self._warn(problem)

    def _start(self, outbox: Outbox) -> None:
        if childless():
            return
        self.pipe, self.process = spawned(_record, outbox)

    def _end(self) -> str:
        """Wait for the process; what was wrong, or nothing."""
        try:
            self.pipe.send("finish")
            if not self.pipe.poll(PATIENCE) and self.outbox:
                runs = count(len(self.outbox.names()), "run")
                print(f"writing {runs} into MLflow (Ctrl-C leaves them to the next launch)")
                sys.stdout.flush()
            return str(self.pipe.recv())
        except (EOFError, OSError):  # it died: this process goes on with what is left
            return ""

    def _warn(self, problem: str) -> None:
        self.usable = False
        print(f"warning: {problem}", file=sys.stderr)


def _record(pipe: Connection, outbox: Outbox) -> None:
    """Empty the outbox from time to time until the launch ends."""
    end_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # by which a launch ends it
    os.nice(NICENESS)
    with suppress(EOFError, OSError):
        while not pipe.poll(PAUSE):
            with suppress(UserError, OSError):  # the next look tries again
                outbox.deliver()
        pipe.recv()
        pipe.send(outbox.deliver_with_patience())
