"""A rate by trial: short trainings at rising rates, judged on rows that none of them saw.

Bottou's SGD doubles and halves its rate on a sample of rows. Here the rate is

    the largest of c · sqrt(10)^h, h = ..., -1, 0, 1, ..., that is still sound,

c the method's default rule. A trial is the start of the training itself, on an eighth of an epoch.
It is sound if its loss is at most `SLACK` above the lowest one so far. The lowest loss itself would
be the wrong guide: so early it belongs to a rate far below that of the best training, because noise
costs most at the beginning and is averaged out later (`python -m benchmarks default_rates`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.likelihoods import LINKS
from xcbench.core.metrics import evaluate
from xcbench.core.solvers import Streams
from xcbench.methods.method import Method, default_rate
from xcbench.train import training
from xcbench.train.clock import Stopwatch

STEP = 10**0.5
SHARE = 1 / 8  # of the rows of an epoch, in a trial
MOST = 4  # steps up from the default rule
LEAST = -6  # steps down
HELD_OUT = 64  # rows that judge
OF_A_LINK = 16  # the same where every probability is an integral
SLACK = 0.2  # of the log loss; of an error none


@dataclass(frozen=True)
class Found:
    """What trials found.

    Attributes
    ----------
    lr : the rate.
    losses : of the held-out rows, by the rate of each trial; infinite where it diverged.
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
    settings: Any,
    info: Info,
    dataset: Dataset,
    engine: str,
    dtype: str,
    seed: int,
    clock: str = "wall",
) -> Found:
    """Find the rate of a method on a dataset; the same for a seed wherever it is looked for.

    Parameters
    ----------
    info : of all rows, as the default rule takes it; ``dataset`` has those that train.
    clock : as in `xcbench.config.settings.Budget`.
    """
    centre = default_rate(method, settings, info)
    watch = Stopwatch(clock == "processor")
    losses: dict[float, float] = {}
    with np.errstate(all="ignore"), watch, watch.running():
        few, judges = parts(dataset, seed, OF_A_LINK if method.link in LINKS else HELD_OUT)

        def trial(h: int) -> Iterator[float]:
            """Loss before and after."""
            asked = replace(settings, lr=at(h))
            solver, model = training.built(method, asked, info, dataset.info, engine, dtype)
            for _ in solver.fit(few, model, Streams.of(seed), [1.0]):
                yield measured(model, judges)

        def tried(h: int) -> float:
            losses[at(h)] = loss = list(trial(h))[-1]
            return loss

        def at(h: int) -> float:
            return float(f"{centre * STEP**h:.6g}")

        slack = 0.0 if method.link is None else SLACK
        h = largest_sound(tried, next(trial(0)), slack)
    return Found(at(h), losses, watch.seconds)


def largest_sound(tried: Callable[[int], float], start: float, slack: float) -> int:
    """The largest h, walking from 0, whose loss is at most (1 + slack) times the lowest so far.

    Upwards as far as there is one, else downwards until there is one.

    Parameters
    ----------
    start : loss before training.
    """
    lowest = start

    def sound(h: int) -> bool:
        nonlocal lowest
        loss = tried(h)
        lowest = min(lowest, loss)
        return loss <= (1 + slack) * lowest

    h = 0
    if sound(0):
        while h < MOST and sound(h + 1):
            h += 1
        return h
    while h > LEAST and not sound(h - 1):
        h -= 1
    return max(LEAST, h - 1)


def parts(dataset: Dataset, seed: int, held_out: int) -> tuple[Dataset, Split]:
    """Rows of a trial, a share of those that train, and others that judge it.

    Class frequencies are those of all rows, by which negatives are drawn and training from the
    class prior starts.
    """
    train, originals = dataset.train, dataset.train.originals
    order = np.random.default_rng([seed, len(train)]).permutation(len(train))
    judges = order[: max(1, min(held_out, len(train) // 2))]
    rest = order[~np.isin(originals[order], originals[judges])]
    rows = np.sort(rest[: max(1, math.ceil(SHARE * len(train)))])
    return replace(dataset, train=train.take(rows)), train.take(np.sort(judges))


def measured(model: Any, judges: Split) -> float:
    """Log loss, or error of a method without probabilities; infinite where weights overflow."""
    if not model.finite():
        return math.inf
    values = evaluate(model.corrected, judges)
    loss = values.get("log_loss", values["error"])
    return loss if math.isfinite(loss) else math.inf
