"""What the methods of augment and reduce share: softmax, multinomial probit and logistic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective
from xcbench.core.objectives.augment_reduce import Latent, Link
from xcbench.core.solvers import Solver
from xcbench.core.solvers.augment_reduce import AugmentReduce
from xcbench.methods.method import Method, minibatch, over_square_norm, sampler
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class AugmentReduceOptions(SampledOptions):
    """Options of augment and reduce, with a variational distribution per row."""

    optimizer: str = option("ar", "as for stochastic methods", choices=("sgd", "ar"))
    local_clock: str = option(
        "epochs",
        "t in the step size (1 + t)^-0.9 of the local variables, counted from 1",
        choices=("epochs", "iterations"),
    )
    local_lr: float = option(1.0, "factor of the step size of the local variables", above=0)


@dataclass
class LatentAugmentReduceOptions(AugmentReduceOptions):
    """Options of multinomial probit and logistic A&R."""

    local_lr: float = option(0.01, "factor of the step size of the local variables", above=0)
    entropy: bool = option(
        True, "the entropy has its share in the step of the scale (the published code left it out)"
    )
    local_step: str = option(
        "bounded",
        "of the local variables: `gradient`, as in the paper, which grows with K; `bounded`: no "
        "longer than Newton's",
        choices=("gradient", "bounded"),
        former="gradient",
    )


def loop(settings: AugmentReduceOptions, info: Info, objective: Objective) -> Solver:
    """The loop over minibatches that moves the local variables by a step size of their own."""
    solver = partial(AugmentReduce, clock=settings.local_clock, local_lr=settings.local_lr)
    return minibatch(objective, sampler(settings, info), settings, info, solver)


def impossible(settings: AugmentReduceOptions) -> str:
    """The l2 penalty on drawn classes has a loop of its own."""
    if settings.l2_on == "drawn":
        return f"method.l2_on=drawn is not possible for {settings.name}; set it to all"
    return ""


def latent(link: Link, name: str) -> Method:
    """Multinomial probit or logistic."""

    def objective(settings: LatentAugmentReduceOptions, info: Info) -> Objective:
        return Latent(link, settings.entropy, settings.local_step == "bounded")

    return Method(
        f"ar_{name}",
        LatentAugmentReduceOptions,
        objective,
        over_square_norm(0.1),
        samplers=("others", "all", "frequency", "tree", "clusters"),
        link=name,
        exact_gradient=False,  # mu and gamma move first
        impossible=impossible,
        solver=lambda settings, info: loop(settings, info, objective(settings, info)),
    )
