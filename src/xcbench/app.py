"""The whole flow: configurations → jobs → cells → MLflow; what `run.py` calls."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from xcbench import cells, config, grids, memory, overrides, running, tracking, workers
from xcbench.cells import Cell
from xcbench.claims import Queue
from xcbench.config import Config
from xcbench.datasets import Missing
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.planning import Job, jobs, memory_estimate
from xcbench.processes import INTERRUPTED, end_with_parent, interruptible
from xcbench.progress import Progress


@interruptible()
def main() -> None:
    """Entry of ``python run.py`` and ``xcbench run``: every error is one sentence."""
    own_choice = "HYDRA_FULL_ERROR" in os.environ
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra hands errors on instead of printing them
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every terminal has "…"
    config.register()
    try:
        sys.argv[1:] = overrides.for_hydra(sys.argv[1:])
        hydra.main(version_base="1.3", config_path=str(config.folder()), config_name="config")(
            _task
        )()
    except (UserError, HydraException, OmegaConfBaseException, OSError) as error:
        if own_choice:
            raise
        print(f"error: {explain(error)}", file=sys.stderr)
        sys.exit(2)
    except (
        AssertionError,
        ValueError,
        OverflowError,
    ) as error:  # Hydra's own: method=null
        if own_choice or not raised_by_hydra(error):
            raise
        print(f"error: {explain(error)}; in {' '.join(sys.argv[1:])}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\ninterrupted: what is finished is saved", file=sys.stderr)
        sys.exit(INTERRUPTED)


def raised_by_hydra(error: BaseException) -> bool:
    """Whether an error stems from composing, which takes some mistakes for impossible."""
    where = Path(traceback.extract_tb(error.__traceback__)[-1].filename).parts
    return "hydra" in where or "omegaconf" in where


def _task(composed: DictConfig) -> None:
    """One configuration: a single run, or a point of a sweep under another launcher."""
    whole = HydraConfig.get().mode != RunMode.MULTIRUN
    if not whole:  # in a process of the launcher
        end_with_parent()
    try:
        code = run([config.read(composed)], whole)
    except (UserError, HydraException, OmegaConfBaseException, OSError) as error:
        print(f"error: {explain(error)}", file=sys.stderr)
        code = 2
    if code:
        sys.exit(code)


def run(configurations: Sequence[Config], whole: bool = True) -> int:
    """`execute` a launch, and say what can be done with what it gave."""
    code = execute(configurations, whole)
    if whole and not configurations[0].plan:
        grid = f"grid={configurations[0].grid}"
        print(f"next: xcbench report {grid}    xcbench results {grid}    xcbench ui")
    return code


def execute(configurations: Sequence[Config], whole: bool = True) -> int:
    """Run a launch and return its exit code: 1 if a cell failed, 130 if interrupted, else 0.

    Parameters
    ----------
    configurations : points of the launch.
    whole : whether these are all of them; another launcher's processes see a point each.
    """
    launch = configurations[0]
    runs_dir = Path(launch.runs_dir)
    _check_launch(configurations)
    planned = jobs(configurations, whole)
    _announce_twins(planned)
    if whole and len(planned) < len(configurations):
        print(f"the grid has {len(configurations)} points, of which {len(planned)} are different")
    if launch.plan:
        _print_plan(planned, runs_dir)
        return 0
    cells.sweep_leftovers(runs_dir)
    if whole:
        grids.add(runs_dir, launch.grid, [job.cell.cell for job in planned])
    old = _known(runs_dir, planned)
    known = {} if launch.force else {name: status for name, (status, _) in old.items() if status}
    absent = {job.cell.cell: job.info.reason for job in planned if isinstance(job.info, Missing)}
    here = [job for job in planned if job.cell.cell not in absent]
    todo = [job for job in here if job.cell.cell not in known]
    progress = Progress(
        len(planned) - len(absent),
        todo,
        alone=whole and launch.workers == 1,
        workers=launch.workers,
    )
    statuses = Counter(known.values())
    statuses["skipped"] += _skip(runs_dir, [job for job in planned if job.cell.cell in absent])
    for reason, number in Counter(absent.values()).items():
        print(f"{number} cells skipped: {reason}")
    recorder = tracking.Recorder(runs_dir, launch.mlflow)
    queue = Queue(runs_dir, todo, {name: at for name, (_, at) in old.items()})
    try:
        for job, cell, seconds in workers.run(
            queue, launch.workers, progress.begin, progress.inside
        ):
            if seconds is not None:
                _save(runs_dir, job, cell, progress)
            queue.claims.release(job.cell.cell)
            statuses[cell.status] += 1
            progress.end(job, cell, seconds)
            recorder.add(cell)
        code = 1 if statuses["failed"] else 0
    except KeyboardInterrupt:
        print("\ninterrupted: what is finished is saved; the same command goes on from here")
        sys.stdout.flush()
        code = INTERRUPTED
    finally:
        queue.claims.release_all()
    recorder.finish({name: old[name][1] for name in known})  # recording that was cut off earlier
    if any(status == "failed" for status in known.values()):
        print("a cell for which memory did not suffice is not tried again (force=true tries)")
    _summarise(len(planned), len(here) - len(todo), statuses)
    return code


def _skip(runs_dir: Path, absent: Sequence[Job]) -> int:
    """Record the cells whose data are not here, and give their number."""
    for job in absent:
        if cells.usable(runs_dir, job.cell.cell) is None:
            cells.save(runs_dir, running.run(job))
    return len(absent)


def _check_launch(configurations: Sequence[Config]) -> None:
    """Settings of a launch are the same at every point of its sweep."""
    whole = ("grid", "plan", "force", "workers", "mlflow", "save_weights", "fetch")
    for name in (*whole, "runs_dir", "reports_dir"):
        if len({getattr(settings, name) for settings in configurations}) > 1:
            raise UserError(f"{name} cannot be swept: it holds for the whole launch")
    check_name("grid", configurations[0].grid)


def _finished(runs_dir: Path, job: Job) -> str | None:
    """Status of a cell that need not run again."""
    return _known(runs_dir, [job]).get(job.cell.cell, (None, 0.0))[0]


def _known(runs_dir: Path, planned: Sequence[Job]) -> dict[str, tuple[str | None, float]]:
    """Of the cells that are there: the status of one that need not run again, and its start."""
    found = {}
    for job in planned:
        cell = cells.usable(runs_dir, job.cell.cell)  # a damaged one runs again
        if cell is not None:
            fatal = cell.status == "failed" and (cell.message or "").startswith(memory.KILLED)
            final = fatal or cell.status in cells.FINAL
            found[job.cell.cell] = (cell.status if final else None), cell.started
    return found


def _save(runs_dir: Path, job: Job, cell: Cell, progress: Progress) -> None:
    try:
        cells.save(runs_dir, cell)
    except UserError:
        progress.end(job, replace(cell, status="failed", message="not saved"), None)
        raise
    if not cell.shape["twin"]:
        cells.remove(runs_dir, job.as_skipped)


def _announce_twins(planned: Sequence[Job]) -> None:
    for info in {job.info.name: job.info for job in planned}.values():
        if not isinstance(info, Missing) and info.twin:
            shape = f"N={info.train:,}, D={info.features:,}, K={info.classes:,}"
            name = info.name.removesuffix("-twin")
            print(
                f"THE FILES OF {name.upper()} ARE NOT HERE: RUNNING ON ITS SYNTHETIC TWIN "
                f"'{info.name}' ({shape}). ITS NUMBERS SAY NOTHING ABOUT {name.upper()}."
            )
            print(
                "(`xcbench data list` says where they are; dataset.missing=error refuses instead)"
            )


def _print_plan(planned: Sequence[Job], runs_dir: Path) -> None:
    for job in planned:
        lacking = job.info.lacking if isinstance(job.info, Missing) else ""
        state = lacking or _finished(runs_dir, job) or "to run"
        memory = memory_estimate(job) / 2**20
        print(f"{job.cell.cell}  {state:10} {memory:8.0f} MiB  {job.label}")
    todo = sum(
        not isinstance(job.info, Missing) and _finished(runs_dir, job) is None for job in planned
    )
    print(f"{len(planned)} cells, {todo} to run; nothing was run (plan=true)")


def _summarise(planned: int, cached: int, statuses: Counter[str]) -> None:
    count = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()) if number)
    print(f"{planned} cells: {count or 'none finished'}")
    if cached == planned:
        print("every cell was there already: nothing was run (force=true runs them again)")
    elif cached:
        print(f"{cached} of them were there already")


def explain(error: BaseException) -> str:
    """One line for a mistake in the configuration or on the disk."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        options = error.options or _configurations(config.folder() / group)
        likely = overrides.suggestion(name, options)
        known = f"available: {', '.join(options)}"
        return f"unknown {group or 'configuration'} '{name}'{likely}; {known}"
    if isinstance(error, OverrideParseException):
        return f"{error.override} is not understood ({' '.join(str(error).split())})"
    if isinstance(error, HydraException | OmegaConfBaseException):
        parts = [str(error).strip().splitlines()[0]]
        if error.__cause__ is not None and str(error.__cause__).strip():
            parts.append(str(error.__cause__).strip().splitlines()[0])
        if parts[0].startswith("Could not override"):
            key = parts[0].split("'")[1]
            likely = overrides.suggestion(key, overrides.all_options())
            parts.append("`xcbench options` lists what there is" + likely)
        return "; ".join(dict.fromkeys(part.rstrip(".") for part in parts))
    if isinstance(error, OSError) and not error.filename:
        reason = error.strerror or error
        return (
            f"a file cannot be written ({reason}); make room where runs_dir is, or set another one"
        )
    return " ".join(str(error).split())


def _configurations(folder: Path) -> list[str]:
    """Names of the configuration files in a folder and below it."""
    found = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.yaml"))
    return sorted(path.as_posix() for path in found)
