"""The training loop: runs a solver between checkpoints, with clocks, evaluation and budget."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.metrics import evaluate
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver, Streams, lockstep
from xcbench.core.solvers.minibatch import Descent
from xcbench.methods.method import Method
from xcbench.options import Options
from xcbench.train.clock import Stops, Stopwatch, checkpoints
from xcbench.train.course import Course, Trace
from xcbench.train.evaluator import Evaluator

if TYPE_CHECKING:
    from xcbench.core.models.compiled import CompiledModel


def built(
    method: Method, settings: Options, info: Info, trained: Info, engine: str, dtype: str
) -> tuple[Any, Any]:
    """Solver and untrained model of a method; ``trained`` describes the rows that train."""
    solver = method.build(settings, trained)
    model = solver.make_model(engine, info.classes, info.features, settings.bias, dtype)
    model.link = method.link
    return solver, model


@dataclass(frozen=True)
class Lane:
    """A model in training; several lanes differ in step size and penalty alone.

    Attributes
    ----------
    l2 : lambda; unless 0, the column ``l2_term`` has lambda/(2N) ||(w, b)||², with N the number of
        training rows.
    spent : seconds of training before it begins, in which trials found its rate.
    """

    solver: Any
    model: Any
    l2: float = 0.0
    spent: float = 0.0


def run(
    lanes: Sequence[Lane],
    dataset: Dataset,
    seed: int,
    budget: Budget,
    evaluation: Evaluation,
    watch: Callable[[float], None] = lambda share: None,
) -> list[Trace]:
    """Train with the clock running, stop the clock, evaluate, continue.

    Parameters
    ----------
    lanes : one model, or several that train in lockstep, each of which gets an equal share of the
        seconds.
    watch : called with the share of work done after every checkpoint.

    Returns
    -------
    list of Trace
        One a lane. The first non-finite number ends a curve with status ``diverged``.
    """
    clock = Stopwatch(budget.clock == "processor")
    seen = dataset.first(budget.share)
    first = lanes[0].solver
    passes = first.epochs or budget.epochs
    solvers = [lane.solver.over(passes) for lane in lanes]
    looking = bool(budget.seconds or budget.times) and first.interruptible and len(lanes) == 1
    stops = Stops(checkpoints(budget, passes), clock, looking)
    evaluator = Evaluator(dataset, evaluation, seed)
    courses = [
        Course(
            solver,
            lane.model,
            budget,
            evaluation,
            lane.l2 / len(seen.train),
            lane.spent,
            early_stopping=solver is lane.solver,
        )
        for lane, solver in zip(lanes, solvers, strict=True)
    ]
    lanes = [replace(lane, solver=solver) for lane, solver in zip(lanes, solvers, strict=True)]
    with np.errstate(all="ignore"), clock:  # overflow is looked for at the checkpoints
        progresses = _fitted(lanes, seen, Streams.of(seed), stops)
        for number in itertools.count():
            for course in courses:
                course.begin()
            with clock.running():
                reached = next(progresses, None)
            seconds = clock.seconds / len(courses)
            at_end: list[Progress | None] = [None] * len(courses)
            due = [
                course
                for course, progress in zip(courses, reached or at_end, strict=True)
                if not course.ended and course.takes(progress, number, stops, seconds)
            ]
            _evaluate(due, evaluator)
            if all(course.ended for course in courses):
                return [_finished(course, evaluator) for course in courses]
            if reached and any(course.fresh for course in courses):
                watch(reached[0].epoch / passes)
    raise AssertionError("a solver yields until it ends")


def _fitted(
    lanes: Sequence[Lane], dataset: Dataset, streams: Streams, stops: Stops
) -> Iterator[list[Progress]]:
    """Progress of every lane at each stop."""
    solvers, models = [lane.solver for lane in lanes], [lane.model for lane in lanes]
    if len(lanes) > 1:
        return lockstep.fit(solvers, dataset, models, streams, stops)
    return ([progress] for progress in solvers[0].fit(dataset, models[0], streams, stops))


def _evaluate(courses: Sequence[Course], evaluator: Evaluator) -> None:
    """Measure models that stand at the same iteration; each takes an equal share of the time."""
    if courses:
        started = time.perf_counter()
        models = [course.model for course in courses]
        iteration, last = courses[0].progress.iteration, courses[0].last
        all_rows = last and not courses[0].budget.patience
        measured = evaluator.measured(models, iteration, all_rows)
        seconds = (time.perf_counter() - started) / len(courses)
        for course, columns in zip(courses, measured, strict=True):
            course.record(columns, seconds)


def _finished(course: Course, evaluator: Evaluator) -> Trace:
    """The result; with patience, the weights of the best evaluation, measured on all rows."""
    row = course.restore()
    if row and evaluator.evaluation.curve_rows:
        started = time.perf_counter()
        (measured,) = evaluator.measured([course.model], int(row["iteration"]))
        for name in [name for name in row if name.endswith("_standard_error")]:
            del row[name]  # of the rows of the curve
        row |= measured
        course.trace.evaluate_seconds += time.perf_counter() - started
    return course.trace


def warm_up(solver: Solver, model: Model, dataset: Dataset) -> None:
    """Compile the code of a run on four random rows of eight features, before any clock runs.

    Rows of sparse data would not do: their first few features may all be 0.
    """
    if solver.compiles:
        solver = solver.on_few_rows
        tiny, small = _few(model, dataset, solver)
        with np.errstate(all="ignore"):
            for _ in solver.fit(tiny, small, Streams.of(0), [1.0]):
                pass
            evaluate(small, tiny.train)


def warm_up_together(
    solvers: Sequence[Descent], models: Sequence[CompiledModel], dataset: Dataset
) -> None:
    """As `warm_up` for solvers in lockstep."""
    few = [_few(model, dataset, solver) for solver, model in zip(solvers, models, strict=True)]
    smalls = [small for _, small in few]
    with np.errstate(all="ignore"):
        for _ in lockstep.fit(solvers, few[0][0], smalls, Streams.of(0), [1.0]):
            pass
        Evaluator(few[0][0], Evaluation(), 0).measured(smalls, 0)


def _few(model: Model, dataset: Dataset, solver: Solver) -> tuple[Dataset, Any]:
    """Four random rows of eight features, and a model of them."""
    X: Any = np.random.default_rng(0).random((4, min(8, dataset.info.features)))
    X = X.astype(dataset.train.X.dtype)
    if isinstance(dataset.train.X, np.ndarray) and not isinstance(
        model.layout(dataset.train.X), np.ndarray
    ):  # three features a row, so that these rows become sparse too
        X *= [[(f - i) % 8 in (0, 1, 4) for f in range(X.shape[1])] for i in range(4)]
    y = np.arange(4) % model.n_classes
    few = Split(X if isinstance(dataset.train.X, np.ndarray) else like(X, dataset.train.X), y)
    shape = model.n_classes, few.X.shape[1]
    small = solver.make_model(model.engine, *shape, model.b is not None, str(model.dtype))
    small.link = model.link
    counts = np.bincount(y, minlength=model.n_classes)
    return replace(dataset, train=few, test=few, class_counts=counts), small


def like(X: np.ndarray, sparse: sp.csr_array) -> sp.csr_array:
    """Sparse rows with the index types of other rows, for which code is compiled."""
    rows = sp.csr_array(X)
    rows.indices = rows.indices.astype(sparse.indices.dtype)
    rows.indptr = rows.indptr.astype(sparse.indptr.dtype)
    return rows
