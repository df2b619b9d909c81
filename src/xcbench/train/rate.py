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
from dataclasses import dataclass, replace

import numpy as np

from xcbench.config.settings import Budget
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.likelihoods import LINKS
from xcbench.core.metrics import evaluate
from xcbench.core.models.model import Model
from xcbench.core.solvers import Streams
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
class Found:
    """What trials found.

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


def found(
    method: Method,
    settings: Options,
    info: Info,
    dataset: Dataset,
    engine: str,
    dtype: str,
    seed: int,
    budget: Budget,
) -> Found:
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
    watch = Stopwatch(budget.clock == "processor")
    losses: dict[int, float] = {}
    steps: dict[int, int] = {}

    def rate(h: int) -> float:
        return float(f"{centre * STEP**h:.3g}")

    def trial(h: int) -> Iterator[tuple[Model, int]]:
        """The model, and the steps so far, before, at looks at the clock, and after."""
        asked = replace(settings, lr=rate(h))
        solver, model = training.built(method, asked, info, dataset.info, engine, dtype)
        stops = Stops([1.0], watch, bool(budget.seconds) and solver.interruptible)
        progresses = solver.over(1).fit(few, model, Streams.of(seed), stops)
        while True:
            with watch.running():
                progress = next(progresses, None)
            if progress is None:
                return
            if budget.seconds and watch.seconds > PART * budget.seconds:
                raise TimeoutError
            yield model, progress.iteration

    def tried(h: int) -> float:
        if h not in losses:
            *_, (model, steps[h]) = trial(h)
            losses[h] = judged(model)
        return losses[h]

    def judged(model: Model) -> float:
        with watch.running():
            return measured(model, judges)

    with np.errstate(all="ignore"), watch:
        judging = number_of_judges(method, info.classes)
        few, judges = parts(dataset, seed, min(1.0, SHARE * budget.epochs), judging)
        try:
            start, _ = next(trial(0))
            tried(0)
            h = walked(tried, judged(start)) if steps[0] >= STEPS else 0
        except TimeoutError:
            h = min(losses, key=lambda h: losses[h], default=0)
    return Found(rate(h), {rate(h): loss for h, loss in losses.items()}, watch.seconds)


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
