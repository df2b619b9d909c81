"""A short comparison of the methods on one dataset, in a given time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench.board import advice, processes, tuning
from xcbench.board.advice import Needs
from xcbench.board.protocol import Conditions, Task
from xcbench.core.dataset import Info
from xcbench.methods import registry
from xcbench.run import cells, plan, results
from xcbench.run.ordering import best_of_each
from xcbench.run.plan import Job

FIRST = 0.6  # share of the time in which methods run at their defaults
KEPT = 3  # methods whose settings are searched in the rest
CELLS = 40  # of a comparison, about, which gives the seconds of one
LATE = 4  # times these seconds after which a cell is ended


@dataclass
class Comparison:
    """A comparison of methods on one dataset, within a time limit.

    Attributes
    ----------
    seconds : wall-clock limit of the whole comparison; a running cell may finish.
    order : methods, the most promising first.
    entries : validation measurements of the cells, by identity.
    """

    conditions: Conditions
    task: Task
    seconds: float
    needs: Needs
    order: Sequence[str]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    interrupted: bool = False

    def run(self) -> pd.DataFrame:
        """Run all cells and return their measurements, one row a cell."""
        started = time.monotonic()
        for method in self.order:
            if time.monotonic() - started > FIRST * self.seconds or self.interrupted:
                break
            self._run(self._jobs(method)[:1])
        for job in self._drawn():
            if time.monotonic() - started > self.seconds or self.interrupted:
                break
            self._run([job])
        return self.table

    @property
    def table(self) -> pd.DataFrame:
        """Measurements so far."""
        names = ["method", "accuracy", "test_log_loss", "train_seconds", "model_mib", "row_seconds"]
        return pd.DataFrame(list(self.entries.values())).reindex(columns=[*names, "settings"])

    def _jobs(self, method: str) -> list[Job]:
        """A cell at the defaults, then the drawn ones."""
        settings = self.conditions.of(self.task, method, "runs", 0)
        (first,) = plan.jobs([settings], whole=False)
        if not isinstance(first.info, Info):
            return [first]
        thing = registry.method_of(settings.method)
        points = tuning.trials(self.conditions.protocol, thing, settings, first.info)
        return plan.jobs(points, whole=False)

    def _drawn(self) -> Iterator[Job]:
        """Drawn cells of the best methods so far, in turn."""
        best: list[str] = []
        table = self.table
        while len(best) < KEPT and (row := advice.choice(table, self.needs)) is not None:
            best.append(str(row["method"]))
            table = table[table["method"] != row["method"]]
        searches = [self._jobs(method)[1:] for method in best]
        for turn in range(max(map(len, searches), default=0)):
            yield from (jobs[turn] for jobs in searches if turn < len(jobs))

    def _run(self, jobs: Sequence[Job]) -> None:
        """Run cells, and take their measures."""
        limit = LATE * self.conditions.protocol.cap(self.task, "runs")
        code = processes.apart(partial(processes.within, limit, jobs, warm=True))
        self.interrupted = code == processes.INTERRUPTED
        for job in jobs:
            cell = cells.usable(Path(job.settings.runs_dir), job.cell.cell)
            if cell is not None and cell.status in tuning.ENDED:
                curve = results.frame([cell], curves=True)
                column = tuning.criterion(curve, self.task.every_label)
                row = best_of_each(curve, column, "cell").iloc[0]
                self.entries[job.cell.cell] = _measures(job, row, self.task.every_label)


def _measures(job: Job, row: pd.Series, every_label: bool) -> dict[str, Any]:
    """What counts of a cell; losses and accuracy are those of the rows set aside."""
    assert isinstance(job.info, Info)
    evaluated = min(job.settings.evaluation.rows, job.info.test)
    accuracy = row["validation_precision_at_1"] if every_label else 1 - row["validation_error"]
    options = {name.removeprefix("method."): row.get(name) for name in tuning.POINT}
    return {
        "method": job.cell.method,
        "accuracy": accuracy,
        "test_log_loss": row.get("validation_log_loss", float("nan")),
        "train_seconds": row["train_seconds"],
        "model_mib": row["model_mib"],
        "row_seconds": row["predict_seconds"] / evaluated,
        "settings": {
            name: float(value) for name, value in options.items() if value and value == value
        },
    }


def short(conditions: Conditions, seconds: float) -> Conditions:
    """Conditions of the board with a smaller budget, so that a comparison fits a time limit."""
    cap = round(seconds / CELLS, 3)
    conditions.protocol = replace(conditions.protocol, seconds={"tuning": cap, "runs": cap})
    return conditions
