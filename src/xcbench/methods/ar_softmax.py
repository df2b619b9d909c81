"""Augment and reduce of softmax as a method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, Objective, softplus
from xcbench.core.objectives.augment_reduce import averaged, averaged_after
from xcbench.core.samplers import WEIGHTED
from xcbench.methods.augment_reduce import AugmentReduceOptions, impossible, loop
from xcbench.methods.method import Method, over_square_norm
from xcbench.options import option


@dataclass
class SoftmaxAugmentReduceOptions(AugmentReduceOptions):
    """Options of softmax A&R."""

    local_lr: float = option(
        1.0, "factor of the step size of the local variables", above=0, at_most=1
    )
    eta0: float = option(2.0, "start of the local variable eta", at_least=1)
    bound_at: str = option(
        "before",
        "at which eta the bound of a minibatch is taken: `before` the local step, which does not "
        "know the drawn classes, or `after` it, as in the published code, where it lies too high",
        choices=("before", "after"),
    )


def objective(settings: SoftmaxAugmentReduceOptions, info: Info) -> Objective:
    """Softmax: Gumbel errors, for which q is exact but for its location log eta."""
    formula = averaged if settings.bound_at == "before" else averaged_after
    return LogOdds(formula, True, float(np.log(settings.eta0)), optimum=softplus)


method = Method(
    "ar_softmax",
    SoftmaxAugmentReduceOptions,
    objective,
    over_square_norm(0.1),
    samplers=("others", "all", *WEIGHTED),
    exact_gradient=False,  # eta moves first
    impossible=impossible,
    solver=lambda settings, info: loop(settings, info, objective(settings, info)),
)
