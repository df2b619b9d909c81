"""Run the cells of the board: for every task and method its searches, then its final cells.

Finished cells are kept, as in the grids of a paper; every pair of a task and a method is such a
grid. The tables are written after every task, so an interrupted launch loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xcbench.board import limits
from xcbench.board.protocol import CELLS, NAME, PARTS, Conditions, Protocol, Task
from xcbench.board.tuning import Measurement
from xcbench.committed import results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.committed.totals import Totals
from xcbench.config.settings import Config
from xcbench.papers.run import cells_of, tables
from xcbench.plan import planning, sweeps
from xcbench.plan.job import Job

FAILED, STOPPED = 1, 128  # exit codes: some cells failed; from there on, with a signal
Rows = dict[str, ResultsCache]  # by part


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

    def run(self) -> int:
        """Run what is missing of every task, and write the tables; returns the exit code."""
        code = 0
        with sweeps.hydra(self.overrides):
            conditions = Conditions(self.protocol, self.overrides)
            for task in self._chosen():
                committed, new = self._committed(task), []
                caches = {
                    part: self._with_committed(task, committed[part], cache)
                    for part, cache in tables(self.folder / CELLS / task.name).items()
                }
                for method in self._methods():
                    if not self.totals:
                        print(f"{NAME}: {task.name} {method}", flush=True)
                    rows, exit_code = self._pair(conditions, task, method, caches)
                    code = max(code, exit_code)
                    if code > FAILED:
                        break
                    new.append(rows)
                if self.totals:
                    self.totals.end_grid(task.name)
                    continue
                for part in PARTS:
                    rows_of_part = [rows[part] for rows in new]
                    keep = partial(self._replaced, task, committed[part], rows_of_part)
                    results_cache.update(self.folder / CELLS / task.name, part, keep)
                if code > FAILED:
                    break
        return code

    def _committed(self, task: Task) -> Rows:
        """Rows of a task that a partial board starts from; none for the whole board."""
        if not self.committed:
            return dict.fromkeys(PARTS, ResultsCache.empty())
        return tables(self.committed / CELLS / task.name)

    def _with_committed(
        self, task: Task, committed: ResultsCache, cache: ResultsCache
    ) -> ResultsCache:
        """A table with the committed rows of a task; of the chosen methods it keeps its rows."""
        mine = {f"{task.name}/{method}" for method in self._methods()} & set(cache.rows["grid"])
        for grid in sorted({*committed.rows["grid"]} - mine):
            names = committed.rows.loc[committed.rows["grid"] == grid, "cell"]
            cache = cache.replaced(grid, committed.only(grid, names))
        return cache

    def _replaced(
        self,
        task: Task,
        committed: ResultsCache,
        new: Sequence[ResultsCache],
        cache: ResultsCache,
    ) -> ResultsCache:
        """Tables with new rows of the pairs of a task; methods that did not run keep theirs."""
        cache = self._with_committed(task, committed, cache)
        for rows, method in zip(new, self._methods(), strict=False):
            cache = cache.replaced(f"{task.name}/{method}", rows)
        return cache

    def _pair(
        self, conditions: Conditions, task: Task, method: str, caches: Rows
    ) -> tuple[Rows, int]:
        """Rows of a method on a task, and the exit code of its launches."""
        measured, codes = dict.fromkeys(PARTS, ResultsCache.empty()), [0]

        def run(part: str, settings: Sequence[Config]) -> ResultsCache:
            if codes[-1] > FAILED:
                return ResultsCache.empty()
            jobs, grid = planning.jobs(settings, complete=False), f"{task.name}/{method}"
            new, code = cells_of(grid, jobs, caches[part], self._execute, self.totals)
            codes.append(code)
            measured[part] = measured[part].joined(new)
            return new

        Measurement(conditions, task, method, run).measure()
        return measured, max(codes)

    def _execute(self, jobs: Sequence[Job]) -> int:
        """Run cells within their limit of processor seconds, again those without a result."""
        seconds = sum(job.settings.budget.seconds or 0 for job in jobs)
        limit = self.protocol.overtime * seconds or self.protocol.reference_seconds
        code = limits.isolated(partial(limits.within, limit, jobs))
        if code >= 0:
            return code
        rest = [job for job in jobs if not limits.explained(job, -code, limit)]
        if len(rest) < len(jobs):
            return self._execute(rest) if rest else 0
        print(f"stopped: the process of these cells was killed by signal {-code}")
        return STOPPED - code

    def _methods(self) -> Sequence[str]:
        return self.methods or [*self.protocol.methods]

    def _chosen(self) -> Iterator[Task]:
        known = self.protocol.tasks
        yield from (task for name, task in known.items() if name in (self.tasks or known))
