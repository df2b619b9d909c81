"""Train cells of the committed tables again, and compare: ``xcbench verify umax sample=40``.

Processors round differently. Where scores overflow, as of the biased methods at high rates, or a
tree splits near a tie, training amplifies that, and another processor is like another seed. So a
number holds that is equal to 1e-6, or apart by no more than the seeds of its grid are among
themselves: three of their standard deviations.
"""

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
from xcbench.plan import planning
from xcbench.plan.job import Job
from xcbench.run.execute import execute
from xcbench.store import cells, checkpoints, results
from xcbench.units import count

GRID = "verify"
TIMES = ("train_seconds", "predict_seconds", "peak_mib", "train_mib", "model_mib")
ENDED = ("done", "diverged")
EQUAL = 1e-6  # of a relative difference; the tables have eight digits
DEVIATIONS = 3.0  # of the seeds, within which a number of another processor may lie
HEAD = ["cell", "dataset", "method", "lr", "seed"]


@dataclass(frozen=True)
class Drawn:
    """A committed row, those that differ in the seed alone, and the job that measures it again."""

    paper: str
    row: pd.Series
    seeds: pd.DataFrame
    job: Job


def draw(
    papers: Sequence[Paper], reports: Path, settings: Mapping[str, str], sample: int, seed: int
) -> list[Drawn]:
    """Draw rows that still hold, whose data are here, and that no limit of time ended.

    Parameters
    ----------
    settings : of the launch, such as ``runs_dir``.
    """
    candidates = {
        item.row["cell"]: item for paper in papers for item in _rows(paper, reports, settings)
    }
    names = sorted(candidates)
    order = np.random.default_rng(seed).permutation(len(names))[:sample]
    return [_prepared(candidates[names[number]]) for number in order]


def _rows(paper: Paper, reports: Path, settings: Mapping[str, str]) -> Iterator[Drawn]:
    folder = reports / paper.name
    runner, caches = Runner(paper, folder, settings), tables(folder)
    for grid in paper.grids:
        print(f"{paper.name}: {grid.name}", flush=True)
        points, _ = runner.configurations(grid, caches)
        cache = caches[grid.part]
        rows = {str(row["cell"]): row for _, row in cache.rows.iterrows()}
        for job in planning.jobs(points, complete=False, prepared=False):
            if not isinstance(job.info, Missing) and not job.settings.budget.seconds:
                row = rows.get(cache.holds(job, grid.name) or "")
                if row is not None and row["status"] in ENDED:
                    yield Drawn(paper.name, row, _seeds(cache.rows, row), job)


def _seeds(rows: pd.DataFrame, row: pd.Series) -> pd.DataFrame:
    """Rows of the same grid and the same settings, of all seeds."""
    settings = [name for name in map(str, rows) if "." in name and not name.startswith("shape.")]
    for name in {"grid", "dataset", "method", "lr", *settings} - {"dataset.protocol.split_seed"}:
        rows = rows[(rows[name] == row[name]) | (rows[name].isna() & pd.isna(row[name]))]
    return rows


def _prepared(item: Drawn) -> Drawn:
    again = [replace(item.job.settings, grid=GRID, mlflow=False, plan=False)]
    (job,) = planning.jobs(again, complete=False)
    return replace(item, job=job)


def compare(drawn: Sequence[Drawn]) -> pd.DataFrame:
    """Train the cells again; gives the number of each that differs most, relative to its value."""
    execute([item.job for item in drawn])
    lines = []
    for item in drawn:
        cell = cells.usable(Path(item.job.settings.runs_dir), item.job.cell.cell)
        now = pd.Series(dtype=object)
        if cell:
            now = results.frame([cell], checkpoint=checkpoints.LAST).iloc[0]  # as rows are saved
        head = {name: item.row[name] for name in HEAD}
        worst = _worst(item.row, now)
        allowed = _allowed(item, str(worst["column"]))
        lines.append({"paper": item.paper, **head, **worst, "allowed": allowed})
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


def _allowed(item: Drawn, column: str) -> float:
    """How far a number may be, relative to its value: three deviations over the seeds."""
    if column not in item.seeds or not len(item.seeds) > 1:
        return EQUAL
    deviation = float(item.seeds[column].astype(float).std(ddof=1))
    return max(EQUAL, DEVIATIONS * deviation / max(abs(float(item.row[column])), 1e-12))


def _difference(column: str, recorded: object, now: object, difference: float) -> dict[str, Any]:
    return {"column": column, "recorded": recorded, "now": now, "difference": difference}


def _measured(row: pd.Series) -> list[str]:
    """Columns with numbers that training or evaluation gave, without times and memory."""
    names = [str(name) for name in row.index]
    between = names[names.index("engine") + 1 : names.index("message")]
    return [
        name for name in between if "." not in name and name not in TIMES and row[name] == row[name]
    ]


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """Cells that differ by more than is allowed."""
    return table[~(table["difference"] <= table["allowed"])]


def summary(table: pd.DataFrame) -> str:
    """How many cells are equal, how many are within the spread of the seeds, and how far others."""
    different, beyond = table[table["difference"] > EQUAL], differing(table)
    same, near = len(table) - len(different), len(different) - len(beyond)
    text = f"{count(len(table), 'cell')} trained again: {same} equal to {EQUAL:g}"
    if near:
        text += f", {near} within the spread of the seeds"
    if len(beyond):
        text += f", {len(beyond)} not, by {beyond['difference'].max():.2g} at most"
    return text
