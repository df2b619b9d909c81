"""A rate by trial: a pass over rows at a few rates, judged on others that no trial saw.

As in Bottou's SGD, which doubles and halves a rate on a sample of rows, the rates are
c · sqrt(10)^h, c the default rule of the method. From h = 0 trials go up while the loss falls;
where the first one is much worse than no training, they go down until one is not, and a step
further. Of a rate above which trials end at a multiple of the loss at the start, the next lower
one is taken.

A trial is a pass over so many rows that five of them cost a fifth of the training. Its rate falls
to 0, since otherwise noise costs more than slowness, and the answer is too low. Many passes over
few rows answer no better where classes are few, and too high a rate where they are very many.
What only later passes show, no trial sees; of few large steps, none tells anything
(`python -m benchmarks found_rates`). Of a budget in seconds they take a fifth at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.config.settings import Budget
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.likelihoods import LINKS
from xcbench.core.metrics import evaluate
from xcbench.core.models.model import Model
from xcbench.core.solvers import Solver, Streams
from xcbench.methods.method import Method, default_rate
from xcbench.methods.options import StochasticOptions
from xcbench.options import Options
from xcbench.train import training
from xcbench.train.clock import Stops, Stopwatch

STEP = 10**0.5
UP, DOWN = (1, 2, 3, 4), (-1, -3, -7)  # h of the trials after the first, downwards ever faster
SHARE, FEWEST = 1 / 25, 200  # of the training's visits, in a trial; and at least so many rows
PART = 0.2  # of the budget's seconds, if it has any: all trials
STEPS = 10  # of the first trial: fewer tell nothing, and the rule stands
JUDGES = 200, 64  # rows that no trial sees; and at least, where classes are many
SCORES = 200_000  # that a judgement takes, about
OF_INTEGRALS = 16  # judges, where every probability is an integral
NO_WORSE = 1.5  # times the loss before training: noise, which later passes average out
CLIFF = 3.0  # times the same: a step below such a rate, longer trainings fall off too


@dataclass(frozen=True)
class Search:
    """A search for a rate by trials.

    Attributes
    ----------
    lr : the rate.
    losses : of the judging rows, by the rate of each trial; infinite where it diverged.
    seconds : of all trials.
    """

    lr: float
    losses: dict[float, float]
    seconds: float

    @property
    def shown(self) -> dict[str, float | None]:
        """The losses as JSON has them; None where a trial diverged."""
        return {
            f"{lr:g}": loss if math.isfinite(loss) else None for lr, loss in self.losses.items()
        }


def search(
    method: Method,
    settings: Options,
    info: Info,
    dataset: Dataset,
    engine: str,
    dtype: str,
    seed: int,
    budget: Budget,
) -> Search:
    """Find the rate of a method on a dataset; the same for a seed wherever it is looked for.

    Parameters
    ----------
    info : of all rows, as the default rule takes it; ``dataset`` has those that train.
    budget : of the training. If it has seconds, trials end after a fifth of them, and the best that
        ended counts.
    """
    centre = default_rate(method, settings, info)
    if isinstance(settings, StochasticOptions) and settings.optimizer == "sgd":
        settings = replace(settings, lr_schedule="linear")

    def at(h: int) -> float:
        return float(f"{centre * STEP**h:.3g}")

    def built(h: int) -> tuple[Solver, Model]:
        asked = replace(settings, lr=at(h))
        return training.built(method, asked, info, dataset.info, engine, dtype)

    watch = Stopwatch(budget.clock == "processor")
    with np.errstate(all="ignore"), watch:
        share, judging = SHARE * budget.epochs, number_of_judges(method, info.classes)
        few, judges = parts(dataset, seed, min(1.0, share), judging)
        most = PART * budget.seconds if budget.seconds else math.inf
        trials = Trials(built, few, judges, seed, watch, most)
        h = trials.best()
    return Search(at(h), {at(h): loss for h, loss in trials.losses.items()}, watch.seconds)


@dataclass
class Trials:
    """Losses of trials, each made once.

    Attributes
    ----------
    built : solver and untrained model of a trial.
    few, judges : rows that train, and that judge.
    most : seconds of all trials.
    losses, steps : of the trials that ended.
    """

    built: Callable[[int], tuple[Solver, Model]]
    few: Dataset
    judges: Split
    seed: int
    watch: Stopwatch
    most: float = math.inf
    losses: dict[int, float] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)

    def best(self) -> int:
        """Where the walk ends; if time is over, the best that ended, or the rule."""
        try:
            start, _ = next(self._passes(0))
            before = self._judged(start)
            self.loss(0)
            return walked(self.loss, before) if self.steps[0] >= STEPS else 0
        except TimeoutError:
            return min(self.losses, key=lambda h: self.losses[h], default=0)

    def loss(self, h: int) -> float:
        """Loss of the judges after a trial."""
        if h not in self.losses:
            *_, (model, steps) = self._passes(h)
            self.losses[h], self.steps[h] = self._judged(model), steps
        return self.losses[h]

    def _passes(self, h: int) -> Iterator[tuple[Model, int]]:
        """The model and its steps: before, at looks at the clock, and after."""
        solver, model = self.built(h)
        stops = Stops([1.0], self.watch, self.most < math.inf and solver.interruptible)
        progresses = solver.over(1).fit(self.few, model, Streams.of(self.seed), stops)
        while True:
            with self.watch.running():
                progress = next(progresses, None)
            if progress is None:
                return
            if self.watch.seconds > self.most:
                raise TimeoutError
            yield model, progress.iteration

    def _judged(self, model: Model) -> float:
        with self.watch.running():
            return measured(model, self.judges)


def walked(tried: Callable[[int], float], start: float) -> int:
    """Walk from h = 0 to the largest h up to which the loss falls; from a cliff one step back.

    Parameters
    ----------
    tried : loss of a trial.
    start : loss before training. A first trial that is worse sends the walk downwards, until one is
        not; and a step further, if that is better.
    """
    lowest = tried(0)
    if not lowest <= NO_WORSE * start:
        for h in DOWN:
            if (loss := tried(h)) <= NO_WORSE * start:
                return h - (tried(h - 1) < loss)
        return DOWN[-1]
    for h in UP:
        loss = tried(h)
        if not loss < lowest:
            return max(0, h - 1 - (loss > CLIFF * start))
        lowest = loss
    return UP[-1]


def number_of_judges(method: Method, classes: int) -> int:
    """Rows that judge: as many as their scores allow."""
    most, least = JUDGES
    return OF_INTEGRALS if method.link in LINKS else min(most, max(least, SCORES // classes))


def parts(dataset: Dataset, seed: int, share: float, most: int) -> tuple[Dataset, Split]:
    """A share of the training rows for trials, and at most so many others that judge them.

    Class frequencies stay those of all rows: by them negatives are drawn, and training from the
    class prior begins.
    """
    train, originals = dataset.train, dataset.train.originals
    order = np.random.default_rng([seed, len(train)]).permutation(len(train))
    judges = order[: max(1, min(most, len(train) // 4))]
    rest = order[~np.isin(originals[order], originals[judges])]
    rows = np.sort(rest[: max(FEWEST, math.ceil(share * len(train)))])
    return replace(dataset, train=train.take(rows)), train.take(np.sort(judges))


def measured(model: Model, judges: Split) -> float:
    """Log loss, or error of a method without probabilities; infinite where weights overflow."""
    if not model.finite():
        return math.inf
    values = evaluate(model.corrected, judges)
    loss = values.get("log_loss", values["error"])
    return loss if math.isfinite(loss) else math.inf
