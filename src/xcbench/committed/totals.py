"""What a launch of many grids would run: a line a grid, then their total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from xcbench.data import Missing
from xcbench.plan import planned, stored
from xcbench.plan.code import Change
from xcbench.plan.job import Job
from xcbench.plan.planned import TO_RUN, VALID
from xcbench.plan.stored import STALE
from xcbench.store.cell import FINAL
from xcbench.units import duration


@dataclass
class Count:
    """Cells by state, and the seconds that training the missing ones would take.

    Attributes
    ----------
    timed : number of missing cells for whose dataset and method seconds are recorded, or that
        have a time limit.
    """

    states: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    timed: int = 0

    def __add__(self, other: Count) -> Count:
        """Both."""
        states, seconds = self.states + other.states, self.seconds + other.seconds
        return Count(states, seconds, self.timed + other.timed)

    @property
    def missing(self) -> int:
        """Number of cells to run, stale ones too."""
        return self.states[TO_RUN] + self.states[STALE]

    def __str__(self) -> str:
        """Format as ``120 cells: 100 valid, 17 to run (5 of them stale), 3 no data``."""
        lacking = sorted(self.states.keys() - {TO_RUN, STALE, VALID})
        total = self.states.total()
        text = f"{total:,} cell{'' if total == 1 else 's'}: {self.states[VALID]:,} valid"
        text += f", {self.missing:,} to run"
        text += f" ({self.states[STALE]:,} of them stale)" if self.states[STALE] else ""
        text += "".join(f", {self.states[name]:,} {name}" for name in lacking)
        if self.timed:
            some = f" for {self.timed:,} of them" if self.timed < self.missing else ""
            text += f"; about {duration(self.seconds)} of training{some}"
        return text


@dataclass
class Totals:
    """Counts of a launch with ``plan=true``.

    Attributes
    ----------
    verbose : list the cells.
    grid, total : counts of the present grid, and of those before it.
    changes : what changed of the code of cells, by identity.
    """

    verbose: bool = False
    grid: Count = field(default_factory=Count)
    total: Count = field(default_factory=Count)
    changes: dict[str, Change] = field(default_factory=dict)

    def add(
        self, valid: int, jobs: Sequence[Job], changes: Mapping[str, Change], rows: pd.DataFrame
    ) -> None:
        """Count cells of the present grid.

        Parameters
        ----------
        valid : number of cells whose rows hold.
        jobs : the other ones.
        changes : what changed of the code of their rows, by identity.
        rows : measured rows, whose training took about as long.
        """
        self.changes |= changes
        self.grid.states[VALID] += valid
        seconds = _seconds(rows) if jobs else {}
        for entry in planned.states(jobs, Path(jobs[0].settings.runs_dir)) if jobs else ():
            job, name = entry.job, entry.job.cell.cell
            change = entry.change or changes.get(name, Change())
            state = STALE if entry.state == TO_RUN and change else entry.state
            self.changes[name] = change
            missing = state in (TO_RUN, STALE)
            counted = missing or isinstance(job.info, Missing)
            self.grid.states[state if counted else VALID] += 1
            pair = job.cell.dataset, job.cell.method
            taken = seconds.get(pair, job.settings.budget.seconds)
            if missing and taken:
                self.grid += Count(seconds=taken, timed=1)
            if self.verbose:
                print(replace(entry, state=state, change=change).line)

    def end_grid(self, name: str) -> None:
        """Print the line of the present grid, and begin the next."""
        print(f"{name}: {self.grid}", flush=True)
        self.total, self.grid = self.total + self.grid, Count()

    def end(self, name: str) -> None:
        """Print why cells are stale, and the total."""
        for sentence in stored.sentences(self.changes.values()):
            print(sentence)
        print(f"{name}: {self.total}; nothing was run (plan=true)")
        if not self.verbose:
            print("verbose=true lists the cells")


def _seconds(rows: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Median training seconds of measured cells by dataset and method."""
    ended = rows[rows["status"].isin(FINAL)].reindex(columns=["dataset", "method", "train_seconds"])
    ended = ended.astype({"train_seconds": float})
    medians = ended.groupby(["dataset", "method"], as_index=False).median().dropna()
    pairs = zip(medians["dataset"], medians["method"], strict=True)
    return dict(zip(pairs, medians["train_seconds"], strict=True))
