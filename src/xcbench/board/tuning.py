"""A method on a task: searches by successive halving, then the final cells.

Every search has the same number of trials, the first at the method's defaults. All run for a short
time, and the best third of them for a longer one. Their points are those of one sequence in the
unit square for all methods. One axis is the rate, relative to the method's default rule; the other
is the weight decay. A method that lacks one of them uses the other alone, or its own penalty.

A cell makes as many passes as fit its seconds, by the pace of one short trial before the searches.
So a schedule of the rate comes to its end, in a short trial as in a final cell, and methods are
compared at equal seconds. Trials last longer where a method sets up a tree first, or where a
library makes passes of its own, such as one a class, of which a part tells little.

Where a rate falls over the passes of a final cell, another one has the seconds of long trials, for
which the rate was chosen. Of both, validation rows choose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import qmc

from xcbench.board.protocol import (
    PENALTIES,
    REFERENCE,
    UNTIMED,
    Conditions,
    Protocol,
    Task,
    within,
)
from xcbench.committed.results_cache import ResultsCache
from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.core.solvers import Solver
from xcbench.methods import registry
from xcbench.methods.method import Method, default_rate, with_rate
from xcbench.methods.options import MethodOptions, StochasticOptions
from xcbench.plan import planning
from xcbench.store.cell import ENDED
from xcbench.store.ordering import best_first, best_of_each

POINT = ("lr", "method.l2", *(f"method.{name}" for name in PENALTIES))
Point = Mapping[str, Any]


@dataclass(frozen=True)
class Pace:
    """How fast a method is on a task.

    Attributes
    ----------
    setup : whole seconds before its first step; 0 if it fits the share of a first trial that
        passes do not fill.
    speed : passes in a second after them; inf if none began, or if a library makes its own.
    whole : seconds of a trial in which a library makes all of its passes, else 0.
    """

    setup: int
    speed: float = math.inf
    whole: int = 0


@dataclass(frozen=True)
class Measurement:
    """All cells of a method on a task.

    Attributes
    ----------
    method : its name on the board.
    run : measures configurations as those of a part; gives their rows.
    """

    conditions: Conditions
    task: Task
    method: str
    run: Callable[[str, Sequence[Config]], ResultsCache]

    def measure(self) -> None:
        """Run what there is to run.

        A training that cannot be stopped runs once, at its defaults. Where a method cannot run on a
        dataset, one cell says why.
        """
        protocol = self.conditions.protocol
        first = self._trial(0, protocol.rungs[0])
        (job,) = planning.jobs([first], complete=False)
        if not isinstance(job.info, Info):
            self.run("runs", [first])
        elif self.method == REFERENCE:
            self._reference()
        elif not (trained := solver(first, job.info)).interruptible:
            self.run("runs", [self._final(0, *UNTIMED)])
        else:
            pace = self._pace(job.info, trained.epochs)
            best = [self._searched(study, job.info, pace) for study in range(protocol.studies)]
            finals = [
                with_options(settings, best[seed % len(best)])
                for seed in range(protocol.seeds)
                for settings in self._trainings(seed, pace)
            ]
            self.run("runs", finals)

    def _pace(self, info: Info, passes: float | None) -> Pace:
        """Pace in the middle of the search; twice a library's seconds, as options change them.

        Parameters
        ----------
        passes : that a library makes of its own, if it does.
        """
        protocol, setup = self.conditions.protocol, 0
        for seconds in protocol.pace:
            trial = self.conditions.pace(self.task, self.method, seconds)
            middle = _point(protocol, trial, info, (0.5, 0.5))
            curves = self.run("tuning", [with_options(trial, middle)]).curves
            clock = curves.reindex(columns=["epoch", "train_seconds"])
            epochs, took = np.ptp(clock, axis=0)
            first = float(clock["train_seconds"].min())
            setup = math.ceil(max(0.0, first - (1 - protocol.filled) * protocol.rungs[0]))
            if epochs > 0 and took > 0:
                if passes:
                    return Pace(setup, whole=math.ceil(2 * (first + passes * took / epochs)))
                return Pace(setup, float(epochs / took))
        return Pace(setup)

    def _searched(self, study: int, info: Info, pace: Pace) -> Point:
        """The best point of a search; the defaults where its trials did not end."""
        protocol = self.conditions.protocol
        points = drawn(protocol, self._trial(study, protocol.rungs[0]), info, study)
        for rung, seconds in enumerate(rungs(protocol, self.task, pace)):
            trial = with_passes(protocol, self._trial(study, seconds), pace)
            some = points[: protocol.survivors(rung)]
            measured = self.run("tuning", [with_options(trial, point) for point in some])
            points = best_points(measured.rows, measured.curves, self.task.every_label) or points
        return points[0]

    def _reference(self) -> None:
        """Exact softmax at its optimum, by weight decay: ever less, while validation improves.

        The best decay is that of all seeds.
        """
        protocol, best, chosen = self.conditions.protocol, np.inf, 0.0

        def loss(seed: int, decay: float) -> float:
            untimed = self.conditions.untimed(self.task, self.method, seed)
            cell = with_options(_measured(untimed, self.task, protocol), {"l2": decay})
            curves = self.run("runs", [cell]).curves
            return float(curves.reindex(columns=["validation_log_loss"]).iloc[1:].min().iloc[0])

        for decay in protocol.reference_decay:
            if not (now := loss(0, decay)) < best:
                break
            best, chosen = now, decay
        for seed in range(1, protocol.seeds if chosen else 0):
            loss(seed, chosen)

    def _trial(self, study: int, seconds: float) -> Config:
        return self.conditions.trial(self.task, self.method, study, seconds)

    def _trainings(self, seed: int, pace: Pace) -> list[Config]:
        """A final cell; where the rate falls over its passes, one of the seconds of trials too.

        Rates are tuned for these. No evaluation before the end of a schedule tells what they give.
        """
        protocol, final = self.conditions.protocol, self._final(seed)
        seconds = [final.budget.seconds or math.inf]
        if falls(final, protocol):
            seconds.append(rungs(protocol, self.task, pace)[-1])
        return [with_passes(protocol, within(it, final), pace) for it in seconds]

    def _final(self, seed: int, *words: str) -> Config:
        settings = self.conditions.final(self.task, self.method, seed, *words)
        return _measured(settings, self.task, self.conditions.protocol)


def falls(settings: Config, protocol: Protocol) -> bool:
    """Whether the rate of a cell falls over its passes."""
    method = settings.method
    return isinstance(method, StochasticOptions) and method.lr_schedule == protocol.schedule


def drawn(protocol: Protocol, settings: Config, info: Info, study: int) -> list[Point]:
    """Points of a search; the first is the method's defaults."""
    places = qmc.Halton(2, seed=study).random(protocol.trials - 1)
    return [{}, *(_point(protocol, settings, info, place) for place in places)]


