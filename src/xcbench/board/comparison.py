"""A short comparison of the methods on one dataset, in a given time."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench.board import advice, limits, tuning
from xcbench.board.advice import Needs
from xcbench.board.protocol import Conditions, Task
from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.data import prepare
from xcbench.errors import UserError
from xcbench.plan import planning
from xcbench.plan.job import Job
from xcbench.store import cells, results
from xcbench.store.cell import ENDED

FIRST = 0.6  # share of the time in which methods run at their defaults
KEPT = 3  # methods whose settings are searched in the rest
CELLS = 40  # of a comparison, about, which gives the seconds of one
RESOLUTION = 0.1  # seconds of training below which a short run does not tell methods apart
SCHEDULE = "geometric"  # these cells seldom come to the end of their passes
LATE = 5  # times these seconds, of one at least, ends a cell: reading and evaluating count too


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
        """Run all cells, print a line a method, and return the measurements, one row a cell.

        Raises
        ------
        UserError
            If the dataset cannot be read, or no method can run on it.
        """
        info, outcome = self.prepared(), ""
        started = time.monotonic()
        for method in self.order:
            if time.monotonic() - started > FIRST * self.seconds or self.interrupted:
                break
            print(f"{method} …", end=" ", flush=True)
            outcome = self._run(self._jobs(method, info)[0])
            print(outcome, flush=True)
        if not self.entries:
            raise UserError(f"no method has a result, the last had {outcome}")
        searched: set[str] = set()
        for job in self._drawn(info):
            if time.monotonic() - started > self.seconds or self.interrupted:
                break
            self._run(job)
            searched.add(job.cell.method)
        if searched:
            print(f"searched for better settings: {', '.join(sorted(searched))}")
        return self.table

    def prepared(self) -> Info:
        """The dataset, read once for all methods."""
        settings = self._default(self.order[0])
        cache = planning.cache_dir(settings)
        info = prepare(settings.dataset, Path(settings.data_dir), cache, settings.fetch)
        assert isinstance(info, Info)  # dataset.missing=error
        return info

    @property
    def table(self) -> pd.DataFrame:
        """Measurements so far."""
        names = ["method", "accuracy", "test_log_loss", "train_seconds", "model_mib", "row_seconds"]
        return pd.DataFrame(list(self.entries.values())).reindex(columns=[*names, "settings"])

    def _jobs(self, method: str, info: Info) -> list[Job]:
        """A cell at the defaults, then the drawn ones."""
        settings = _drawable(self._default(method), info)
        points = tuning.drawn(self.conditions.protocol, settings, info, 0)
        trials = [tuning.with_options(settings, point) for point in points]
        return planning.jobs(trials, complete=False)

    def _default(self, method: str) -> Config:
        """The cell of a method at its defaults."""
        (seconds,) = self.conditions.protocol.rungs
        return self.conditions.trial(self.task, method, 0, seconds)

    def _drawn(self, info: Info) -> Iterator[Job]:
        """Drawn cells of the best methods so far, in turn."""
        best: list[str] = []
        table = self.table
        while (
            len(best) < KEPT and (row := advice.choice(table, self.needs, RESOLUTION)) is not None
        ):
            best.append(str(row["method"]))
            table = table[table["method"] != row["method"]]
        searches = [self._jobs(method, info)[1:] for method in best]
        for turn in range(max(map(len, searches), default=0)):
            yield from (jobs[turn] for jobs in searches if turn < len(jobs))

    def _run(self, job: Job) -> str:
        """Run a cell, take its measures, and say what came out."""
        limit = LATE * max(self.conditions.protocol.rungs[0], 1.0)
        code = limits.isolated(partial(_silently, partial(limits.within, limit, [job])))
        self.interrupted = code == limits.INTERRUPTED
        if code < 0:
            limits.explained(job, -code, limit)
        cell = cells.usable(Path(job.settings.runs_dir), job.cell.cell)
        if cell is None or cell.status not in ENDED:
            why = (
                f": {cell.message or cell.status}" if cell else " in this time; try more seconds=…"
            )
            return f"no result{why}"
        curve = results.frame([cell], curves=True)
        column = tuning.criterion(curve, self.task.every_label)
        row = tuning.stopped(curve, column).iloc[0]
        entry = self.entries[job.cell.cell] = _measures(job, row, self.task.every_label)
        return f"accuracy {100 * entry['accuracy']:.1f} %, {seconds(entry['train_seconds'])}"


def _drawable(settings: Config, info: Info) -> Config:
    """No more negatives than there are other classes, as in the estimators."""
    negatives = asdict(settings.method).get("negatives")
    if negatives is None or negatives < info.classes:
        return settings
    return tuning.with_options(settings, {"negatives": info.classes - 1})


def _silently(run: Callable[[], int]) -> int:
    """Run without the lines of a launch."""
    with redirect_stdout(io.StringIO()):
        return run()


def seconds(value: float) -> str:
    """Seconds of training in two digits; a smaller number is the clock's grain."""
    return f"{value:.2g} s of training" if value >= 0.01 else "under 0.01 s of training"


def _measures(job: Job, row: pd.Series, every_label: bool) -> dict[str, Any]:
    """What counts of a cell; losses and accuracy are those of the rows set aside."""
    assert isinstance(job.info, Info)
    evaluated = min(job.settings.evaluation.rows, job.info.test)
    accuracy = row["validation_precision_at_1"] if every_label else 1 - row["validation_error"]
    options = {name.removeprefix("method."): row.get(name) for name in tuning.POINT}
    negatives = asdict(job.settings.method).get("negatives")
    if negatives == job.info.classes - 1:  # perhaps fewer than by default
        options["negatives"] = negatives
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
    conditions.protocol = replace(conditions.protocol, rungs=(cap,), schedule=SCHEDULE)
    return conditions
