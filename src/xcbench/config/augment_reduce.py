"""Options of augment and reduce."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.config.methods import Sampled
from xcbench.options import option


@dataclass
class AugmentReduce(Sampled):
    """Options of augment and reduce, with a variational distribution per row."""

    step: str = option("ar", "as for stochastic methods", choices=("sgd", "ar"))
    sampling: str = option("others", "as for sampled methods")
    local_clock: str = option(
        "epochs",
        "t in the step size (1 + t)^-0.9 of the local variables, counted from 1",
        choices=("epochs", "iterations"),
    )
    local_lr: float = option(1.0, "factor of the step size of the local variables", above=0)


@dataclass
class SoftmaxAugmentReduce(AugmentReduce):
    """Options of softmax A&R."""

    local_lr: float = option(
        1.0, "factor of the step size of the local variables", above=0, at_most=1
    )
    eta0: float = option(2.0, "start of the local variable eta", at_least=1)


@dataclass
class LatentAugmentReduce(AugmentReduce):
    """Options of multinomial probit and logistic A&R."""

    local_lr: float = option(0.01, "factor of the step size of the local variables", above=0)
    entropy: bool = option(
        True, "the entropy has its share in the step of the scale (the published code left it out)"
    )
