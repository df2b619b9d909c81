"""Run cells: load, train, evaluate; a failure is recorded, not raised."""

from __future__ import annotations

import math
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from xcbench import data, plugins
from xcbench.core.dataset import Dataset, Info
from xcbench.core.models.model import Model
from xcbench.core.solvers import lockstep
from xcbench.data import Missing
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.method import with_rate
from xcbench.methods.options import AUTO
from xcbench.plan import code, planning
from xcbench.plan.job import Job
from xcbench.plan.planning import cache_dir, memory_estimate
from xcbench.run import reevaluation
from xcbench.store import environment
from xcbench.store.cell import Cell, identity
from xcbench.system import memory, threads
from xcbench.system.processes import interrupted
from xcbench.train import rate, training
from xcbench.train.course import Trace
from xcbench.train.rate import Search
from xcbench.train.training import Lane
from xcbench.units import GIB, count

ALONE = "; lockstep=false trains each cell by itself"
WARM: set[str] = set()  # kinds of cells for which this process has all code compiled


def run(jobs: Sequence[Job], watch: Callable[[float], None] = lambda share: None) -> list[Cell]:
    """Run a job, or several that differ in rate or weight decay alone, and return their cells.

    Several train in lockstep, or one by one where that is not possible. A cell has status, curve
    and clocks. BLAS gets one thread, so that results do not depend on the number of cores.
    """
    if len(jobs) > 1:
        return _run_in_lockstep(jobs, watch) or [cell for job in jobs for cell in run([job], watch)]
    (job,) = jobs
    cell = replace(job.cell, started=time.time())
    if isinstance(job.info, Missing):
        return [replace(cell, status="skipped", message=job.info.reason)]
    if reason := _too_large(job):
        return [replace(cell, status="skipped", message=reason)]
    try:
        with threads.one(), _warnings_once(cell.label):
            cell.environment = _environment(job)
            remeasured = _remeasured(job)
            return [remeasured] if remeasured else _train(jobs, [cell], watch)
    except MemoryError:
        text = traceback.format_exc()
        return [replace(cell, status="failed", message="out of memory", traceback=text)]
    except Exception as error:  # one cell's failure must not cost the others
        return [_failed(cell, error)]


def _run_in_lockstep(jobs: Sequence[Job], watch: Callable[[float], None]) -> list[Cell]:
    """Cells of jobs in lockstep; none where each has to run by itself."""
    cells = [replace(job.cell, started=time.time()) for job in jobs]
    if _too_large(jobs[0], len(jobs)) or any(map(reevaluation.due, jobs)):
        return []
    try:
        with threads.one():
            for job, cell in zip(jobs, cells, strict=True):
                cell.environment = _environment(job)
            return _train(jobs, cells, watch)
    except (UserError, OSError, MemoryError) as error:  # one cell alone may do without
        why = plugins.failure(error)
        print(f"{len(jobs)} cells run one by one, not in lockstep: {why}", file=sys.stderr)
        return []
    except Exception as error:
        return [_failed(cell, error, ALONE) for cell in cells]


