"""Run one cell: load, train, evaluate; a failure is recorded, not raised."""

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
from typing import Any

from xcbench import data, plugins
from xcbench.core.dataset import Dataset, Info
from xcbench.core.models.model import Model
from xcbench.core.solvers import Solver, lockstep
from xcbench.data import Missing
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.plan import code, planning
from xcbench.plan.planning import Job, cache_dir, memory_estimate
from xcbench.run import reevaluation
from xcbench.store import environment
from xcbench.store.cell import Cell
from xcbench.store.cells import identity
from xcbench.system import memory, threads
from xcbench.system.processes import interrupted
from xcbench.train import training
from xcbench.train.course import Trace
from xcbench.units import GIB, count

APART = "; lockstep=false trains each cell by itself"
WARM: set[str] = set()  # kinds of cells for which this process has all code compiled


def run(job: Job, watch: Callable[[float], None] = lambda share: None) -> Cell:
    """Run a job and return its cell with status, curve and clocks.

    BLAS gets one thread, so that results do not depend on the number of cores.
    """
    cell = replace(job.cell, started=time.time())
    if isinstance(job.info, Missing):
        return replace(cell, status="skipped", message=job.info.reason)
    reason = _too_large(job)
    if reason:
        return replace(cell, status="skipped", message=reason)
    try:
        with threads.one():
            cell.environment = {**environment.of(cell.engine), **job.origins}
            with _warnings_once(cell.label):
                return _evaluated(job) or _run(job, cell, watch)
    except MemoryError:
        return replace(
            cell, status="failed", message="out of memory", traceback=traceback.format_exc()
        )
    except Exception as error:  # one cell's failure must not cost the others
        return _failed(cell, error)


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


def run_together(
    jobs: Sequence[Job], watch: Callable[[float], None] = lambda share: None
) -> list[Cell]:
    """Run jobs that differ only in rate or weight decay, in lockstep or one by one."""
    cells = [replace(job.cell, started=time.time()) for job in jobs]
    if len(jobs) > 1 and not any(map(_too_large, jobs)) and not any(map(reevaluation.due, jobs)):
        try:
            with threads.one():
                for job, cell in zip(jobs, cells, strict=True):
                    cell.environment = {**environment.of(cell.engine), **job.origins}
                taken = _run_together(jobs, cells, watch)
            if taken:
                return taken
        except (UserError, OSError, MemoryError) as error:  # one cell alone may do without
            why = plugins.failure(error)
            print(f"{len(jobs)} cells run one by one, not in lockstep: {why}", file=sys.stderr)
        except Exception as error:
            return [_failed(cell, error, APART) for cell in cells]
    return [run(job, watch) for job in jobs]


def _too_large(job: Job) -> str:
    """Why a job is not begun, or nothing."""
    needed, most = memory_estimate(job) / GIB, job.settings.budget.memory
    if most:
        return f"needs about {needed:.3g} GiB, over budget.memory={most:g}" if needed > most else ""
    free = memory.available() / GIB
    if needed > free:
        return (
            f"needs about {needed:.3g} GiB, of which {free:.3g} GiB are available; "
            f"budget.memory={math.ceil(needed)} tries it anyway"
        )
    return ""


def _evaluated(job: Job) -> Cell | None:
    """The stored cell, its kept weights measured again, where that is all that is stale."""
    due = reevaluation.due(job)
    if due is None:
        return None
    dataset = _dataset(job)
    _, model = _built(job, dataset)
    cell = reevaluation.evaluated(job, *due, model, dataset)
    return cell and replace(cell, started=time.time(), code=_code(job))


def _code(job: Job) -> dict[str, Any]:
    """Record of the code that ran, with its fingerprint."""
    return code.today(planning.case(job), job.source).content


