"""SCENT as a method, with the two other steps of u that its paper compares (Wei et al. 2026)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, softplus
from xcbench.core.objectives.scent import asgd, scent, sox
from xcbench.methods.double_sum import OPTIMIZERS, SAMPLERS, LocalOptions, start
from xcbench.methods.method import Method, over_gram
from xcbench.options import option


@dataclass
class ScentOptions(LocalOptions):
    """Options of SCENT."""

    batch_size: int = option(100, "samples in a minibatch", at_least=1)
    negatives: int = option(5, "classes drawn", at_least=1)
    dual: str = option(
        "scent",
        "step of u: `scent`, proximal, an average that weighs more what is new where u is large; "
        "`sox`, an average with fixed weights; `asgd`, along the gradient",
        choices=("scent", "sox", "asgd"),
    )
    alpha: float = option(
        10.0, "with dual=scent, step of u in units of 1/K; large: u is forgotten", above=0
    )
    beta: float = option(0.1, "with dual=sox, weight of what is new", above=0, at_most=1)
    u_rate: float = option(0.1, "with dual=asgd, rate of u", above=0)


def objective(settings: ScentOptions, info: Info) -> LogOdds:
    """The double sum with one of the three steps."""
    formula, parameter = {
        "scent": (scent, float(np.log(settings.alpha / info.classes))),
        "sox": (sox, settings.beta),
        "asgd": (asgd, settings.u_rate),
    }[settings.dual]
    is_bound = settings.dual == "asgd"
    return LogOdds(formula, is_bound, start(settings, info), parameter, optimum=softplus)


method = Method(
    "scent",
    ScentOptions,
    objective,
    over_gram(4.0),
    samplers=SAMPLERS,
    optimizers=OPTIMIZERS,
    exact_gradient=False,  # u moves first
)
