"""Generalised binary cross-entropy as a method (Petrov and Macdonald 2023)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from xcbench.core.dataset import Dataset, Info
from xcbench.core.objectives import Pairwise
from xcbench.core.objectives.one_vs_all import one_vs_all
from xcbench.core.samplers import Sampler
from xcbench.core.samplers.sampler import Draw
from xcbench.methods.method import Method, over_square_norm
from xcbench.methods.method import sampler as drawing
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class GeneralisedOptions(SampledOptions):
    """Options of generalised binary cross-entropy."""

    batch_size: int = option(10, "samples in a minibatch", at_least=1)
    t: float = option(
        0.75,
        "calibration: 0 is binary cross-entropy, 1 gives probabilities sigma(f)",
        at_least=0,
        at_most=1,
    )
    init: str = option(
        "normalised",
        "weights before training, as for stochastic methods",
        choices=("zero", "normal", "glorot", "normalised", "prior"),
    )


def beta(settings: GeneralisedOptions, info: Info) -> float:
    """Weight of the true class: alpha (t (1 - 1/alpha) + 1/alpha), alpha = m / (K - 1)."""
    alpha = min(1.0, settings.negatives / (info.classes - 1))
    return 1.0 - settings.t * (1.0 - alpha)


@dataclass(frozen=True)
class Weighing(Sampler):
    """The draws of another sampler, all with one log-weight."""

    draws: Sampler
    log_weight: float

    def fitted(self, dataset: Dataset) -> Weighing:
        """With the other sampler fitted."""
        return replace(self, draws=self.draws.fitted(dataset))

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws that are left out stay so."""
        drawn, log_weight = self.draws.draw(rng, rows, y, batch_size)
        if isinstance(log_weight, float):
            return drawn, self.log_weight
        return drawn, np.where(np.isneginf(log_weight), -np.inf, self.log_weight)


def sampler(settings: GeneralisedOptions, info: Info) -> Weighing:
    """Draws of weight 1 / beta, and a true class of weight 1."""
    return Weighing(drawing(settings, info), -float(np.log(beta(settings, info))))


def rate(settings: GeneralisedOptions, info: Info) -> float:
    """As one-vs-all's, which this is for t = 1: less where a draw of weight 1 / beta overshoots."""
    return over_square_norm(1.4)(settings, info) * min(1.0, 20.0 * beta(settings, info)) ** 0.5


# The loss of the paper is beta / (m + 1) times the value.
method = Method(
    "gbce",
    GeneralisedOptions,
    lambda settings, info: Pairwise(one_vs_all, is_bound=False),
    rate,
    samplers=("others",),
    link=None,  # a logistic likelihood a class, which t < 1 shifts
    sampler=sampler,
)
