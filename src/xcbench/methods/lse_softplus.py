"""SGD on the softplus approximation of log-sum-exp as a method (Gladin et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, Objective, softplus
from xcbench.core.objectives.lse_softplus import EachDraw, lse_softplus
from xcbench.methods.double_sum import OPTIMIZERS, SAMPLERS, LocalOptions, start
from xcbench.methods.method import Method, over_gram
from xcbench.options import option


@dataclass
class SoftplusOptions(LocalOptions):
    """Options of the softplus approximation."""

    batch_size: int = option(100, "samples in a minibatch", at_least=1)
    negatives: int = option(5, "classes drawn; the mean of their values counts", at_least=1)
    rho: float = option(
        0.5, "a draw moves the weights by 1/rho at most; near 0: vanilla SGD", above=0, at_most=0.99
    )


def objective(settings: SoftplusOptions, info: Info) -> Objective:
    """Of a draw; the mean over several. u starts at the optimum for rho = 0, which is near."""
    begin = start(settings, info)
    one = LogOdds(lse_softplus, False, begin, float(np.log(settings.rho)), optimum=softplus)
    single = settings.negatives == 1 and settings.sampler != "all"
    return one if single else EachDraw(one, is_bound=False, start=begin)


def rate(settings: SoftplusOptions, info: Info) -> float:
    """Lower where a draw may move the weights further, by 1 / rho."""
    return over_gram(12.0)(settings, info) * settings.rho


method = Method(
    "lse_softplus",
    SoftplusOptions,
    objective,
    rate,
    samplers=SAMPLERS,
    optimizers=OPTIMIZERS,
)