@contextmanager
def _warnings_once(label: str) -> Iterator[None]:
    """Context that prints each warning of a library in one line, however often it is given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = Counter(
        " ".join(str(entry.message).split())
        for entry in caught
        if not issubclass(entry.category, DeprecationWarning | PendingDeprecationWarning)
    )
    for text, times in texts.items():
        print(f"{label}: warning, {count(times, 'time')}: {text}", file=sys.stderr)


def _failed(cell: Cell, error: Exception, remedy: str = "") -> Cell:
    """A cell with the error that is being handled."""
    if interrupted():  # in NumPy's C code KeyboardInterrupt can end as a TypeError
        raise KeyboardInterrupt from error
    reason = plugins.failure(error) + remedy
    return replace(cell, status="failed", message=reason, traceback=traceback.format_exc())


def _environment(job: Job) -> dict[str, object]:
    return {**environment.of(job.cell.engine), **job.origins}


def _too_large(job: Job, models: int = 1) -> str:
    """Why a job, or so many like it in lockstep, is not begun, or nothing."""
    needed, most = memory_estimate(job, models) / GIB, job.settings.budget.memory
    if most:
        return f"needs about {needed:.3g} GiB, over budget.memory={most:g}" if needed > most else ""
    free = memory.available() / GIB
    if needed > free:
        return (
            f"needs about {needed:.3g} GiB, of which {free:.3g} GiB are available; "
            f"budget.memory={math.ceil(needed)} tries it anyway"
        )
    return ""


def _remeasured(job: Job) -> Cell | None:
    """The stored cell, its kept weights measured again, where that is all that is stale."""
    due = reevaluation.due(job)
    if due is None:
        return None
    dataset = _dataset(job)
    cell = reevaluation.evaluated(job, *due, _lane(job, dataset).model, dataset)
    return cell and replace(cell, started=time.time(), code=_code(job))


def _code(job: Job) -> dict[str, object]:
    """Record of the code that ran, with its fingerprint."""
    return code.today(planning.case(job), job.source).content


def _train(
    jobs: Sequence[Job], cells: Sequence[Cell], watch: Callable[[float], None]
) -> list[Cell]:
    """Cells after training; none where several jobs cannot train in lockstep, or not faster."""
    settings, lockstepped = jobs[0].settings, len(jobs) > 1
    started = time.perf_counter()
    dataset = _dataset(jobs[0])
    load_seconds = time.perf_counter() - started
    lanes = [_lane(job, dataset) for job in jobs]  # of which those with lr=auto have no rate yet
    if lockstepped and not lockstep.possible(
        [lane.solver for lane in lanes],
        [lane.model for lane in lanes],
        dataset.first(settings.budget.share),
    ):
        return []
    started = time.perf_counter()
    _warm_up(jobs, lanes, dataset)
    compile_seconds = time.perf_counter() - started
    rates = [_tried(job, dataset) for job in jobs]
    lanes = [
        _lane(job, dataset, search) if search else lane
        for job, lane, search in zip(jobs, lanes, rates, strict=True)
    ]
    traces = training.run(
        lanes, dataset, settings.seed, settings.budget, settings.evaluation, watch
    )
    shared = {"load": load_seconds / len(jobs), "compile": compile_seconds / len(jobs)}
    together = {"lockstep": len(jobs)} if lockstepped else {}
    return [
        replace(
            _finished(job, cell, lane.model, trace),
            environment={**cell.environment, **together, **environment.baselines()},
            seconds={
                **shared,
                "train": trace.train_seconds,
                "evaluate": trace.evaluate_seconds,
                **({"trials": search.seconds} if search else {}),
            },
            rate=search.lr if search else None,
            trials=search.shown if search else {},
        )
        for job, cell, lane, trace, search in zip(jobs, cells, lanes, traces, rates, strict=True)
    ]


def _dataset(job: Job) -> Dataset:
    """The dataset of a job, without the training rows that are set aside for validation."""
    evaluation, seed = job.settings.evaluation, job.settings.seed
    share = evaluation.validation if evaluation.validation_from != "test" else 0.0
    part = seed if share else 0, evaluation.validation_from == "train_seen"
    return _loaded(_info(job), cache_dir(job.settings), share, *part)


@lru_cache(maxsize=1)
def _loaded(info: Info, cache: Path, held_out: float, seed: int, seen: bool) -> Dataset:
    """A dataset, mapped into memory once for the cells that follow one another."""
    dataset = data.load(info, cache)
    return dataset.held_out(held_out, seed, seen) if held_out else dataset


def _info(job: Job) -> Info:
    assert isinstance(job.info, Info)
    return job.info


def _lane(job: Job, dataset: Dataset, search: Search | None = None) -> Lane:
    """Solver and untrained model, at the rate that was found or is set."""
    settings = job.settings
    method = registry.find(job.method).thing
    asked = with_rate(method, settings.method, _info(job))
    if search:
        asked = replace(asked, lr=search.lr)
    trained = dataset.first(settings.budget.share).info
    built = training.built(method, asked, _info(job), trained, job.cell.engine, settings.dtype)
    return Lane(*built, asked.l2, search.seconds if search else 0.0)


def _tried(job: Job, dataset: Dataset) -> Search | None:
    """The rate that trials find, where they are to find one."""
    settings = job.settings
    if settings.method.lr != AUTO:
        return None
    return rate.search(
        registry.find(job.method).thing,
        settings.method,
        _info(job),
        dataset.first(settings.budget.share),
        job.cell.engine,
        settings.dtype,
        settings.seed,
        settings.budget,
    )


def _warm_up(jobs: Sequence[Job], lanes: Sequence[Lane], dataset: Dataset) -> None:
    """Compile before any clock runs, once for cells that differ in rate and seed alone."""
    if len(jobs) > 1:
        few = [_lane(job, dataset).solver for job in jobs]  # which are fitted to a few rows
        training.warm_up_together(few, [lane.model for lane in lanes], dataset)
        return
    content = jobs[0].cell.content
    kind = identity(content | {"seed": 0, "method": content["method"] | {"lr": 0}})
    if jobs[0].cell.engine != "numpy" and kind not in WARM:
        training.warm_up(lanes[0].solver, lanes[0].model, dataset)
        WARM.add(kind)


def _finished(job: Job, cell: Cell, model: Model, trace: Trace) -> Cell:
    """The cell with what came of it, without its clocks."""
    cache = cache_dir(job.settings) / _info(job).digest
    keep = job.settings.save_weights and trace.status != "diverged"
    inputs = data.inputs.load(cache) if keep else None
    return replace(
        cell,
        weights=model.weights() if keep else {},
        inputs=inputs.arrays() if inputs else {},
        status=trace.status,
        message=trace.message,
        curve=trace.curve,
        code=_code(job),
    )
