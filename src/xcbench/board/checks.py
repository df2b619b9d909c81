"""End-to-end checks: exact softmax reaches its optimum, reruns agree, trial counts are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.board import tuning
from xcbench.board.launch import Launch
from xcbench.board.protocol import RERUNS, Conditions, Task
from xcbench.board.results import REFERENCE
from xcbench.committed.results_cache import ResultsCache, save
from xcbench.methods import registry
from xcbench.papers.run import tables
from xcbench.plan import planning, sweeps
from xcbench.run import runner
from xcbench.show.table import Table, markdown, numeric
from xcbench.store.ordering import best_value

NAME = "checks"
DECAY = 1.0  # weight decay of the check of the optimum
NEAR = 1e-4  # of the optimum of a library that stops at a tolerance
AGREE = 1e-5  # of numbers that tables round to eight digits
COMPARED = ("train_log_loss", "train_error", "validation_error", "test_log_loss", "test_error")


def run(launch: Launch) -> int:
    """Run the checks and write their table, also if one fails; returns the exit code."""
    caches = tables(launch.folder)
    with sweeps.hydra(launch.overrides):
        conditions = Conditions(launch.protocol, launch.overrides)
        rows = [
            *counted(launch, caches),
            *optimum(conditions, launch.protocol.tasks[0]),
            *again(launch, conditions, caches),
        ]
    table = pd.DataFrame(rows)
    save(table, launch.folder / f"{NAME}.csv", 6)
    print(markdown(Table(NAME, table, numeric(table), verbatim=True)))
    return 0


def _row(check: str, what: str, number: float, reference: float, holds: bool) -> dict[str, object]:
    return {
        "check": check,
        "of": what,
        "number": number,
        "beside": reference,
        "result": "holds" if holds else "fails",
    }


def counted(launch: Launch, caches: Mapping[str, ResultsCache]) -> Iterator[dict[str, object]]:
    """Check that every method had as many trials as the others, on tasks where it has final cells.

    Methods without tunable options, and methods that refuse a point, have fewer.
    """
    by = ["grid", "method"]
    used = caches["runs"].rows[by].drop_duplicates()
    rows = caches["tuning"].rows.merge(used, on=by).groupby(by).size()
    for number, searches in rows.groupby(rows):
        methods = sorted(set(searches.index.get_level_values("method")))
        few = f" ({', '.join(methods)})" if number != launch.protocol.trials else ""
        yield _row(
            "trials a method and task",
            f"{len(searches)} searches{few}",
            float(str(number)),
            launch.protocol.trials,
            bool(int(str(number)) <= launch.protocol.trials),
        )


def optimum(conditions: Conditions, task: Task) -> Iterator[dict[str, object]]:
    """Compare training losses of methods with a softmax likelihood, at the same weight decay."""
    reached = {method: _objective(conditions, task, method) for method in _of_softmax()}
    best = reached[REFERENCE]
    for method, value in reached.items():
        if np.isfinite(value) and method != REFERENCE:
            what = f"{task.name}: {method} beside exact softmax"
            yield _row("training objective", what, value, best, value >= best - NEAR)


def _of_softmax() -> list[str]:
    """Exact softmax, and the methods that take steps and have its link."""
    methods = {name: registry.find(name).thing for name in registry.names()}
    return [
        name
        for name, method in methods.items()
        if method.link == REFERENCE and name != "prior" and not method.lacks(None)
    ]


def _objective(conditions: Conditions, task: Task, method: str) -> float:
    """Lowest mean log loss of all training rows with the penalty, nan where there is none."""
    settings = conditions.of(task, method, "runs", 0)
    unlimited = replace(
        tuning.with_options(settings, {"l2": DECAY}),
        budget=replace(settings.budget, seconds=None),
        evaluation=replace(settings.evaluation, rows=0, train_rows=0, costs=False),
    )
    (job,) = planning.jobs([unlimited], complete=False)
    (cell,) = runner.run([job])
    losses = "train_log_loss_uncorrected"  # another family of models has a correction
    losses = losses if losses in cell.curve else "train_log_loss"
    return best_value(cell.curve[losses] + cell.curve["l2_term"], "objective")


def again(
    launch: Launch, conditions: Conditions, caches: Mapping[str, ResultsCache]
) -> Iterator[dict[str, object]]:
    """Rerun random final cells that met no time limit; gives the largest difference of each."""
    rows = caches["runs"].rows
    methods = registry.names()
    here = rows[(rows["status"] == "done") & rows["method"].isin(methods)]
    drawn = here.sample(min(RERUNS, len(here)), random_state=0).sort_values(["grid", "method"])
    tasks = {task.name: task for task in launch.protocol.tasks}
    for _, row in drawn.iterrows():
        jobs = launch.jobs(tasks[row["grid"]], "runs", row["method"], conditions, caches["tuning"])
        planned = next((job for job in jobs if job.cell.cell == row["cell"]), None)
        what = f"{row['grid']} {row['method']} seed={row['seed']}"
        if planned is None:
            yield _row("run again", f"{what}: no longer what is planned", np.nan, 0.0, False)
            continue
        old = caches["runs"].curves[caches["runs"].curves["cell"] == row["cell"]]
        largest = difference(old, runner.run([planned])[0].curve, COMPARED)
        yield _row("run again", what, largest, 0.0, largest <= AGREE)


def difference(old: pd.DataFrame, new: pd.DataFrame, names: Sequence[str]) -> float:
    """Largest difference of the measures of two curves at the checkpoints that both have.

    A cell that is near its cap may meet it, and then lacks the last ones; infinite if none is left
    but the start.
    """
    places = [curve.assign(at=curve["epoch"].round(6)).set_index("at") for curve in (old, new)]
    common = places[0].index.intersection(places[1].index)
    if len(common) < 2:
        return float("inf")
    present = [name for name in names if name in old and name in new]
    one, other = (curve.loc[common, present].to_numpy(float) for curve in places)
    scale = np.maximum(1.0, np.abs(one))
    return float(np.nanmax(np.abs(one - other) / scale, initial=0.0))


def read(folder: Path) -> pd.DataFrame:
    """Read the table of checks; empty if they have not run."""
    path = folder / f"{NAME}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame()
