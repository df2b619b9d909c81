"""Pull a solver from checkpoint to checkpoint: clocks, evaluation, divergence, budget → curve."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import costs, evaluate
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver, Streams, lockstep
from xcbench.core.solvers.minibatch import Descent
from xcbench.core.statistics import inverse_propensity
from xcbench.run.cell import CURVE_COLUMNS
from xcbench.run.clock import Stops, Stopwatch, checkpoints
from xcbench.run.memory import PeakMemory
from xcbench.run.settings import Budget, Evaluation

if TYPE_CHECKING:
    from xcbench.core.models.compiled import CompiledModel


@dataclass
class Trace:
    """What came of a run.

    Attributes
    ----------
    status : ``done``, ``diverged`` or ``timeout``.
    curve : one row a checkpoint; a diverged run ends with a row of empty metrics.
    train_seconds, evaluate_seconds : two clocks; the caller keeps the others.
    memory : of training, without evaluation.
    """

    status: str = "done"
    message: str | None = None
    train_seconds: float = 0.0
    evaluate_seconds: float = 0.0
    memory: PeakMemory = field(default_factory=PeakMemory)
    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def curve(self) -> pd.DataFrame:
        """The rows as a tidy frame."""
        frame = pd.DataFrame(self.rows)
        return frame.reindex(
            columns=[*CURVE_COLUMNS, *(c for c in frame if c not in CURVE_COLUMNS)]
        )

    def stands_at(self, progress: Progress) -> bool:
        """Whether nothing was trained since the last row."""
        return bool(self.rows) and self.rows[-1].items() >= _place(progress).items()


def run(
    solver: Solver,
    model: Model,
    dataset: Dataset,
    seed: int,
    budget: Budget,
    evaluation: Evaluation,
    l2: float,
    watch: Callable[[float], None] = lambda share: None,
) -> Trace:
    """Train with the training clock running, stop the clock, evaluate, go on.

    Parameters
    ----------
    l2 : lambda; where it is not 0 the column ``l2_term`` holds lambda/(2N) ||(w, b)||², N
        the rows that training sees.
    watch : told the share of the work done after every checkpoint.

    Returns
    -------
    Trace
        The first number that is not finite ends the curve with status ``diverged``.
    """
    clock = Stopwatch()
    seen = dataset.first(budget.share)
    passes = solver.epochs or budget.epochs
    stops = Stops(checkpoints(budget, passes), clock, bool(budget.seconds) and solver.interruptible)
    course = Course(
        solver, model, Evaluator(dataset, evaluation, seed, l2 / len(seen.train)), budget
    )
    with np.errstate(all="ignore"), clock:  # overflow is looked for at the checkpoints
        progresses = solver.fit(seen, model, Streams.of(seed), stops)
        for number in itertools.count():
            course.begin()
            with clock.running():
                progress = next(progresses, None)
            if course.takes(progress, number, stops, clock.seconds):
                return course.trace
            if progress and course.fresh:
                watch(progress.epoch / passes)
    raise AssertionError("a solver yields until it ends")


def run_together(
    solvers: Sequence[Descent],
    models: Sequence[CompiledModel],
    dataset: Dataset,
    seed: int,
    budget: Budget,
    evaluation: Evaluation,
    l2: Sequence[float],
    watch: Callable[[float], None] = lambda share: None,
) -> list[Trace]:
    """As `run` of each, in lockstep; a clock shows an equal share of the seconds of all."""
    clock = Stopwatch()
    seen = dataset.first(budget.share)
    stops = Stops(checkpoints(budget, budget.epochs), clock, False)
    courses = [
        Course(solver, model, Evaluator(dataset, evaluation, seed, own / len(seen.train)), budget)
        for solver, model, own in zip(solvers, models, l2, strict=True)
    ]
    with np.errstate(all="ignore"), clock:
        progresses = lockstep.fit(solvers, seen, models, Streams.of(seed), stops)
        for number in itertools.count():
            with clock.running():
                taken = next(progresses, None)
            at_end: list[Progress | None] = [None] * len(courses)
            for course, progress in zip(courses, taken or at_end, strict=True):
                if not course.ended:
                    course.takes(progress, number, stops, clock.seconds / len(courses))
            if all(course.ended for course in courses):
                return [course.trace for course in courses]
            if taken:
                watch(taken[0].epoch / budget.epochs)
    raise AssertionError("solvers yield until they end")


class Course:
    """What becomes of one model, from stop to stop."""

    def __init__(self, solver: Solver, model: Model, evaluator: Evaluator, budget: Budget) -> None:
        self.solver, self.model, self.evaluator, self.budget = solver, model, evaluator, budget
        self.passes = solver.epochs or budget.epochs
        self.trace = Trace(memory=PeakMemory(evaluator.evaluation.costs))
        self.value, self.objective = Mean(), math.nan
        self.fresh, self.ended = True, False

    def begin(self) -> None:
        """Watch the memory from a checkpoint on."""
        if self.fresh:
            self.trace.memory.begin()

    def takes(self, progress: Progress | None, number: int, stops: Stops, seconds: float) -> bool:
        """Take a stop, after so many seconds of training; whether that was the end."""
        self.trace.train_seconds = seconds
        self.ended = self._takes(progress, number, stops)
        return self.ended

    def _takes(self, progress: Progress | None, number: int, stops: Stops) -> bool:
        trace, budget = self.trace, self.budget
        if progress is None:
            trace.memory.end()
            return True
        self.value.add(progress)
        late = bool(budget.seconds) and trace.train_seconds >= (budget.seconds or 0)
        last = late or stops.is_last(number) or not self.solver.interruptible
        checkpoint = stops.checkpoint(number)
        repeats = trace.stands_at(progress)
        self.fresh = last or (checkpoint > 0 and not repeats)
        if not self.fresh:
            return False
        if repeats:  # the last checkpoint, which is evaluated in any case
            trace.rows.pop()
        else:
            self.objective = self.value.take()
        trace.memory.end()
        started = time.perf_counter()
        progress = replace(progress, objective=self.objective)
        due = last or checkpoint % self.evaluator.evaluation.every == 0
        evaluator = self.evaluator if due else None
        finite = _record(trace, progress, self.model, self.solver.is_bound, evaluator)
        trace.evaluate_seconds += time.perf_counter() - started
        if not finite:
            trace.status = "diverged"
            trace.message = f"not finite any more at epoch {progress.epoch:g}"
            return True
        return late and self._is_cut(progress)

    def _is_cut(self, progress: Progress) -> bool:
        """Whether something was left to do when the time was over; says so."""
        trace, budget = self.trace, self.budget
        if progress.epoch < self.passes:
            reached = f" after {progress.message}" if progress.message else ""
            trace.status = "timeout"
            trace.message = f"stopped at {trace.train_seconds:.1f} training seconds{reached}"
            return True
        if not self.solver.interruptible:
            trace.status = "timeout"
            trace.message = (
                f"took {trace.train_seconds:.0f} s, over budget.seconds={budget.seconds:g}: "
                "it cannot be stopped, and its numbers are those of the whole training"
            )
        return False


def warm_up(solver: Solver, model: Model, dataset: Dataset) -> None:
    """Compile what a run needs, on four random rows of eight features, before any clock runs.

    Rows of the data would not do: where they are sparse, few features of few rows may all be 0.
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
    """As `warm_up`, of solvers in lockstep."""
    few = [_few(model, dataset, solver) for solver, model in zip(solvers, models, strict=True)]
    smalls = [small for _, small in few]
    with np.errstate(all="ignore"):
        for _ in lockstep.fit(solvers, few[0][0], smalls, Streams.of(0), [1.0]):
            pass
        evaluate(smalls[0], few[0][0].train)


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
    counts = np.bincount(y, minlength=model.n_classes)
    return replace(dataset, train=few, test=few, class_counts=counts), small


