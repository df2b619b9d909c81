"""Run the grids of a paper: first what tunes, then what takes the tuned rates.

What is finished stays finished: a cell in ``runs/``, or a row of the committed tables that still
holds. The tables are written after every grid.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench.committed import code_table, results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.committed.totals import Totals
from xcbench.config.settings import Config
from xcbench.data import Missing
from xcbench.papers import LOSS, PARTS, Grid, Measured, Paper, priors
from xcbench.papers.rows import stopped
from xcbench.plan import planning, stored, sweeps
from xcbench.plan.code import Change
from xcbench.plan.job import Job
from xcbench.plan.sweeps import Composer, ExperimentComposer
from xcbench.run.execute import execute
from xcbench.show.summary import at_best_rate, edge
from xcbench.store import cells
from xcbench.store.cell import ENDED
from xcbench.system import sources
from xcbench.system.processes import INTERRUPTED
from xcbench.units import count

DECADES = 4  # by which a grid is extended at most, on either side
Search = tuple[str, ...]  # dataset, method, and what else tells a search from another
Best = dict[Search, dict[str, float]]  # rate (``method.lr``) and other tuned settings of a method


@dataclass
class Runner:
    """A launch of a paper.

    Attributes
    ----------
    folder : of the paper's report.
    overrides : settings of every point; of what an experiment sweeps, the values wanted.
    only : names of the grids to run; all where there are none.
    totals : counts of what would run; run nothing, list or count the cells.
    points : number of points that the launch has met so far.
    """

    paper: Paper
    folder: Path
    overrides: Mapping[str, str]
    only: tuple[str, ...] = ()
    totals: Totals | None = None
    points: int = 0
    composer: Composer = field(default_factory=ExperimentComposer, repr=False)

    def run(self, part: str) -> int:
        """Run the grids of a part and write its tables; returns the exit code."""
        caches = tables(self.folder)
        grids = [
            grid
            for grid in self.paper.grids
            if grid.part == part and (not self.only or grid.name in self.only)
        ]
        code = 0
        for number, grid in enumerate(grids, 1):
            place = f"{part} {number}/{len(grids)}: {grid.name}"
            if not self.totals:
                print(f"{self.paper.name} {place}", flush=True)
            configurations, names = self.configurations(grid, caches)
            if not configurations:
                if not self.totals:
                    print("no point of this grid matches")
                continue
            outcome, exit_code = self.run_grid(grid, configurations, caches[part])
            code = max(code, exit_code)
            if self.totals:
                self.totals.end_grid(place)
                continue
            swept = names if code == INTERRUPTED or any(map(narrows, self.overrides)) else ()
            new = partial(self._replaced, grid, outcome, swept, Path(configurations[0].runs_dir))
            caches[part] = results_cache.update(self.folder, part, new)
            if code == INTERRUPTED:
                break
        return code

    def configurations(
        self, grid: Grid, caches: Mapping[str, ResultsCache]
    ) -> tuple[list[Config], tuple[str, ...]]:
        """Points of a grid, with tuned rates if it takes them, and names of what it sweeps."""
        with sweeps.hydra(self.overrides):
            experiments = [
                sweeps.of_experiment(f"{self.paper.name}/{name}", self.overrides, self.composer)
                for name in (grid.name, *grid.also)
            ]
        points = [
            replace(settings, grid=f"{self.paper.name}-{grid.name}")
            for sweep in experiments
            for settings in sweep.configurations
        ]
        self.points += len(points)
        if grid.rates_from:
            tuning = next(it for it in self.paper.grids if it.name == grid.rates_from)
            points = with_best(points, best_settings(tuning, caches["tuning"]), tuning)
        return points, tuple(dict.fromkeys(name for sweep in experiments for name in sweep.swept))

    def _replaced(
        self,
        grid: Grid,
        new_rows: ResultsCache,
        swept: Sequence[str],
        runs_dir: Path,
        tables: ResultsCache,
    ) -> ResultsCache:
        """Tables with new rows of a grid, and with what is measured of their weights."""
        new = tables.replaced(grid.name, new_rows, swept)
        if not grid.measure:
            return new
        return replace(new, rows=grid.measure(new.rows, grid.name, runs_dir, self.folder))

    def run_grid(
        self, grid: Grid, configurations: list[Config], cache: ResultsCache
    ) -> tuple[ResultsCache, int]:
        """Rows and checkpoints of a grid, and the exit code of its launches."""
        jobs = planning.jobs(configurations, prepared=False)
        outcome, code = cells_of(grid.name, jobs, cache, totals=self.totals)
        extended = grid.extended and "method.lr" not in self.overrides
        steps = DECADES * (2 if grid.tuned else 1)
        for _ in range(steps if extended else 0):
            more = planning.jobs(_beyond(grid, outcome, jobs), prepared=False)
            if not more or code == INTERRUPTED:
                break
            if not self.totals:
                print(f"{len(more)} more points beside the best ones, at the end of their grid")
            jobs += more
            further, exit_code = cells_of(grid.name, more, cache, totals=self.totals)
            outcome, code = outcome.joined(further), max(code, exit_code)
        if grid.part == "runs" and not self.totals:
            priors.update(self.folder, jobs)
        return outcome, code


def narrows(key: str) -> bool:
    """Whether only some points of the grids are wanted by an override of this name."""
    return key == "seed" or (key not in sweeps.PLAIN and not key.startswith("slurm."))


def cells_of(
    name: str,
    planned: list[Job],
    cache: ResultsCache,
    run_jobs: Callable[[list[Job]], int] | None = None,
    totals: Totals | None = None,
) -> tuple[ResultsCache, int]:
    """Run the cells of a grid for which no row holds; gives the rows of all, and an exit code.

    Datasets are prepared for these cells alone. With totals, cells are counted and none is run.
    """
    launch = planned[0].settings
    with sources.remembered():
        rows, rest = _held(name, planned, cache)
        more, todo = _held(name, planning.prepared(rest, complete=not rows), cache)
    held = rows + more
    if held and not totals:
        print(
            f"{count(len(planned), 'cell')}: {len(held)} of them are valid in the committed tables"
        )
    changes = {job.cell.cell: cache.changes.get(job.cell.cell, Change()) for job in planned}
    for sentence in () if launch.force or totals else stored.sentences(changes.values()):
        print(sentence)
    if totals:
        totals.add(len(held), todo, {} if launch.force else changes, cache.rows)
    todo = [
        replace(job, label=f"{job.label}  (stale: {change.reason})") if change else job
        for job in todo
        for change in (changes.get(job.cell.cell),)
    ]
    code = (run_jobs or execute)(todo) if todo and not totals else 0
    loaded = (cells.usable(Path(launch.runs_dir), job.cell.cell) for job in todo)
    ran = [cell for cell in loaded if cell]
    same = [cell.cell for cell in ran if cell.cell in cache.skipped and cell.status == "skipped"]
    new = [cell for cell in ran if cell.cell not in same]
    return cache.only(name, [*held, *same]).joined(ResultsCache.of(name, new)), code


def _held(name: str, jobs: list[Job], cache: ResultsCache) -> tuple[list[str], list[Job]]:
    """Rows of a grid that hold, and the jobs that have none."""
    rows = ["" if job.settings.force else cache.holds(job, name) or "" for job in jobs]
    without = [job for job, row in zip(jobs, rows, strict=True) if not row]
    return [row for row in rows if row], without


def searches(grid: Grid, rows: pd.DataFrame) -> Iterator[tuple[Search, pd.DataFrame]]:
    """Rows of every search of a grid: of a dataset, a method and values of ``grid.variants``."""
    names = ["dataset", "method", *grid.variants]
    missing = [name for name in grid.variants if name not in rows]
    for key, search in rows.assign(**dict.fromkeys(missing, "")).groupby(names, dropna=False):
        yield tuple("" if value != value else str(value) for value in key), search  # NaN: none


def best_settings(grid: Grid, tables: ResultsCache) -> Best:
    """Rate and other tuned settings that are best in every search of a grid that has any."""
    best: Best = {}
    for key, search in searches(grid, tables.rows[tables.rows["grid"] == grid.name]):
        metric = grid.criterion.get(key[1], LOSS)
        ended = stopped(search, tables.curves, metric) if grid.stopped else search
        chosen = at_best_rate(ended, metric, grid.tuned)
        names = ["lr", *(name for name in grid.tuned if name in chosen)]
        points = chosen[names].drop_duplicates().dropna(axis="columns", how="all")
        if chosen["status"].isin(ENDED).any() and len(points) == 1 and "lr" in points:
            settings = points.rename(columns={"lr": "method.lr"}).iloc[0]
            best[key] = {str(name): float(value) for name, value in settings.items()}
    return best


def with_best(configurations: list[Config], best: Best, tuning: Grid) -> list[Config]:
    """The same points with the settings that a tuning grid found.

    Those that have none are left out, unless they cannot run anyway: a number at another rate
    would not be what the grid is for.
    """
    tuned, without = [], []
    for job in planning.jobs(configurations, prepared=False):
        settings = best.get(_search(tuning, job))
        if settings is None and not isinstance(job.info, Missing):
            without.append(" ".join(_search(tuning, job)))
        else:
            tuned.append(_with(job.settings, settings or {"method.lr": None}))
    if without:
        print(f"left out, because no rate could be chosen: {', '.join(dict.fromkeys(without))}")
    return tuned


def _search(grid: Grid, job: Job) -> Search:
    """The search of a grid that a job belongs to."""
    others = (str(_setting(job, name, "")) for name in grid.variants)
    return job.cell.dataset, job.cell.method, *others


def _setting(job: Job, name: str, default: object = None) -> object:
    value: object = job.settings
    for part in name.split("."):
        value = vars(value).get(part, default) if is_dataclass(value) else default
    return value


def _with(settings: Config, values: Mapping[str, float | None]) -> Config:
    for name, value in values.items():
        settings = _changed(settings, name.split("."), value)
    return settings


def _changed(settings: Any, path: Sequence[str], value: float | None) -> Any:
    """Settings with another value of an option, named from the outside in."""
    outer, *inner = path
    new = _changed(vars(settings)[outer], inner, value) if inner else value
    return replace(settings, **{outer: new})


def _beyond(grid: Grid, tables: ResultsCache, jobs: list[Job]) -> list[Config]:
    """Points that the best one of each search lacks, one setting changed at a time.

    Of a rate alone, the one a decade beyond, where the best ends the grid. With other settings, the
    next half decades on either side of each.
    """
    more: list[Config] = []
    rows = dict(searches(grid, tables.rows))
    for key, best in best_settings(grid, tables).items():
        same = [job for job in jobs if _search(grid, job) == key]
        points = [{name: _setting(job, name) for name in best} for job in same]
        at_best = [job for job, point in zip(same, points, strict=True) if point == best]
        aside = _half_decades(best) if grid.tuned else _a_decade(best, rows[key])
        missing = [point for point in aside if point not in points]  # one that failed is there
        more += [_with(job.settings, point) for point in missing for job in at_best]
    return more


def _a_decade(best: dict[str, float], search: pd.DataFrame) -> list[dict[str, float]]:
    """The rate beyond the best one, if that ends its grid."""
    lr = best["method.lr"]
    factor = {"upper": 10, "lower": 0.1}.get(edge(search, lr))
    return [{"method.lr": float(f"{lr * factor:.6g}")}] if factor else []


def _half_decades(best: dict[str, float]) -> list[dict[str, float]]:
    """Neighbours of a point on the ladder 1, 3, 10, 30, …; a setting of 0 has none."""
    return [
        {**best, name: float(f"{value * factor:.1g}")}
        for name, value in best.items()
        for factor in (1 / 3, 10 / 3)
        if value
    ]


def tables(folder: Path) -> dict[str, ResultsCache]:
    """The committed tables of a paper, and a warning of what is damaged in them."""
    parts = {part: ResultsCache.read(folder, part) for part in PARTS}
    for part, cache in parts.items():
        rows, curves, _ = results_cache.paths(folder, part)
        for path, what, number in (
            (rows, "rows", cache.lost),
            (curves, "curves", int((~cache.has_curve).sum())),
        ):
            if number:
                print(
                    f"warning: {path}: left out {number} {what}, damaged or missing; restore the "
                    "file, or their cells run again",
                    file=sys.stderr,
                )
    return parts


def measured(folder: Path) -> Measured:
    """What the committed tables of a paper hold; what is damaged in them is left out."""
    parts = tables(folder)
    joined = parts["tuning"].intact.joined(parts["runs"].intact)
    return Measured(joined.rows, joined.curves, stale=code_table.stale(joined.rows, joined.codes))
