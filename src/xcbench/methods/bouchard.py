"""Bouchard's bound as a method: options, rate, variants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective, Pairwise
from xcbench.core.objectives.bouchard import Tightest, one_vs_rest
from xcbench.core.samplers import WEIGHTED
from xcbench.methods.method import Method, over_gram, stochastic
from xcbench.methods.options import FullBatchOptions, SampledOptions, start_option


@dataclass
class BouchardOptions(FullBatchOptions, SampledOptions):
    """Options of Bouchard's bound, with a local variable alpha per row."""

    init: str = start_option("zero")  # the bound's optimum lies beyond the prior, away from zero


def start(info: Info) -> float:
    """The best alpha at W = 0, where K sigma(-alpha) = 1."""
    return float(np.log(info.classes - 1))


def objective(settings: BouchardOptions, info: Info) -> Objective:
    """Joint objective in (w, alpha) for minibatches; alpha is eliminated if every class is used."""
    pairs = Pairwise(one_vs_rest, True, start(info), shifted=True)
    return pairs if stochastic(settings) else Tightest(pairs, start=start(info))


MANY = 3000  # classes, beyond which a drawn class stands for so many others that it overshoots


def rate(settings: BouchardOptions, info: Info) -> float:
    """Default rate, lower for very many classes (`reports/default-rates.md`)."""
    return over_gram(1.5)(settings, info) * min(1.0, MANY / info.classes)


method = Method(
    "bouchard",
    BouchardOptions,
    objective,
    rate,
    samplers=("others", "all", *WEIGHTED),
    optimizers=("sgd",),  # alpha moves by the rate of w
)
