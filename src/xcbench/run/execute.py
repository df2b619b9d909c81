"""The whole flow of `run.py`: configurations → jobs → cells → MLflow."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.data import Missing
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.plan import stored
from xcbench.plan.planned import TO_RUN, states
from xcbench.plan.planning import Job, jobs
from xcbench.run import executors, halving, runner
from xcbench.run.leases import Queue
from xcbench.run.progress import Progress
from xcbench.run.recorder import Recorder
from xcbench.store import cells, grids, profile
from xcbench.store.cell import Cell
from xcbench.system.processes import INTERRUPTED
from xcbench.track.mlflow_target import Target
from xcbench.units import count

LISTED = 40  # cells of a plan
Ended = Callable[[Sequence[Cell]], None]


def run(configurations: Sequence[Config], complete: bool = True, ended: Ended | None = None) -> int:
    """`execute` a launch, and print next steps.

    Parameters
    ----------
    ended : function that shows the cells of a launch, unless it was interrupted.
    """
    settings, code, names = configurations[0], 0, list[str]()
    by_rung = halving.rungs(configurations) if settings.halving else iter([configurations])
    for points in by_rung:
        launched = planned(points, complete)
        code = max(code, execute_jobs(launched, complete))
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
        return execute_jobs(launched)
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


def execute(configurations: Sequence[Config], complete: bool = True) -> int:
    """Run a launch and return its exit code: 1 if a cell failed, 130 if interrupted, else 0.

    Parameters
    ----------
    configurations : points of the launch.
    complete : whether these are all points; another launcher's processes see one point each.
    """
    return execute_jobs(planned(configurations, complete), complete)


def planned(configurations: Sequence[Config], complete: bool = True) -> list[Job]:
    """Distinct jobs of a launch."""
    _check_launch(configurations)
    distinct = jobs(configurations, complete)
    if complete and len(distinct) < len(configurations):
        print(f"the grid has {len(configurations)} points, of which {len(distinct)} are different")
    return distinct


def execute_jobs(
    launched: Sequence[Job], complete: bool = True, shown: type[Progress] = Progress
) -> int:
    """Run the jobs of a launch, or list them; returns the exit code of `execute`."""
    launch = launched[0].settings
    runs_dir = Path(launch.runs_dir)
    clock = profile.LAUNCH
    clock.enter("other")
    executors.check(launch)
    _announce_twins(launched)
    if launch.plan:
        _print_plan(launched, runs_dir)
        return 0
    cells.mark(runs_dir)
    cells.sweep_leftovers(runs_dir)
    unwritten = _add_grid(launched) if complete else None
    old = stored.look_up(runs_dir, launched)
    finished = {} if launch.force else {name: it.status for name, it in old.items() if it.status}
    for sentence in () if launch.force else stored.sentences(it.change for it in old.values()):
        print(sentence)
    absent = {job.cell.cell: job.info.reason for job in launched if isinstance(job.info, Missing)}
    runnable = [job for job in launched if job.cell.cell not in absent]
    todo = [job for job in runnable if job.cell.cell not in finished]
    if unwritten and todo:
        raise unwritten
    if unwritten:
        print(f"warning: {unwritten}", file=sys.stderr)
    progress = shown(
        len(launched) - len(absent),
        todo,
        alone=complete and launch.workers == 1 and launch.executor == executors.LOCAL,
        workers=launch.workers,
    )
    statuses = Counter(finished.values())
    statuses["skipped"] += _skip(runs_dir, [job for job in launched if job.cell.cell in absent])
    recorder = Recorder(runs_dir, launch.mlflow and not unwritten, launch.tracking_uri)
    started = {name: it.started for name, it in old.items()}
    queue = Queue(runs_dir, todo, started, launch.workers)
    clock.enter("idle")
    try:
        for job, cell, seconds, saved in executors.run(queue, launch, progress):
            if seconds is not None:
                clock.add(cell, seconds)
                with clock.during("save"):
                    if not saved:
                        _save(runs_dir, job, cell, seconds, progress)
                    if not cell.shape["twin"]:
                        cells.remove(runs_dir, job.as_skipped)
            queue.leases.release(job.cell.cell)
            statuses[cell.status] += 1
            progress.end(job, cell, seconds)
            with clock.during("track"):
                recorder.add(cell)
        code = 1 if statuses["failed"] else 0
    except KeyboardInterrupt:
        print("\ninterrupted: what is finished is saved; the same command goes on from here")
        sys.stdout.flush()
        code = INTERRUPTED
    finally:
        queue.leases.release_all()
    with clock.during("track"):
        recorder.finish(
            {name: old[name].started for name in finished}
        )  # what was cut off earlier, too
    number = max(1, min(launch.workers, len(todo)))
    if complete and not unwritten:
        profile.write(runs_dir, clock.taken(launch.grid, number))
    if any(status == "failed" for status in finished.values()):
        print("cells that ran out of memory are not run again (force=true runs them)")
    _summarise(len(launched), len(runnable) - len(todo), statuses)
    return code


def _add_grid(launched: Sequence[Job]) -> UserError | None:
    """Add the cells to their grid; gives why not, which matters little if every cell is there."""
    settings = launched[0].settings
    try:
        grids.add(Path(settings.runs_dir), settings.grid, [job.cell.cell for job in launched])
    except UserError as error:
        return error
    return None


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
