"""Negative sampling as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective
from xcbench.core.objectives.negative_sampling import BinaryLogistic
from xcbench.core.samplers.noise import Negatives
from xcbench.methods.method import Method, over_square_norm
from xcbench.methods.nce import NCEOptions, negatives
from xcbench.options import option


@dataclass
class NegativeSamplingOptions(NCEOptions):
    """Options of negative sampling."""

    negatives: int = option(1, "classes drawn; their mean counts", at_least=1)
    sampler: str = option(
        "tree",
        "`uniform`, `frequency` or `tree`: a sample's draws with replacement over all "
        "classes, hits of the true class kept",
    )
    optimizer: str = option("adagrad", "how weights move", choices=("sgd", "ar", "adagrad"))
    lr_decay: float = option(
        1.0, "the rate is multiplied by this after each epoch", above=0, at_most=1
    )
    l2_scores: str = option(
        "corrected",
        "scores that feel score_l2: `corrected` ones, f + log p_n (Eq. 6), or `raw` ones, f, as "
        "published for uniform and frequency sampling",
        choices=("corrected", "raw"),
    )


def objective(settings: NegativeSamplingOptions, info: Info) -> Objective:
    """Of the scores themselves."""
    return BinaryLogistic(True, settings.score_l2, settings.l2_scores == "raw")


def sampler(settings: NegativeSamplingOptions, info: Info) -> Negatives:
    """Noise that may be the true class, and is added to the scores of a prediction."""
    return negatives(settings, corrects=True)


method = Method(
    "negative_sampling",
    NegativeSamplingOptions,
    objective,
    over_square_norm(0.2),
    samplers=(),
    noises=("uniform", "frequency", "tree"),
    sampler=sampler,
)
