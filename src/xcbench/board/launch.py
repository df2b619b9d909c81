"""Run the cells of the board: for every task and method, first the trials, then the final cells.

Finished cells are kept, as in the grids of a paper. The tables are written after every task, so an
interrupted launch loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from xcbench.board import limits, tuning
from xcbench.board.protocol import NAME, PARTS, Conditions, Protocol, Task
from xcbench.committed import results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.committed.totals import Totals
from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.papers.run import cells_of, tables
from xcbench.plan import planning, sweeps
from xcbench.plan.planning import Job
from xcbench.store import cells
from xcbench.store.cell import FINAL
from xcbench.system.processes import INTERRUPTED

ENDED = "ended: the cells of the method took more than {:.0f} processor seconds"


@dataclass
class Launch:
    """A launch of the board.

    Attributes
    ----------
    folder : folder of the report.
    overrides : settings of every cell, such as ``runs_dir``.
    tasks, methods : names to run; all if empty.
    committed : folder of the whole board; a partial board starts from its rows.
    totals : counts of what would run; run and write nothing.
    """

    protocol: Protocol
    folder: Path
    overrides: Mapping[str, str]
    tasks: Sequence[str] = ()
    methods: Sequence[str] = ()
    committed: Path | None = None
    totals: Totals | None = None

    def run(self, parts: Sequence[str] = PARTS) -> int:
        """Run the parts of every task, and write their tables; returns the exit code."""
        caches, code = self._started(), 0
        with sweeps.hydra(self.overrides):
            conditions = Conditions(self.protocol, self.overrides)
            for task in self._chosen():
                new = dict.fromkeys(parts, ResultsCache.empty())
                for method in self.methods or registry.names():
                    both = partial(self._cells, task, method, conditions, caches, parts)
                    if not self.totals:
                        print(f"{NAME}: {task.name} {method}", flush=True)
                        code = max(code, limits.isolated(partial(both, self._within)))
                    if code == INTERRUPTED:
                        break
                    measured = both(self._ended)
                    new = {part: new[part].joined(measured[part]) for part in parts}
                if self.totals:
                    self.totals.end_grid(task.name)
                    continue
                for part in parts:
                    keep = partial(self._replaced, task.name, part, new[part])
                    caches[part] = results_cache.update(self.folder, part, keep)
                if code == INTERRUPTED:
                    break
        return code

    @cached_property
    def _source(self) -> dict[str, ResultsCache]:
        return tables(self.committed) if self.committed else {}

    def _started(self) -> dict[str, ResultsCache]:
        """Tables of the folder, those of a partial board with committed rows of its tasks."""
        caches = tables(self.folder)
        for part in PARTS:
            for task in self._chosen():
                caches[part] = self._with_committed(task.name, part, caches[part])
        return caches

    def _with_committed(self, task: str, part: str, cache: ResultsCache) -> ResultsCache:
        """A table with the committed rows of a task; of the chosen methods it keeps its rows."""
        if part not in self._source:
            return cache
        committed = self._source[part]
        measured = cache.rows.loc[cache.rows["grid"] == task, "method"]
        kept = set(measured) & set(self.methods or registry.names())
        rows = committed.rows[committed.rows["grid"] == task]
        rows = rows[~rows["method"].isin(kept)]
        curves = committed.curves[committed.curves["cell"].isin(rows["cell"])]
        some = ResultsCache(rows, curves, codes=committed.codes)
        return cache.replaced(task, some, ["method"])

    def _replaced(
        self, task: str, part: str, new: ResultsCache, cache: ResultsCache
    ) -> ResultsCache:
        """Tables with new rows of a task; methods that did not run keep theirs."""
        return self._with_committed(task, part, cache).replaced(task, new, ["method"])

    def _cells(
        self,
        task: Task,
        method: str,
        conditions: Conditions,
        caches: Mapping[str, ResultsCache],
        parts: Sequence[str],
        execute: Callable[[Task, str, Sequence[Job]], int],
    ) -> dict[str, ResultsCache]:
        """Rows of a method on a task by part; the best of the trials are those of the rows."""
        measured = dict.fromkeys(parts, ResultsCache.empty())
        for part in parts:
            tuned = measured.get("tuning", caches["tuning"])
            jobs = self.jobs(task, part, method, conditions, tuned)
            if jobs:
                run = partial(execute, task, part)
                measured[part], _ = cells_of(task.name, jobs, caches[part], run, self.totals)
        return measured

    def _ended(self, task: Task, part: str, jobs: Sequence[Job]) -> int:
        """Say of the cells that are not there that their process was ended."""
        for job in jobs:
            runs_dir = Path(job.settings.runs_dir)
            if isinstance(job.info, Info) and cells.usable(runs_dir, job.cell.cell) is None:
                message = ENDED.format(self.protocol.limit(task, part))
                cells.save(runs_dir, replace(job.cell, status="failed", message=message))
        return 0

    def _within(self, task: Task, part: str, jobs: Sequence[Job]) -> int:
        """Run cells with the processor seconds of the protocol for all of them."""
        return limits.within(self.protocol.limit(task, part), jobs, warm=part == "tuning")

    def _chosen(self) -> Iterator[Task]:
        names = [task.name for task in self.protocol.tasks]
        for name in self.tasks:
            if name not in names:
                raise UserError(f"task={name} is not possible: it is one of {', '.join(names)}")
        wanted = self.tasks or names
        yield from (task for task in self.protocol.tasks if task.name in wanted)

    def jobs(
        self, task: Task, part: str, method: str, conditions: Conditions, tuned: ResultsCache
    ) -> list[Job]:
        """Jobs of a method on a task; no final cells while trials of its search are missing."""
        seeds = range(self.protocol.seeds if part == "runs" else 1)
        configurations = [
            self._measured(task, conditions.of(task, method, part, seed)) for seed in seeds
        ]
        trials = tuning.jobs(self.protocol, configurations[0])
        if part == "tuning":
            return trials
        rows = tuned.rows[(tuned.rows["grid"] == task.name) & (tuned.rows["method"] == method)]
        best = tuning.best(rows, tuned.curves, task.every_label)
        if best is None or rows["status"].isin(FINAL).sum() < len(trials):
            return []
        points = [tuning.with_options(settings, best) for settings in configurations]
        return planning.jobs(points, complete=False)

    def _measured(self, task: Task, settings: Config) -> Config:
        """With the measures of the task, as far as the method ranks classes."""
        ranks = registry.method_of(settings.method).ranks
        if not task.every_label or not (ranks is True or int(ranks) >= len(self.protocol.labels)):
            return settings
        metrics = list(self.protocol.labels)
        return replace(settings, evaluation=replace(settings.evaluation, metrics=metrics))
