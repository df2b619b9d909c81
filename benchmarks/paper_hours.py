"""Core hours of the papers with today's code, from a sample of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.measure import ROOT
from benchmarks.table import Kept
from xcbench import papers
from xcbench.core.dataset import Info
from xcbench.methods import registry
from xcbench.papers.run import Runner, tables
from xcbench.plan import planning
from xcbench.plan.job import Job
from xcbench.run import runner

NAMES = ("umax", "ove", "ar", "adv", "memoir", "scent")
FEWEST = 4  # cells of an estimate
REST = 0.5  # seconds of a cell besides training and evaluation
HOUR = 3600.0


def is_baseline(job: Job) -> bool:
    """Whether another library trains it."""
    solver = registry.find(job.method).thing.build(job.settings.method, job.info)
    return ".baselines" in type(solver).__module__


def cells_of(name: str) -> list[tuple[Job, pd.DataFrame]]:
    """Cells of a paper whose committed rows hold, each once, with their recorded curves."""
    paper, folder, cells = papers.find(name), ROOT / "reports" / name, {}
    runner_of, caches = Runner(paper, folder, {}), tables(folder)
    for grid in paper.grids:
        points, _ = runner_of.configurations(grid, caches)
        cache = caches[grid.part]
        for job in planning.jobs(points):
            cell = cache.holds(job, grid.name)
            if cell and isinstance(job.info, Info) and not is_baseline(job):
                cells[cell] = job, cache.curves[cache.curves["cell"] == cell]
    return [*cells.values()]


def clock(curve: pd.DataFrame) -> pd.Series:
    """Training seconds by iteration, the last of an iteration with several checkpoints."""
    return curve.drop_duplicates("iteration", keep="last").set_index("iteration")["train_seconds"]


def seconds_today(job: Job, recorded: pd.DataFrame, most: float) -> float | None:
    """Seconds of training and evaluation today, of a long cell from its first part.

    None where no checkpoint comes within ``most`` seconds.
    """
    budget = replace(job.settings.budget, seconds=most)
    settings = replace(job.settings, budget=budget, plan=False, mlflow=False, save_weights=False)
    (cell,) = runner.run(planning.jobs([settings]))
    if cell.curve.empty or cell.status not in ("done", "timeout", "diverged"):
        raise RuntimeError(f"{job.label}: {cell.status} {cell.message}")
    both = pd.concat({"now": clock(cell.curve), "then": clock(recorded)}, axis=1).dropna()
    both = both[both["then"] > 0]
    if both.empty:
        return None
    trained = both["now"].iloc[-1] * recorded["train_seconds"].max() / both["then"].iloc[-1]
    values = recorded.notna().sum()
    rarest = str(values[values > 0].idxmin())  # of the dearest metric, which few checkpoints have
    evaluated = cell.seconds["evaluate"] * values[rarest] / max(1, cell.curve[rarest].count())
    return float(trained + evaluated)


def sampled(name: str, number: int, most: float) -> Iterator[dict[str, object]]:
    """Cells drawn in proportion to what they took, with what they take today."""
    cells = cells_of(name)
    weights = np.array([curve["train_seconds"].max() + REST for _, curve in cells])
    drawn = np.random.default_rng(0).choice(len(cells), number, p=weights / weights.sum())
    for job, curve in (cells[place] for place in drawn):
        today = seconds_today(job, curve, most)
        if today is not None:
            yield {
                "paper": name,
                "cells": len(cells),
                "recorded_hours": weights.sum() / HOUR,
                "cell": job.label,
                "recorded": curve["train_seconds"].max(),
                "today": today,
            }


def table(rows: pd.DataFrame) -> str:
    """Hours of each paper: recorded, and estimated for today."""
    lines = []
    for name, of_paper in rows.groupby("paper", sort=False):
        if len(of_paper) >= FEWEST:
            ratios = (of_paper["today"] + REST) / (of_paper["recorded"] + REST)
            hours = of_paper["recorded_hours"].iloc[0]
            error = ratios.std(ddof=1) / np.sqrt(len(ratios))
            lines.append(
                {
                    "paper": name,
                    "cells": of_paper["cells"].iloc[0],
                    "recorded": f"{hours:.1f}",
                    "today": f"{hours * ratios.mean():.1f} ± {hours * error:.1f}",
                    "on 2 cores": f"{hours * ratios.mean() / 2:.1f}",
                    "sample": len(of_paper),
                }
            )
    return f"{pd.DataFrame(lines).to_markdown(index=False)}\n"


KEPT = Kept(
    ROOT / "reports" / "paper-hours.csv",
    ["paper"],
    ROOT / "docs" / "papers.md",
    "hours",
    table,
    "%.6g",
)


def run(cells: str = "8", seconds: str = "60", paper: str = ",".join(NAMES)) -> None:
    """Train some cells of each paper again, so long at most; nothing else should run then."""
    for name in paper.split(","):
        rows = []
        for row in sampled(name, int(cells), float(seconds)):
            rows.append(row)
            KEPT.add(pd.DataFrame(rows))