def _run(job: Job, cell: Cell, watch: Callable[[float], None]) -> Cell:
    settings = job.settings
    started = time.perf_counter()
    dataset = _dataset(job)
    load_seconds = time.perf_counter() - started
    solver, model = _built(job, dataset)
    started = time.perf_counter()
    _warm_up(job, solver, model, dataset)
    compile_seconds = time.perf_counter() - started
    trace = training.run(
        solver,
        model,
        dataset,
        settings.seed,
        settings.budget,
        settings.evaluation,
        settings.method.l2,
        watch,
    )
    return _finished(job, cell, model, trace, load_seconds, compile_seconds)


def _run_together(
    jobs: Sequence[Job], cells: Sequence[Cell], watch: Callable[[float], None]
) -> list[Cell]:
    """Cells trained in lockstep; none where that is not possible, or not faster."""
    settings = jobs[0].settings
    started = time.perf_counter()
    dataset = _dataset(jobs[0])
    load_seconds = time.perf_counter() - started
    solvers, models = zip(*(_built(job, dataset) for job in jobs), strict=True)
    if not lockstep.possible(solvers, models, dataset.first(settings.budget.share)):
        return []
    started = time.perf_counter()
    few = [_built(job, dataset)[0] for job in jobs]  # solvers that are fitted to a few rows
    training.warm_up_together(few, models, dataset)
    for cell in cells:
        cell.environment |= {"lockstep": len(jobs)}
    compile_seconds = time.perf_counter() - started
    traces = training.run_together(
        solvers,
        models,
        dataset,
        settings.seed,
        settings.budget,
        settings.evaluation,
        [job.settings.method.l2 for job in jobs],
        watch,
    )
    shares = load_seconds / len(jobs), compile_seconds / len(jobs)
    return [
        _finished(job, cell, model, trace, *shares)
        for job, cell, model, trace in zip(jobs, cells, models, traces, strict=True)
    ]


def _dataset(job: Job) -> Dataset:
    """The dataset of a job, without the training rows that are set aside for validation."""
    evaluation, seed = job.settings.evaluation, job.settings.seed
    share = evaluation.validation if evaluation.validation_from == "train" else 0.0
    return _loaded(_info(job), cache_dir(job.settings), share, seed if share else 0)


@lru_cache(maxsize=1)
def _loaded(info: Info, cache: Path, held_out: float, seed: int) -> Dataset:
    """A dataset, mapped into memory once for the cells that follow one another."""
    dataset = data.load(info, cache)
    return dataset.held_out(held_out, seed) if held_out else dataset


def _info(job: Job) -> Info:
    assert isinstance(job.info, Info)
    return job.info


def _built(job: Job, dataset: Dataset) -> tuple[Any, Any]:
    """Solver and untrained model."""
    settings = job.settings
    method = registry.find(job.method).thing
    trained = dataset.first(settings.budget.share).info
    return training.built(
        method, settings.method, _info(job), trained, job.cell.engine, settings.dtype
    )


def _warm_up(job: Job, solver: Solver, model: Model, dataset: Dataset) -> None:
    """Compile before any clock runs, once for cells that differ in rate and seed alone."""
    content = job.cell.content
    kind = identity(content | {"seed": 0, "method": content["method"] | {"lr": 0}})
    if job.cell.engine != "numpy" and kind not in WARM:
        training.warm_up(solver, model, dataset)
        WARM.add(kind)


def _finished(
    job: Job, cell: Cell, model: Model, trace: Trace, load: float, compiling: float
) -> Cell:
    """The cell with what came of it; ``load`` and ``compiling`` are seconds."""
    cache = cache_dir(job.settings) / _info(job).digest
    keep = job.settings.save_weights and trace.status != "diverged"
    inputs = data.inputs.load(cache) if keep else None
    return replace(
        cell,
        environment={**cell.environment, **environment.baselines()},
        weights=model.weights() if keep else {},
        inputs=inputs.arrays() if inputs else {},
        status=trace.status,
        message=trace.message,
        curve=trace.curve,
        code=_code(job),
        seconds={
            "load": load,
            "compile": compiling,
            "train": trace.train_seconds,
            "evaluate": trace.evaluate_seconds,
        },
    )