def like(X: np.ndarray, sparse: Any) -> sp.csr_array:
    """Sparse rows with index types as others have them: compiled code is for these types."""
    rows = sp.csr_array(X)
    rows.indices = rows.indices.astype(sparse.indices.dtype)
    rows.indptr = rows.indptr.astype(sparse.indptr.dtype)
    return rows


class Evaluator:
    """What is measured of a model at a checkpoint."""

    def __init__(
        self, dataset: Dataset, evaluation: Evaluation, seed: int, l2_share: float
    ) -> None:
        parts = {"train": dataset.train, "test": dataset.test}
        if evaluation.validation:
            parts["validation"], parts["test"] = dataset.test.divided(evaluation.validation)
        most = dict.fromkeys(parts, evaluation.rows)
        most["train"] = evaluation.train_rows or evaluation.rows
        self.parts = {
            role: (whole.sample(most[role]), 0 < most[role] < len(whole))
            for role, whole in parts.items()
        }
        self.test = dataset.test
        self.evaluation, self.seed, self.l2_share = evaluation, seed, l2_share
        self.inverse_propensity: np.ndarray | None = None
        if evaluation.metrics and dataset.info.multi_label:
            whole = dataset.train.whole_rows()
            counts = whole.labels(dataset.info.classes).sum(axis=0)
            a, b = evaluation.propensity_a, evaluation.propensity_b
            self.inverse_propensity = inverse_propensity(counts, len(whole), a, b)

    def measured(self, model: Model, iteration: int) -> dict[str, float]:
        """Losses and errors of all parts; costs and the l2 penalty's term where there are any.

        Where the model has a correction, the columns without it end with ``_uncorrected``.
        """
        bare = self._losses(model, iteration) if model.correction else {}
        columns = self._losses(model.corrected, iteration)
        columns |= {f"{name}_uncorrected": value for name, value in bare.items()}
        if self.evaluation.costs:
            columns |= costs(model.corrected, self.test)
        if self.l2_share:
            columns["l2_term"] = self.l2_share / 2 * model.square_norm()
        return columns

    def _losses(self, model: Model, iteration: int) -> dict[str, float]:
        e, rng = self.evaluation, np.random.default_rng([self.seed, iteration])
        columns: dict[str, float] = {}
        for role, (split, sampled) in self.parts.items():
            extras = Extras(
                metrics=tuple(e.metrics),
                softmax_twice=e.softmax_twice,
                top_k=e.top_k,
                macro_f1=e.macro_f1,
                clip=e.clip,
                importance=e.importance,
                rng=rng,
                standard_error=sampled,
                inverse_propensity=self.inverse_propensity,
            )
            values = evaluate(model, split, extras)
            columns |= {f"{role}_{name}": value for name, value in values.items()}
        return columns


