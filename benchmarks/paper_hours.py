"""Core hours of the five papers with today's code, from a sample of their cells.

``python -m benchmarks.paper_hours [cells=8] [seconds=60] [paper=ove,umax]`` trains some cells of
each paper again and writes ``reports/paper-hours.csv`` and a table of ``docs/papers.md``. Nothing
else should run meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.comparison import write_between
from xcbench import papers
from xcbench.core.dataset import Info
from xcbench.methods import registry
from xcbench.papers.results_cache import ResultsCache
from xcbench.papers.run import Runner
from xcbench.run import plan, runner
from xcbench.run.plan import Job
from xcbench.run.settings import Config

REPORTS = Path("reports")
TABLE = REPORTS / "paper-hours.csv"
PAGE = Path("docs/papers.md")
NAMES = ("umax", "ove", "ar", "adv", "memoir")
FEWEST = 4  # cells of an estimate
REST = 0.5  # seconds of a cell besides training and evaluation
HOUR = 3600.0


@dataclass
class Known:
    """A cell that stands in the committed tables."""

    job: Job
    curve: pd.DataFrame

    @property
    def seconds(self) -> float:
        """Of its training, as it was recorded."""
        return float(self.curve["train_seconds"].max())


@dataclass
class Collector(Runner):
    """Collects the cells of a paper where a launch would run them."""

    known: list[Known] = field(default_factory=list)

    def run_grid(
        self, grid: papers.Grid, configurations: list[Config], cache: ResultsCache
    ) -> tuple[ResultsCache, int]:
        """Take the cells whose rows hold, and run none."""
        curves = {str(cell): curve for cell, curve in cache.curves.groupby("cell")}
        for job in plan.jobs(configurations):
            cell = cache.holds(job, grid.name)
            if cell and isinstance(job.info, Info) and not is_baseline(job):
                self.known.append(Known(job, curves[cell]))
        return cache, 0


def is_baseline(job: Job) -> bool:
    """Whether another library trains it."""
    solver = registry.find(job.method).thing.build(job.settings.method, job.info)
    return ".baselines" in type(solver).__module__


def cells_of(name: str) -> list[Known]:
    """Cells of a paper, each once."""
    collector = Collector(papers.find(name), REPORTS / name, {"plan": "true"})
    for part in ("tuning", "runs"):
        collector.run(part)
    return list({it.job.cell.cell: it for it in collector.known}.values())


def seconds_today(known: Known, most: float) -> float:
    """Seconds of training and evaluation today; of a long cell, as its first part tells."""
    settings = known.job.settings
    budget = replace(settings.budget, seconds=most)
    settings = replace(settings, budget=budget, plan=False, mlflow=False, save_weights=False)
    cell = runner.run(plan.jobs([settings])[0])
    if cell.curve.empty or cell.status not in ("done", "timeout", "diverged"):
        raise RuntimeError(f"{known.job.label}: {cell.status} {cell.message}")
    old = _clock(known.curve)
    there = _clock(cell.curve)
    common = [it for it in there.index if it in old.index and old[it] > 0]
    if not common:
        raise LookupError(f"{known.job.label}: no checkpoint within {most:g} s")
    trained = there[common[-1]] * known.seconds / old[common[-1]]
    values = known.curve.notna().sum()
    rarest = str(values[values > 0].idxmin())  # of the dearest metric, which few checkpoints have
    evaluated = cell.seconds["evaluate"] * values[rarest] / max(1, cell.curve[rarest].count())
    return float(trained + evaluated)


def _clock(curve: pd.DataFrame) -> pd.Series:
    """Training seconds by iteration, the last of an iteration with several checkpoints."""
    return curve.drop_duplicates("iteration", keep="last").set_index("iteration")["train_seconds"]


def sampled(name: str, number: int, most: float) -> Iterator[dict[str, object]]:
    """Cells drawn in proportion to what they took, with what they take today."""
    known = cells_of(name)
    weights = np.array([it.seconds + REST for it in known])
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(known), number, p=weights / weights.sum())
    for place in drawn:
        cell = known[place]
        with suppress(LookupError):
            yield {
                "paper": name,
                "cells": len(known),
                "recorded_hours": weights.sum() / HOUR,
                "cell": cell.job.label,
                "recorded": cell.seconds,
                "today": seconds_today(cell, most),
            }


def table(rows: pd.DataFrame) -> str:
    """Hours of each paper: recorded, and estimated for today."""
    lines = []
    for name, own in rows.groupby("paper", sort=False):
        if len(own) < FEWEST:
            continue
        ratios = (own["today"] + REST) / (own["recorded"] + REST)
        hours = own["recorded_hours"].iloc[0]
        error = ratios.std(ddof=1) / np.sqrt(len(ratios))
        lines.append(
            {
                "paper": name,
                "cells": own["cells"].iloc[0],
                "recorded": f"{hours:.1f}",
                "today": f"{hours * ratios.mean():.1f} ± {hours * error:.1f}",
                "on 2 cores": f"{hours * ratios.mean() / 2:.1f}",
                "sample": len(own),
            }
        )
    return f"{pd.DataFrame(lines).to_markdown(index=False)}\n"


def main(words: list[str], say: Callable[[str], object] = print) -> None:
    """Sample the papers that were asked for; rows of others stay."""
    settings = {"cells": "8", "seconds": "60", "paper": ",".join(NAMES)}
    settings |= dict(word.split("=", 1) for word in words)
    rows = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame()
    for name in settings["paper"].split(","):
        kept = rows[rows["paper"] != name] if len(rows) else rows
        new: list[dict[str, object]] = []
        for row in sampled(name, int(settings["cells"]), float(settings["seconds"])):
            new.append(row)
            say(f"{row}")
            rows = pd.concat([kept, pd.DataFrame(new)], ignore_index=True)
            rows.to_csv(TABLE, index=False, float_format="%.6g")
    write_between(PAGE, "hours", table(rows))
    say(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
