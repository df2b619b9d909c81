"""Training of one model from stop to stop: clocks, curve, divergence and end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from xcbench.config.settings import Budget, Evaluation
from xcbench.core.metrics import of_column
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver
from xcbench.store.cell import CURVE_COLUMNS
from xcbench.store.checkpoints import VALIDATION
from xcbench.system.memory import PeakMemory
from xcbench.train.clock import Stops


@dataclass
class Trace:
    """Result of a run.

    Attributes
    ----------
    status : ``done``, ``diverged`` or ``timeout``.
    curve : one row a checkpoint; a diverged run ends with a row of empty metrics.
    train_seconds, evaluate_seconds : two clocks; the caller has the others.
    memory : memory of training, without evaluation.
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
        """Whether the last row describes the present state."""
        return bool(self.rows) and self.rows[-1].items() >= _place(progress).items()


class Course:
    """A run of one model.

    Attributes
    ----------
    l2_share : lambda/N; where it is not 0 the column ``l2_term`` holds lambda/(2N) ||(w, b)||².
    spent : seconds of training before it began.
    early_stopping : whether patience may end it: not where the rate falls over all epochs; at a
        high rate a loss says little of the last one.
    fresh : whether the last stop was a checkpoint.
    last : whether it was the start or the last checkpoint, which are always evaluated.
    times : seconds at which it is still to be evaluated.
    ended : whether training has ended.
    best : the best evaluation so far on validation rows, if the budget has patience. That before
        training is none: a result is that of trained weights.
    goal : loss that the next gain must be below by the budget's share; the last gain was at epoch
        ``gained``, and ``waited`` evaluations since were none.
    """

    def __init__(
        self,
        solver: Solver,
        model: Model,
        budget: Budget,
        evaluation: Evaluation,
        l2_share: float,
        spent: float = 0.0,
        early_stopping: bool = True,
    ) -> None:
        self.solver, self.model, self.budget, self.l2_share = solver, model, budget, l2_share
        self.spent, self.min_epochs = spent, solver.min_epochs if early_stopping else math.inf
        self.every, self.costs = evaluation.every, evaluation.costs
        self.passes = solver.epochs or budget.epochs
        self.trace = Trace(memory=PeakMemory(evaluation.costs))
        self.value, self.progress = Mean(), Progress(0, 0, math.nan)
        self.fresh, self.last, self.ended, self.late = True, True, False, False
        self.times = budget.times
        self.best: Best | None = None
        self.goal: float | None = None
        self.gained, self.waited = 0.0, 0

    def begin(self) -> None:
        """Measure memory from a checkpoint on."""
        if self.fresh:
            self.trace.memory.begin()

    def takes(self, progress: Progress | None, number: int, stops: Stops, seconds: float) -> bool:
        """Process a stop after some seconds of training; returns whether to call `record`."""
        trace, budget = self.trace, self.budget
        trace.train_seconds = seconds = self.spent + seconds
        if progress is None:
            trace.memory.end()
            self.ended = True
            return False
        self.value.add(progress)
        self.late = bool(budget.seconds) and seconds >= (budget.seconds or 0)
        self.last = self.late or stops.is_last(number) or not self.solver.interruptible
        checkpoint = stops.checkpoint(number)
        repeats = trace.stands_at(progress)
        self.fresh = self.last or ((self._is_due(seconds) or checkpoint > 0) and not repeats)
        if not self.fresh:
            return False
        if repeats:  # the last checkpoint, which is evaluated in any case
            trace.rows.pop()
        objective = self.progress.objective if repeats else self.value.take()
        self.progress = replace(progress, objective=objective)
        trace.memory.end()
        new = self._add_row()
        if not self.model.finite() or (new and not math.isfinite(objective)):
            self._diverge()
        elif self.last or checkpoint % self.every == 0 or checkpoint < 0:
            return True
        else:
            self.record({})
        return False

    def _is_due(self, seconds: float) -> bool:
        """Whether a time of the budget, or several, has come since the last evaluation."""
        ahead = [time for time in self.times if time > seconds]
        due, self.times = len(ahead) < len(self.times), ahead
        return due

    def _add_row(self) -> bool:
        """A row for the checkpoint; whether samples were seen since the one before."""
        rows, progress = self.trace.rows, self.progress
        new = progress.observations > (rows[-1]["observations"] if rows else 0)
        rows += [_place(step) | self._value(step) for step in progress.earlier]
        rows.append(_place(progress) | {"train_seconds": self.trace.train_seconds})
        return new

    def record(self, measured: dict[str, float], seconds: float = 0.0) -> None:
        """Append the row of a checkpoint, from an evaluation and its seconds."""
        self.trace.evaluate_seconds += seconds
        if measured and self.l2_share:
            measured |= {"l2_term": self.l2_share / 2 * self.model.square_norm()}
        if measured and self.costs:
            measured |= self.trace.memory.columns()
        numbers = self._value(self.progress) | measured
        free = "bound", "objective"
        if not all(math.isfinite(v) for name, v in numbers.items() if name not in free):
            self._diverge()
            return
        self.trace.rows[-1] |= numbers
        self.trace.message = self.progress.message
        self.ended = self.late and self._is_cut(self.progress)
        if self.budget.patience and measured and self.progress.epoch > 0:
            self._wait(measured, self.budget.patience)

    def _wait(self, measured: dict[str, float], patience: int) -> None:
        """Remember the weights of the best evaluation; end after so many that gained nothing."""
        column = next(name for name in VALIDATION if name in measured)
        key = float(of_column(column).key(measured[column]))
        if self.goal is None or key < self.goal - self.budget.gain * abs(self.goal):
            self.goal, self.gained, self.waited = key, self.progress.epoch, 0
        elif self.progress.epoch >= self.min_epochs:
            self.waited += 1
        if self.best is None or key < self.best.key:
            self.best = Best(key, self.trace.rows[-1], self.model.copies())
        if self.waited >= patience and not self.ended:
            self.ended = True
            self.trace.message = (
                f"stopped at epoch {self.progress.epoch:g}: budget.patience={patience} evaluations "
                f"without a better {column} than at epoch {self.gained:g}"
            )

    def restore(self) -> dict[str, float] | None:
        """Give the model the weights of the best evaluation; gives its row if the model has them.

        What a library holds stays as it is.
        """
        if self.best is None or self.trace.status == "diverged":
            return None
        if self.best.state:
            self.model.restore(self.best.state)
        elif self.best.row is not self.trace.rows[-1]:
            return None
        return self.best.row

    def _value(self, progress: Progress) -> dict[str, float]:
        """The objective or its bound, and the numbers that the solver adds."""
        if self.solver.is_bound:
            return progress.extra | {"bound": -progress.objective}
        return progress.extra | {"objective": progress.objective}

    def _diverge(self) -> None:
        self.trace.status = "diverged"
        self.trace.message = f"not finite any more at epoch {self.progress.epoch:g}"
        self.ended = True

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


@dataclass
class Best:
    """The best evaluation so far.

    Attributes
    ----------
    key : its loss; smaller is better.
    row : of the curve.
    state : of the model.
    """

    key: float
    row: dict[str, float]
    state: dict[str, np.ndarray]


class Mean:
    """Mean objective per sample between two evaluations."""

    def __init__(self) -> None:
        self.total, self.observations, self.seen = 0.0, 0, 0

    def add(self, progress: Progress) -> None:
        """Add a solver's report since its last stop."""
        new = progress.observations - self.seen
        self.seen = progress.observations
        if new:
            self.total += new * progress.objective
            self.observations += new

    def take(self) -> float:
        """Return the mean and reset it."""
        mean = self.total / self.observations if self.observations else float("nan")
        self.total, self.observations = 0.0, 0
        return mean


def _place(progress: Progress) -> dict[str, float]:
    """Where in the run it is."""
    return {
        "iteration": progress.iteration,
        "epoch": progress.epoch,
        "observations": progress.observations,
    }