class Mean:
    """Mean objective per sample between two evaluations."""

    def __init__(self) -> None:
        self.total, self.observations, self.seen = 0.0, 0, 0

    def add(self, progress: Progress) -> None:
        """Add what a solver reports since its last stop."""
        new = progress.observations - self.seen
        self.seen = progress.observations
        if new:
            self.total += new * progress.objective
            self.observations += new

    def take(self) -> float:
        """Give the mean, and start anew."""
        mean = self.total / self.observations if self.observations else float("nan")
        self.total, self.observations = 0.0, 0
        return mean


def _record(
    trace: Trace, progress: Progress, model: Model, is_bound: bool, evaluator: Evaluator | None
) -> bool:
    """Append a checkpoint, evaluated if there is an evaluator; False where it is not finite."""
    new = progress.observations > (trace.rows[-1]["observations"] if trace.rows else 0)
    trace.rows += [_place(step) | _value(step, is_bound) for step in progress.earlier]
    row = _place(progress) | {"train_seconds": trace.train_seconds}
    trace.rows.append(row)
    measured = _value(progress, is_bound)
    if not model.finite() or (new and not math.isfinite(progress.objective)):
        return False
    if evaluator:
        measured |= evaluator.measured(model, progress.iteration)
        if evaluator.evaluation.costs:
            measured |= trace.memory.columns()
    if not all(
        math.isfinite(v) for name, v in measured.items() if name not in ("bound", "objective")
    ):
        return False
    row |= measured
    trace.message = progress.message
    return True


def _place(progress: Progress) -> dict[str, float]:
    """Where in the run it is."""
    return {
        "iteration": progress.iteration,
        "epoch": progress.epoch,
        "observations": progress.observations,
    }


def _value(progress: Progress, is_bound: bool) -> dict[str, float]:
    """The objective or its bound, and the numbers that the solver adds."""
    if is_bound:
        return progress.extra | {"bound": -progress.objective}
    return progress.extra | {"objective": progress.objective}
