"""Progress of a launch: one line a cell, with a bar below them on a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

import pandas as pd

from xcbench.core.dataset import Info
from xcbench.plan.job import Job
from xcbench.store import checkpoints
from xcbench.store.cell import Cell
from xcbench.system.bar import Bar
from xcbench.system.terminal import RED, YELLOW, afresh, filled, styled
from xcbench.units import duration

COLOURS = {"failed": RED, "diverged": YELLOW, "timeout": YELLOW}
SHOWN = ("test_log_loss", "test_error", "train_log_loss", "train_error")  # the first that it has
Kind = tuple[str, str]


def result(job: Job, cell: Cell) -> str:
    """Loss of the checkpoint that stands for a cell, and that of the class prior if it is lower."""
    row = cell.curve.iloc[checkpoints.of(cell, checkpoints.LAST).place]
    name = next((it for it in SHOWN if pd.notna(row.get(it))), SHOWN[-1])
    prior = job.info.prior_log_loss if isinstance(job.info, Info) else None
    worse = name == SHOWN[0] and prior is not None and row[name] > prior
    shown = f"{name.replace('_', ' ')} {row[name]:.4g}"
    return f"{shown}, the class prior has {prior:.4g}" if worse else shown


class Progress:
    """Prints ``[12/42] bibtex umax lr=0.1 seed=0 … test log loss 1.41, 3.2 s, about 40 s left``.

    Parameters
    ----------
    total : number of cells of the launch, including existing ones.
    todo : jobs that will run.
    alone : whether one cell runs at a time; else a line is printed when a cell ends.
    workers : number of cells that run in parallel.
    """

    def __init__(
        self, total: int, todo: Sequence[Job], alone: bool = True, workers: int = 1
    ) -> None:
        self.total = total
        self.left = Counter(map(_kind, todo))
        self.number = total - len(todo)
        self.alone, self.workers = alone, workers
        self.ended: Counter[Kind] = Counter()
        self.spent: dict[Kind, float] = defaultdict(float)
        self.live, self.begun = sys.stdout.isatty(), False

    def begin(self, jobs: Sequence[Job]) -> None:
        """Announce a cell that runs alone, or some that run in lockstep."""
        more = f" and {len(jobs) - 1} more in lockstep" if len(jobs) > 1 else ""
        self.head = f"[{self.number + 1}/{self.total}] {jobs[0].label}{more} …"
        self.started, self.begun = time.perf_counter(), self.alone and len(jobs) == 1
        if self.alone and self.live:
            self._bar(self.head)
        elif self.begun:
            print(self.head, end="", flush=True)

    def inside(self, share: float) -> None:
        """Show the progress of a running cell, on a terminal."""
        if self.live and self.alone:
            spent = time.perf_counter() - self.started
            left = spent / max(share, 1e-9) - spent
            rest = f", about {duration(left)} left of it" if share > 0 else ""
            self._bar(f"{self.head} {share:.0%}{rest}", share)

    def _bar(self, text: str, share: float = 0.0) -> None:
        """Write the last line of a terminal anew: how far the launch is, and a few words."""
        line = f"{filled((self.number + share) / self.total)} {text}"
        width = shutil.get_terminal_size().columns - 1
        print(f"{afresh(sys.stdout)}{line[:width]}", end="", flush=True)

    def end(self, job: Job, cell: Cell, spent: float | None) -> None:
        """Print the result of a cell, and the estimated time left.

        A cell without seconds was run by another launch.
        """
        self.number += 1
        self.left -= Counter([_kind(job)])  # keeps what is positive
        if spent is not None:
            self.ended[_kind(job)] += 1
            self.spent[_kind(job)] += max(0.0, spent - cell.seconds.get("compile", 0.0))
        outcome = cell.status
        if cell.status in ("done", "timeout"):
            outcome = result(job, cell)
            outcome += "" if cell.status == "done" else f" ({cell.status})"
        elif cell.message:
            outcome += f": {cell.message}"
        colour = COLOURS.get(cell.status)
        outcome = styled(outcome, colour, sys.stdout) if colour else outcome
        rest = f"about {duration(self.estimate())} left" if self.left and self.ended else ""
        took = "from another launch" if spent is None else duration(spent)
        if spent and cell.seconds.get("compile", 0.0) > max(1.0, spent / 2):
            took += " (compiling once)"
        message = ", ".join(part for part in (outcome, took, rest) if part)
        begun = self.begun and spent is not None and not self.live
        head = "" if begun else f"[{self.number}/{self.total}] {job.label} …"
        print(f"{afresh(sys.stdout) if self.live else ''}{head} {message}", flush=True)
        if self.live and self.number < self.total:
            self._bar(f"{self.number}/{self.total} {rest}")

    def estimate(self) -> float:
        """Seconds left, compiling apart: the mean of the same dataset and method, else of all."""
        typical = sum(self.spent.values()) / self.ended.total()
        total = sum(
            number * (self.spent[kind] / self.ended[kind] if self.ended[kind] else typical)
            for kind, number in self.left.items()
        )
        return total / min(self.workers, max(1, self.left.total()))


class InABar(Progress):
    """One line for all cells of a launch, as notebooks have it."""

    def begin(self, jobs: Sequence[Job]) -> None:
        """Print nothing."""
        self.bar = vars(self).get("bar") or Bar("cell", self.total)

    def inside(self, share: float) -> None:
        """Print nothing."""

    def end(self, job: Job, cell: Cell, spent: float | None) -> None:
        """Advance the bar."""
        self.begin([job])
        self.number += 1
        self.bar.show(self.number, f"{job.label} {cell.status}")
        if self.number == self.total:
            self.bar.end()


def _kind(job: Job) -> Kind:
    """Dataset and method: cells that take about as long as one another."""
    return job.cell.dataset, job.cell.method
