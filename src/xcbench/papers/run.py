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
from xcbench.papers import LOSS, PARTS, Grid, Measured, Paper, kept
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
    again : whether rows of the committed tables count for nothing.
    """

    paper: Paper
    folder: Path
    overrides: Mapping[str, str]
    again: bool = False

    def run(self, part: str) -> int:
        """Run the grids of a part and write its tables; returns the exit code."""
        known = {name: Kept.read(self.folder, name) for name in PARTS}
        if self.again:
            known[part] = Kept(known[part].rows[:0], known[part].curves[:0])
        grids = [grid for grid in self.paper.grids if grid.part == part]
        code = 0
        for number, grid in enumerate(grids, 1):
            print(f"{self.paper.name} {part} {number}/{len(grids)}: {grid.name}", flush=True)
            with sweeps.hydra():
                configurations = [
                    replace(settings, grid=f"{self.paper.name}-{grid.name}")
                    for name in (grid.name, *grid.also)
                    for settings in sweeps.of_experiment(
                        f"{self.paper.name}/{name}", self.overrides
                    )
                ]
            if not configurations:
                print("it has no such points")
                continue
            if grid.rates_from:
                rates = self._rates(grid.rates_from, known["tuning"].rows)
                configurations = with_rates(configurations, rates)
            found, curves, exit_code = self._grid(grid, configurations, known[part])
            code = max(code, exit_code)
            known[part] = _merged(known[part], grid.name, found, curves, self._narrowed)
            known[part].write(self.folder, part)
            if code == 130:
                break
        return code

    @property
    def _narrowed(self) -> bool:
        """Whether only some points of the grids are wanted."""
        return any(key == "seed" or key not in sweeps.PLAIN for key in self.overrides)

    def _rates(self, name: str, tuned: pd.DataFrame) -> Rates:
        grid = next(grid for grid in self.paper.grids if grid.name == name)
        return best_rates(tuned[tuned["grid"] == name], grid.criterion)

    def _grid(
        self, grid: Grid, configurations: list[Config], known: Kept
    ) -> tuple[pd.DataFrame, pd.DataFrame, int]:
        """Rows and checkpoints of a grid, and the exit code of its launches."""
        found, curves, code = _points(grid.name, configurations, known)
        for _ in range(DECADES if grid.extended else 0):
            more = _beyond(grid, found, configurations)
            if not more or code == 130:
                break
            print(f"{len(more)} points a decade further, where a best rate ends the grid")
            configurations = configurations + more
            found, curves, code = _points(grid.name, configurations, known)
        return found, curves, code


def _points(
    name: str, configurations: list[Config], known: Kept
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Run the points for which no row holds; gives the rows of all."""
    planned = planning.jobs(configurations)
    held = {job.cell.cell: row for job in planned if (row := known.holds(job))}
    todo = [job for job in planned if job.cell.cell not in held]
    if held:
        print(f"{len(planned)} cells: {len(held)} of them hold in the committed tables")
    code = app.execute([job.settings for job in todo]) if todo else 0
    runs_dir = Path(configurations[0].runs_dir)
    ran = [cell for job in todo if (cell := cells.load(runs_dir, job.cell.cell))]
    rows = pd.concat([known.of(name, list(held.values())), kept.rows(name, ran)])
    curves = known.curves[known.curves["cell"].isin(held.values())]
    return rows, pd.concat([curves, kept.curves(ran)]), code


def _merged(
    known: Kept, grid: str, rows: pd.DataFrame, curves: pd.DataFrame, narrowed: bool
) -> Kept:
    """Tables with new rows of a grid; where only a part of it was wanted, the others stay."""
    others = known.rows[known.rows["grid"] != grid]
    if narrowed:
        point = ["dataset", "method", "lr", "seed"]
        mine = known.rows[known.rows["grid"] == grid]
        again = mine.set_index(point).index.isin(rows.set_index(point).index)
        others = pd.concat([others, mine[~again]])
    whole = pd.concat([others, rows], ignore_index=True)
    checkpoints = pd.concat([known.curves, curves], ignore_index=True)
    checkpoints = checkpoints[checkpoints["cell"].isin(whole["cell"])]
    return Kept(whole, checkpoints.drop_duplicates(["cell", "iteration"], keep="last"))


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
    """The same points at these rates; where there is none, without a rate."""
    return [
        replace(
            settings,
            method=replace(
                settings.method, lr=rates.get((settings.dataset.name, settings.method.name))
            ),
        )
        for settings in configurations
    ]


def _beyond(grid: Grid, rows: pd.DataFrame, configurations: list[Config]) -> list[Config]:
    """Points a decade beyond each best rate that ends the grid of its dataset and method."""
    more: list[Config] = []
    rates = best_rates(rows, grid.criterion)
    for (dataset, method), best in rates.items():
        variant = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
        at = edge(variant, best)
        alike = [
            settings
            for settings in configurations
            if (settings.dataset.name, settings.method.name) == (dataset, method)
            and settings.method.lr == best
        ]
        beyond = float(f"{best * (10 if at == 'upper' else 0.1):.6g}")
        if at:
            more += [
                replace(settings, method=replace(settings.method, lr=beyond)) for settings in alike
            ]
    return more


def measured(folder: Path) -> Measured:
    """What the committed tables of a paper hold."""
    parts = [Kept.read(folder, part) for part in PARTS]
    return Measured(
        pd.concat([part.rows for part in parts], ignore_index=True),
        pd.concat([part.curves for part in parts], ignore_index=True),
    )
