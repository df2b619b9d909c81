"""Hours that the results of missing datasets would take: ``reports/waiting.csv``.

The cells are those that the papers' grids have of such a dataset. What one of them takes is not
measured: it is the median seconds of its method, per row that it visits and non-zero of that row,
and per class where a method sees all of them, in the measured rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from benchmarks.measure import ROOT
from benchmarks.table import Kept
from xcbench import papers
from xcbench.committed.totals import Totals
from xcbench.data import Missing
from xcbench.papers import PARTS
from xcbench.papers.run import Runner, tables
from xcbench.plan.code import Change
from xcbench.plan.job import Job
from xcbench.store.cell import FINAL

HOUR = 3600.0


@dataclass
class Waiting(Totals):
    """The jobs of a paper whose data are missing."""

    jobs: list[Job] = field(default_factory=list)

    def add(
        self, valid: int, jobs: Sequence[Job], changes: Mapping[str, Change], rows: pd.DataFrame
    ) -> None:
        """Keep those of the present grid."""
        self.jobs += [it for it in jobs if isinstance(it.info, Missing) and it.info.kind == "data"]

    def end_grid(self, name: str) -> None:
        """Say nothing of it."""


def all_classes(job: Job) -> bool:
    """Whether a method sees every class at each step."""
    return not hasattr(job.settings.method, "negatives")


def size(job: Job) -> float:
    """Rows that a cell visits, times their non-zeros, times the classes of a full method."""
    data = job.settings.dataset
    shape = data.synthetic
    if shape:
        rows, nonzeros, classes = shape.train, shape.nonzeros, shape.classes
    else:  # dense rows, which have no twin
        rows, nonzeros, classes = data.expected.train, data.expected.features, data.expected.labels
    return rows * job.settings.budget.epochs * nonzeros * (classes if all_classes(job) else 1)


def units(rows: pd.DataFrame, full: set[str]) -> pd.Series:
    """Median seconds per unit of `size`, by method."""
    ended = rows[rows["status"].isin(FINAL)]
    visited = ended["shape.train"] * ended["budget.epochs"] * ended["shape.nonzeros_per_row"]
    visited = visited.where(~ended["method"].isin(full), visited * ended["shape.classes"])
    return (ended["train_seconds"] / visited).groupby(ended["method"]).median().dropna()


def estimated(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Cells and hours of a paper, by dataset; a limit of time ends a cell."""
    waiting = Waiting()
    runner = Runner(papers.find(name), ROOT / "reports" / name, {"plan": "true"}, totals=waiting)
    for part in PARTS:
        runner.run(part)
    seconds = units(rows, {job.cell.method for job in waiting.jobs if all_classes(job)})
    lines = [
        {
            "paper": name,
            "dataset": job.cell.dataset,
            "cells": 1,
            "hours": min(
                seconds.get(job.cell.method, float("nan")) * size(job),
                job.settings.budget.seconds or float("inf"),
            )
            / HOUR,
        }
        for job in waiting.jobs
    ]
    keys = ["paper", "dataset"]
    table = pd.DataFrame(lines, columns=[*keys, "cells", "hours"])
    return table.groupby(keys, as_index=False, sort=False).sum()


def table(rows: pd.DataFrame) -> str:
    """Hours by dataset, of all papers."""
    by_paper = rows.assign(hours=rows["hours"].map("{:.2g}".format))
    return f"{by_paper.to_markdown(index=False, disable_numparse=True)}\n"


KEPT = Kept(
    ROOT / "reports" / "waiting.csv",
    ["paper"],
    ROOT / "docs" / "data.md",
    "waiting",
    table,
    "%.3g",
)


def run(paper: str = ",".join(papers.NAMES)) -> None:
    """Count the cells that wait for data, with an estimate of their hours."""
    caches = (tables(ROOT / "reports" / name) for name in papers.NAMES)
    rows = pd.concat([cache.rows for parts in caches for cache in parts.values()])
    for name in paper.split(","):
        found = estimated(name, rows)
        if len(found):
            KEPT.add(found)