def _point(protocol: Protocol, settings: Config, info: Info, place: Iterable[float]) -> Point:
    """Options at a place of the unit square."""
    method = registry.method_of(settings.method)
    names = tuned(method, settings.method)
    return {
        name: _value(protocol, method, settings, info, name, u)
        for name, u in zip(names, place, strict=False)
    }


def tuned(method: Method, settings: MethodOptions) -> list[str]:
    """Names of the options of a method that are tuned, at most two."""
    return [*(["lr"] if method.has_rate(settings) else []), *filter(None, [settings.tuned])]


def with_options(settings: Config, options: Point) -> Config:
    """A cell with other options of its method, named with or without ``method.``."""
    values = {name.removeprefix("method."): value for name, value in options.items()}
    return replace(settings, method=replace(settings.method, **values))


def with_passes(protocol: Protocol, settings: Config, pace: Pace) -> Config:
    """A cell with no more passes than fit its seconds after set-up."""
    budget, fit = settings.budget, math.inf
    if budget.seconds and budget.seconds > pace.setup and pace.speed < math.inf:
        fit = protocol.filled * pace.speed * (budget.seconds - pace.setup)
    return replace(settings, budget=replace(budget, epochs=rounded(min(budget.epochs, fit))))


def rungs(protocol: Protocol, task: Task, pace: Pace) -> list[float]:
    """Seconds of the trials on each rung: after set-up, and enough for the passes of a library.

    Where that is more than a trial may take, they are those of the protocol. Equal rungs are one.
    """
    plain = [seconds * task.slower for seconds in protocol.rungs]
    longer = [max(seconds + pace.setup, pace.whole) for seconds in plain]
    most = protocol.longest * protocol.seconds * task.slower
    return [*dict.fromkeys(longer if max(longer) <= most else plain)]


def solver(settings: Config, info: Info) -> Solver:
    """What trains a method, which says whether it can be stopped and sets its own passes."""
    method = registry.method_of(settings.method)
    return method.build(with_rate(method, settings.method, info), info)


def _measured(settings: Config, task: Task, protocol: Protocol) -> Config:
    """With the measures of the task, as far as the method ranks classes."""
    ranks = registry.method_of(settings.method).ranks
    if not task.every_label or not (ranks is True or int(ranks) >= len(protocol.labels)):
        return settings
    metrics = list(protocol.labels)
    return replace(settings, evaluation=replace(settings.evaluation, metrics=metrics))


def _value(
    protocol: Protocol, method: Method, settings: Config, info: Info, name: str, u: float
) -> float:
    """An option at a place 0 ≤ u < 1 of its scale."""
    if name == "l2":
        low, high = np.log10(protocol.decay)
        return rounded(10 ** (low + (high - low) * u))
    decades = protocol.rate_decades if name == "lr" else protocol.option_decades
    centre = (
        default_rate(method, settings.method, info)
        if name == "lr"
        else float(asdict(settings.method)[name])
    )
    value = rounded(centre * 10 ** (decades * (2 * u - 1)))
    return min(value, 1.0) if name == "alpha" else value


def rounded(value: float) -> float:
    """Round to three digits."""
    return float(f"{value:.3g}")


def criterion(rows: pd.DataFrame, every_label: bool) -> str:
    """Column by which a method is tuned and stopped early.

    The log loss if the method has probabilities; else precision at 1 if all labels of a row count;
    else the error.
    """
    losses = rows.get("validation_log_loss")
    if losses is not None and losses.notna().any():
        return "validation_log_loss"
    return "validation_precision_at_1" if every_label else "validation_error"


def stopped(curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """The best checkpoint of each cell by a column, of those after training began.

    Where training makes a model worse, that is its result, not what it was before.
    """
    trained = curves["epoch"] > 0
    some = trained | ~curves["cell"].isin(curves.loc[trained, "cell"])
    return best_of_each(curves[some], column, "cell")


def best_points(rows: pd.DataFrame, curves: pd.DataFrame, every_label: bool) -> list[Point]:
    """Settings of the trials that trained and ended, the best by their validation rows first."""
    ended = rows[rows["status"].isin(ENDED)]
    of_these = curves[curves["cell"].isin(ended["cell"]) & (curves["epoch"] > 0)]
    column = criterion(of_these, every_label)
    if column not in of_these or of_these[column].isna().all():
        return []
    order = best_first(stopped(of_these, column), column)["cell"]
    points = ended.set_index("cell").loc[order].reindex(columns=list(POINT))
    return [
        {str(name): float(value) for name, value in point.dropna().items()}
        for _, point in points.iterrows()
    ]
