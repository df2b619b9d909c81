"""The whole flow of `run.py`: configurations → jobs → cells → MLflow."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.data import Missing
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.plan import planning, stored
from xcbench.plan.job import Job
from xcbench.plan.planned import TO_RUN, states
from xcbench.run import executors, halving, runner, workers
from xcbench.run.executors import elsewhere
from xcbench.run.leases import Queue
from xcbench.run.progress import Progress
from xcbench.run.recorder import Recorder
from xcbench.run.workers import Outcome
from xcbench.store import cells, grids, profile
from xcbench.store.cell import Cell
from xcbench.system.processes import INTERRUPTED
from xcbench.track.mlflow_target import Target
from xcbench.units import count

LISTED = 40  # cells of a plan
Ended = Callable[[Sequence[Cell]], None]


def run(configurations: Sequence[Config], complete: bool = True, ended: Ended | None = None) -> int:
    """Run a launch, all rungs of it, and print next steps; returns the worst code of `execute`.

    Parameters
    ----------
    configurations : points of the launch.
    complete : as of `execute`.
    ended : function that shows the cells of a launch, unless it was interrupted.
    """
    settings, code, names = configurations[0], 0, list[str]()
    by_rung = halving.rungs(configurations) if settings.halving else iter([configurations])
    for points in by_rung:
        launched = planned(points, complete)
        code = max(code, execute(launched, complete))
        names += [job.cell.cell for job in launched]
        if settings.plan or code == INTERRUPTED:
            break
    if complete and not settings.plan:
        if settings.halving:
            grids.add(Path(settings.runs_dir), settings.grid, names)  # of all rungs
        _say_next(launched, None if code == INTERRUPTED else ended)
    return code


def run_by(
    launcher: Callable[[], str], name: str, configurations: Sequence[Config], ended: Ended
) -> int:
    """As `run`, with another Hydra launcher, whose processes run one cell each.

    Parameters
    ----------
    launcher : function that runs them and returns an error, or None.
    name : name of the launcher.
    """
    settings, launched = configurations[0], planned(configurations)
    if settings.plan:
        return execute(launched)
    if settings.halving:
        raise UserError(f"hydra/launcher={name} knows no rungs; leave out either it, or halving")
    if settings.executor != executors.LOCAL or settings.workers > 1:
        raise UserError(
            f"hydra/launcher={name} runs the cells by itself; "
            "leave out either it, or executor and workers"
        )
    runs_dir, names = Path(settings.runs_dir), [job.cell.cell for job in launched]
    grids.add(runs_dir, settings.grid, names)
    problem = launcher()
    if problem:
        print(f"hydra/launcher={name}: {problem}", flush=True)
    for job in launched:
        if cells.usable(runs_dir, job.cell.cell) is None:
            reason = f"hydra/launcher={name} left no cell{problem and ': '}{problem}"
            cells.save(runs_dir, replace(job.cell, status="failed", message=reason))
    statuses = Counter(cell.status for cell in cells.load_all(runs_dir, names))
    _summarise(len(launched), 0, statuses)
    _say_next(launched, ended)
    return 1 if statuses["failed"] else 0


def _say_next(launched: Sequence[Job], ended: Ended | None) -> None:
    """Show the cells of a launch of several, and what can be done with them."""
    settings = launched[0].settings
    if ended and len(launched) > 1:
        names = [job.cell.cell for job in launched]
        ended([*cells.load_all(Path(settings.runs_dir), names)])
    grid = f"grid={settings.grid}"
    print(f"next: xcbench report {grid}    xcbench results {grid}    xcbench ui")


def planned(configurations: Sequence[Config], complete: bool = True) -> list[Job]:
    """Distinct jobs of a launch."""
    _check_launch(configurations)
    distinct = planning.jobs(configurations, complete)
    if complete and len(distinct) < len(configurations):
        print(f"the grid has {len(configurations)} points, of which {len(distinct)} are different")
    return distinct


def execute(jobs: Sequence[Job], complete: bool = True, shown: type[Progress] = Progress) -> int:
    """Run the jobs of a launch, or list them.

    Returns the exit code: 1 if a cell failed, `INTERRUPTED`, else 0.

    Parameters
    ----------
    complete : whether these are all jobs; another launcher's processes see one each.
    """
    settings = jobs[0].settings
    profile.LAUNCH.enter("other")
    executors.check(settings)
    _announce_twins(jobs)
    if settings.plan:
        _print_plan(jobs, Path(settings.runs_dir))
        return 0
    return _Launch(jobs, complete).run(shown)


class _Launch:
    """Jobs of a launch, and the cells that are there."""

    def __init__(self, jobs: Sequence[Job], complete: bool) -> None:
        self.jobs, self.complete, self.settings = jobs, complete, jobs[0].settings
        self.runs_dir = Path(self.settings.runs_dir)
        cells.mark(self.runs_dir)
        cells.sweep_leftovers(self.runs_dir)
        self.unwritten = self._add_grid() if complete else None
        self.stored = stored.look_up(self.runs_dir, jobs)
        valid = {} if self.settings.force else self.stored
        self.finished = {name: it.status for name, it in valid.items() if it.status}
        self.absent = [job for job in jobs if isinstance(job.info, Missing)]
        runnable = [job for job in jobs if not isinstance(job.info, Missing)]
        self.todo = [job for job in runnable if job.cell.cell not in self.finished]
        self.cached = len(runnable) - len(self.todo)
        self.statuses = Counter(self.finished.values())

    def _add_grid(self) -> UserError | None:
        """Add the cells to their grid; gives why not, which matters little if all are there."""
        try:
            grids.add(self.runs_dir, self.settings.grid, [job.cell.cell for job in self.jobs])
        except UserError as error:
            return error
        return None

    def run(self, shown: type[Progress]) -> int:
        """Run what is to run, record it in MLflow, and sum up."""
        if not self.settings.force:
            for sentence in stored.sentences(it.change for it in self.stored.values()):
                print(sentence)
        if self.unwritten and self.todo:
            raise self.unwritten
        if self.unwritten:
            print(f"warning: {self.unwritten}", file=sys.stderr)
        self.statuses["skipped"] += _skip(self.runs_dir, self.absent)
        tracked = self.settings.mlflow and not self.unwritten
        recorder = Recorder(self.runs_dir, tracked, self.settings.tracking_uri)
        code = self._run(self._progress(shown), recorder)
        with profile.LAUNCH.during("track"):  # what was cut off earlier, too
            recorder.finish({name: self.stored[name].started for name in self.finished})
        if self.complete and not self.unwritten:
            at_once = max(1, min(self.settings.workers, len(self.todo)))
            profile.write(self.runs_dir, profile.LAUNCH.taken(self.settings.grid, at_once))
        if "failed" in self.finished.values():
            print("cells that ran out of memory are not run again (force=true runs them)")
        _summarise(len(self.jobs), self.cached, self.statuses)
        return code

    def _progress(self, shown: type[Progress]) -> Progress:
        alone = self.settings.workers == 1 and self.settings.executor == executors.LOCAL
        number = len(self.jobs) - len(self.absent)
        return shown(number, self.todo, self.complete and alone, self.settings.workers)

    def _run(self, progress: Progress, recorder: Recorder) -> int:
        """Run the cells, and save each as it ends; returns the exit code."""
        started = {name: it.started for name, it in self.stored.items()}
        queue = Queue(self.runs_dir, self.todo, started, self.settings.workers)
        profile.LAUNCH.enter("idle")
        try:
            for outcome in self._outcomes(queue, progress):
                self._end(outcome, progress)
                queue.leases.release(outcome.cell.cell)
                progress.end(outcome.job, outcome.cell, outcome.seconds)
                with profile.LAUNCH.during("track"):
                    recorder.add(outcome.cell)
        except KeyboardInterrupt:
            print("\ninterrupted: what is finished is saved; the same command goes on from here")
            sys.stdout.flush()
            return INTERRUPTED
        finally:
            queue.leases.release_all()
        return 1 if self.statuses["failed"] else 0

    def _outcomes(self, queue: Queue, progress: Progress) -> Iterator[Outcome]:
        """Outcomes of the cells, in order of completion."""
        if self.settings.executor == executors.LOCAL or not queue:
            return workers.run(queue, self.settings.workers, progress.begin, progress.inside)
        return elsewhere.run(queue, executors.engine(self.settings, self.runs_dir))

    def _end(self, outcome: Outcome, progress: Progress) -> None:
        """Count a cell, and save it unless another process did."""
        job, cell, seconds, saved = outcome
        self.statuses[cell.status] += 1
        if seconds is None:
            return
        profile.LAUNCH.add(cell, seconds)
        with profile.LAUNCH.during("save"):
            if not saved:
                _save(self.runs_dir, job, cell, seconds, progress)
            if not cell.shape["twin"]:
                cells.remove(self.runs_dir, job.as_skipped)


def _skip(runs_dir: Path, absent: Sequence[Job]) -> int:
    """Record the cells whose data are not here, and give their number."""
    for job in absent:
        if cells.usable(runs_dir, job.cell.cell) is None:
            (cell,) = runner.run([job])
            cells.save(runs_dir, cell)
    reasons = Counter(job.info.reason for job in absent if isinstance(job.info, Missing))
    for reason, number in reasons.items():
        print(f"{count(number, 'cell')} skipped: {reason}")
    return len(absent)


def _check_launch(configurations: Sequence[Config]) -> None:
    """Settings of a launch are the same at every point of its sweep."""
    switches = (
        "grid",
        "plan",
        "force",
        "halving",
        "workers",
        "lockstep",
        "mlflow",
        "save_weights",
        "fetch",
    )
    places = ("runs_dir", "reports_dir", "tracking_uri", "executor", "executor_address", "slurm")
    for name in (*switches, *places):
        if len({str(vars(settings)[name]) for settings in configurations}) > 1:
            raise UserError(f"{name} cannot be swept: it applies to the whole launch")
    check_name("grid", configurations[0].grid)
    Target.of(Path(configurations[0].runs_dir), configurations[0].tracking_uri)


def _save(runs_dir: Path, job: Job, cell: Cell, seconds: float, progress: Progress) -> None:
    """Save a cell that took so long; where that fails, its line says so before the launch ends."""
    try:
        cells.save(runs_dir, cell)
    except UserError:
        unsaved = replace(cell, status="failed", message="its files cannot be written")
        progress.end(job, unsaved, seconds)
        raise


def _announce_twins(planned: Sequence[Job]) -> None:
    for info in {job.info.name: job.info for job in planned}.values():
        if isinstance(info, Info) and info.twin:
            shape = f"N={info.train:,}, D={info.features:,}, K={info.classes:,}"
            name = info.name.removesuffix("-twin")
            print(
                f"THE FILES OF {name.upper()} ARE NOT HERE: RUNNING ON ITS SYNTHETIC TWIN "
                f"'{info.name}' ({shape}). ITS NUMBERS SAY NOTHING ABOUT {name.upper()}."
            )
            print(
                "(`xcbench data list` says where they are; dataset.missing=error refuses instead)"
            )


def _print_plan(jobs: Sequence[Job], runs_dir: Path) -> None:
    """List the first jobs, then count all."""
    entries = list(states(jobs, runs_dir))
    for entry in entries[:LISTED]:
        print(entry.line)
    if len(entries) > LISTED:
        print(f"… and {count(len(entries) - LISTED, 'cell')} more")
    for sentence in stored.sentences(entry.change for entry in entries):
        print(sentence)
    todo = sum(entry.state in (TO_RUN, stored.STALE) for entry in entries)
    print(f"{count(len(entries), 'cell')}, {todo} to run; nothing was run (plan=true)")


def _summarise(planned: int, cached: int, statuses: Counter[str]) -> None:
    came = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()) if number)
    print(f"{count(planned, 'cell')}: {came or 'none finished'}")
    if cached == planned:
        print("every cell was there already: nothing was run (force=true runs them again)")
    elif cached:
        print(f"{cached} of them were there already")
