"""Train cells of the committed tables again, and compare: ``xcbench verify umax sample=40``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.data import Missing
from xcbench.papers import Paper
from xcbench.papers.run import Runner, tables
from xcbench.run import cells, checkpoints, plan, results
from xcbench.run.execute import execute_jobs
from xcbench.run.plan import Job
from xcbench.units import count

GRID = "verify"
TIMES = ("train_seconds", "predict_seconds", "peak_mib", "train_mib", "model_mib")
ENDED = ("done", "diverged")
EQUAL = 1e-6  # of a relative difference; the tables have eight digits
HEAD = ["cell", "dataset", "method", "lr", "seed"]


@dataclass(frozen=True)
class Drawn:
    """A committed row, and the job that measures it again."""

    paper: str
    row: pd.Series
    job: Job


def draw(
    papers: Sequence[Paper], reports: Path, settings: Mapping[str, str], sample: int, seed: int
) -> list[Drawn]:
    """Draw rows that still hold, whose data are here, and that no limit of time ended.

    Parameters
    ----------
    settings : of the launch, such as ``runs_dir``.
    """
    found = {item.row["cell"]: item for paper in papers for item in _rows(paper, reports, settings)}
    names = sorted(found)
    order = np.random.default_rng(seed).permutation(len(names))[:sample]
    return [_prepared(found[names[number]]) for number in order]


def _rows(paper: Paper, reports: Path, settings: Mapping[str, str]) -> Iterator[Drawn]:
    folder = reports / paper.name
    runner, caches = Runner(paper, folder, settings), tables(folder)
    for grid in paper.grids:
        print(f"{paper.name}: {grid.name}", flush=True)
        points, _ = runner.configurations(grid, caches)
        cache = caches[grid.part]
        rows = {str(row["cell"]): row for _, row in cache.rows.iterrows()}
        for job in plan.jobs(points, whole=False, prepared=False):
            if not isinstance(job.info, Missing) and not job.settings.budget.seconds:
                row = rows.get(cache.holds(job, grid.name) or "")
                if row is not None and row["status"] in ENDED:
                    yield Drawn(paper.name, row, job)


def _prepared(item: Drawn) -> Drawn:
    settings = replace(item.job.settings, grid=GRID, mlflow=False, plan=False)
    (job,) = plan.jobs([settings], whole=False)
    return replace(item, job=job)


def compare(drawn: Sequence[Drawn]) -> pd.DataFrame:
    """Train the cells again; gives the number of each that differs most, relative to its value."""
    execute_jobs([item.job for item in drawn])
    lines = []
    for item in drawn:
        cell = cells.usable(Path(item.job.settings.runs_dir), item.job.cell.cell)
        now = pd.Series(dtype=object)
        if cell:
            now = results.frame([cell], checkpoint=checkpoints.LAST).iloc[0]  # as rows are saved
        head = {name: item.row[name] for name in HEAD}
        lines.append({"paper": item.paper, **head, **_worst(item.row, now)})
    return pd.DataFrame(lines)


def _worst(row: pd.Series, now: pd.Series) -> dict[str, Any]:
    """The number that differs most; a missing one differs by infinity."""
    if row["status"] != now.get("status"):
        return _difference("status", row["status"], now.get("status"), math.inf)
    worst = _difference("", math.nan, math.nan, 0.0)
    for name in _measured(row):
        old, new = float(row[name]), float(now.get(name, math.nan))
        difference = abs(new - old) / max(abs(old), 1e-12) if new == new else math.inf
        if difference > worst["difference"]:
            worst = _difference(name, old, new, difference)
    return worst


def _difference(column: str, recorded: Any, now: Any, difference: float) -> dict[str, Any]:
    return {"column": column, "recorded": recorded, "now": now, "difference": difference}


def _measured(row: pd.Series) -> list[str]:
    """Columns with numbers that training or evaluation gave, without times and memory."""
    names = [str(name) for name in row.index]
    between = names[names.index("engine") + 1 : names.index("message")]
    return [
        name for name in between if "." not in name and name not in TIMES and row[name] == row[name]
    ]


def said(table: pd.DataFrame) -> str:
    """How many cells are equal, and how far the others are."""
    different = table[table["difference"] > EQUAL]
    same = len(table) - len(different)
    text = f"{count(len(table), 'cell')} trained again: {same} equal to {EQUAL:g}"
    if len(different):
        text += f", {len(different)} not, by {different['difference'].max():.2g} at most"
    return text
