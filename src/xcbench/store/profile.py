"""Profile of a launch: wall time by phase of this process, and clocks of its cells.

A launch writes ``runs/launches/<when>-<process>.json``; ``xcbench launches`` lists them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from xcbench.errors import one_line
from xcbench.store.cell import Cell
from xcbench.system import durable, sealed

BEFORE = ("import", "compose", "plan")
IN_CELLS = ("load", "compile", "train", "evaluate")
PHASES = (*BEFORE, *IN_CELLS, "save", "track", "idle", "other")
COLUMNS = ["started", "grid", "cells", "workers", "wall", *PHASES]


class Profile:
    """Clock of a process, which is in one phase at a time, and seconds of its cells.

    Seconds in cells are summed over the workers. ``idle`` is the workers' waiting time: for each
    other, for data, and for their start.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self, phase: str = "other", age: float = 0.0) -> None:
        """Start counting now, or some seconds ago."""
        self.phase, self.since = phase, time.perf_counter() - age
        self.began = time.time() - age
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.cells, self.busy = 0, 0.0

    def import_until_now(self) -> None:
        """Count the time since this process started as import."""
        self.begin("import", _age())
        self.enter("other")

    def enter(self, phase: str) -> str:
        """Switch to another phase; returns the previous one."""
        now, before = time.perf_counter(), self.phase
        self.seconds[before] += now - self.since
        self.phase, self.since = phase, now
        return before

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Context for a phase."""
        before = self.enter(phase)
        try:
            yield
        finally:
            self.enter(before)

    def add(self, cell: Cell, spent: float) -> None:
        """Add a cell, and the seconds that its worker spent on it."""
        for name in IN_CELLS:
            self.seconds[name] += cell.seconds.get(name, 0.0)
        self.cells += 1
        self.busy += spent

    def taken(self, grid: str, workers: int) -> dict[str, object]:
        """End the launch; returns its row of `COLUMNS`.

        The phase ``idle`` is that in which cells ran.
        """
        self.enter("other")
        wall = sum(self.seconds[name] for name in (*BEFORE, "save", "track", "idle", "other"))
        in_cells = {name: self.seconds[name] for name in IN_CELLS}
        seconds = {
            **self.seconds,
            "idle": max(0.0, workers * self.seconds["idle"] - self.busy),
            "other": self.seconds["other"] + max(0.0, self.busy - sum(in_cells.values())),
        }
        started = datetime.fromtimestamp(self.began, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
        row = dict(zip(COLUMNS, (started, grid, self.cells, workers, wall), strict=False))
        self.begin()
        return {**row, **seconds}


def _age() -> float:
    """Seconds since this process began, where the system says it."""
    with suppress(OSError, ValueError, IndexError):
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begun = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - begun)
    return 0.0


LAUNCH = Profile()  # of this process, which has one wall clock


def write(runs_dir: Path, row: dict[str, object]) -> None:
    """Save the row of a launch; a failure is reported, and only the row is lost."""
    path = runs_dir / "launches" / f"{row['started']}-{os.getpid()}.json".replace(":", "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write(path, sealed.dumps(row))
    except OSError as error:
        print(f"warning: the times of the launch are not saved: {one_line(error)}", file=sys.stderr)


def read(runs_dir: Path, grid: str = "") -> pd.DataFrame:
    """Launches under a folder, or of a grid, by time; one row of `COLUMNS` each.

    ``wall`` and the phases are in seconds. A damaged row is reported and left out.
    """
    rows = []
    for path in sorted((runs_dir / "launches").glob("*.json")):
        try:
            row = parse(path.read_bytes())
        except (OSError, ValueError) as error:
            print(f"warning: {path} is left out: {one_line(error)}", file=sys.stderr)
        else:
            rows += [row] if grid in ("", row["grid"]) else []
    return pd.DataFrame(rows, columns=COLUMNS)


def parse(content: bytes) -> dict[str, object]:
    """The row in the content of a launch's file.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    row = sealed.loads(content)
    if not row.keys() >= {*COLUMNS}:
        raise ValueError("it is no row of a launch")
    return row
