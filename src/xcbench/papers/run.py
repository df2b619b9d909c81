"""Run the grids of a paper: first what tunes, then what takes the tuned rates.

What is finished stays finished: a cell in ``runs/``, or a row of the committed tables that still
holds. The tables are written after every grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from xcbench import app, cells, planning, sweeps
from xcbench.config import Config
from xcbench.datasets import Info
from xcbench.papers import INTERRUPTED, LOSS, PARTS, Grid, Measured, Paper, Place
from xcbench.papers.kept import Kept
from xcbench.report.summary import ENDED, at_best_rate, edge

DECADES = 4  # by which a grid of rates is extended at most, on either side
Rates = dict[tuple[str, str], float]  # by dataset and method


@dataclass
class Runner:
    """A launch of a paper.

    Attributes
    ----------
    folder : of the paper's report.
    overrides : settings of every point; of what an experiment sweeps, the values wanted.
    only : names of the grids to run; all where there are none.
    points : number of points that the launch has met so far.
    """

    paper: Paper
    folder: Path
    overrides: Mapping[str, str]
    only: tuple[str, ...] = ()
    points: int = 0

    def run(self, part: str) -> int:
        """Run the grids of a part and write its tables; returns the exit code."""
        known = {name: Kept.read(self.folder, name) for name in PARTS}
        grids = [
            grid
            for grid in self.paper.grids
            if grid.part == part and (not self.only or grid.name in self.only)
        ]
        code = 0
        for number, grid in enumerate(grids, 1):
            print(f"{self.paper.name} {part} {number}/{len(grids)}: {grid.name}", flush=True)
            with sweeps.hydra(self.overrides):
                found_sweeps = [
                    sweeps.of_experiment(f"{self.paper.name}/{name}", self.overrides)
                    for name in (grid.name, *grid.also)
                ]
            configurations = [
                replace(settings, grid=f"{self.paper.name}-{grid.name}")
                for sweep in found_sweeps
                for settings in sweep.configurations
            ]
            self.points += len(configurations)
            if grid.rates_from:
                rates = self._rates(grid.rates_from, known["tuning"].rows)
                configurations = with_rates(configurations, rates)
            if not configurations:
                print("it has no such points")
                continue
            found, exit_code = self._grid(grid, configurations, known[part])
            code = max(code, exit_code)
            if configurations[0].plan:
                continue
            swept = found_sweeps[0].swept if any(map(narrows, self.overrides)) else ()
            tables = known[part].replaced(grid.name, found, swept)
            if grid.measure:
                place = Place(grid.name, Path(configurations[0].runs_dir), self.folder)
                tables = Kept(grid.measure(tables.rows, place), tables.curves)
            known[part] = tables
            known[part].write(self.folder, part)
            if code == INTERRUPTED:
                break
        return code

    def _rates(self, name: str, tuned: pd.DataFrame) -> Rates:
        grid = next(grid for grid in self.paper.grids if grid.name == name)
        return best_rates(tuned[tuned["grid"] == name], grid.criterion)

    def _grid(self, grid: Grid, configurations: list[Config], known: Kept) -> tuple[Kept, int]:
        """Rows and checkpoints of a grid, and the exit code of its launches."""
        found, code = _points(grid.name, configurations, known)
        extended = grid.extended and "method.lr" not in self.overrides
        for _ in range(DECADES if extended else 0):
            more = _beyond(grid, found.rows, configurations)
            if not more or code == INTERRUPTED:
                break
            print(f"{len(more)} points a decade further, where a best rate ends the grid")
            configurations = configurations + more
            further, exit_code = _points(grid.name, more, known)
            found, code = found.joined(further), max(code, exit_code)
        return found, code


def narrows(key: str) -> bool:
    """Whether only some points of the grids are wanted by an override of this name."""
    return key == "seed" or key not in sweeps.PLAIN


def _points(name: str, configurations: list[Config], known: Kept) -> tuple[Kept, int]:
    """Run the points for which no row holds; gives the rows of all."""
    launch = configurations[0]
    planned = planning.jobs(configurations)
    candidates = {} if launch.force else {job.cell.cell: known.holds(job, name) for job in planned}
    held = {cell: row for cell, row in candidates.items() if row}
    todo = [job for job in planned if job.cell.cell not in held]
    if held:
        print(f"{len(planned)} cells: {len(held)} of them hold in the committed tables")
    code = app.execute([job.settings for job in todo]) if todo else 0
    loaded = (cells.load(Path(launch.runs_dir), job.cell.cell) for job in todo)
    ran = [cell for cell in loaded if cell]
    return known.only(name, held.values()).joined(Kept.of(name, ran)), code


def best_rates(rows: pd.DataFrame, criterion: Mapping[str, str]) -> Rates:
    """Best rate of every dataset and method of a grid, as far as it has one."""
    rates: Rates = {}
    for (dataset, method), variant in rows.groupby(["dataset", "method"]):
        metric = criterion.get(str(method), LOSS)
        best = at_best_rate(variant, metric)
        if best["status"].isin(ENDED).any() and best["lr"].nunique() == 1:
            rates[str(dataset), str(method)] = float(best["lr"].iloc[0])
    return rates


def with_rates(configurations: list[Config], rates: Rates) -> list[Config]:
    """The same points at these rates; without those that lack one, unless they cannot run anyway.

    A number at another rate would not be what the grid is for.
    """
    made, without = [], []
    for job in planning.jobs(configurations):
        rate = rates.get((job.cell.dataset, job.cell.method))
        if rate is None and isinstance(job.info, Info):
            without.append(f"{job.cell.dataset} {job.cell.method}")
        else:
            made.append(_at(job.settings, rate))
    if without:
        print(f"left out, as no rate was found: {', '.join(dict.fromkeys(without))}")
    return made


def _at(settings: Config, rate: float | None) -> Config:
    return replace(settings, method=replace(settings.method, lr=rate))


def _beyond(grid: Grid, rows: pd.DataFrame, configurations: list[Config]) -> list[Config]:
    """Points a decade beyond each best rate that ends the grid of its dataset and method."""
    more: list[Config] = []
    jobs = planning.jobs(configurations)
    for (dataset, method), best in best_rates(rows, grid.criterion).items():
        variant = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
        at = edge(variant, best)
        beyond = float(f"{best * (10 if at == 'upper' else 0.1):.6g}")
        own = [job for job in jobs if (job.cell.dataset, job.cell.method) == (dataset, method)]
        if at and all(job.cell.lr != beyond for job in own):  # one that failed is there already
            more += [_at(job.settings, beyond) for job in own if job.cell.lr == best]
    return more


def measured(folder: Path) -> Measured:
    """What the committed tables of a paper hold."""
    tuning, runs = (Kept.read(folder, part) for part in PARTS)
    whole = tuning.joined(runs)
    return Measured(whole.rows, whole.curves)
