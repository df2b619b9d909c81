"""Stochastic negative mining as a method: the hardest of the drawn classes (Reddi et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, Objective, Pairwise
from xcbench.core.objectives.hard_negatives import Hardest
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax
from xcbench.methods.method import Method, over_gram
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class MiningOptions(SampledOptions):
    """Options of stochastic negative mining."""

    top: int = option(
        2, "drawn classes of the highest scores that count; all, if fewer are drawn", at_least=1
    )
    loss: str = option(
        "softmax",
        "over the true class and those: `softmax`, or `logistic` of each pair",
        choices=("softmax", "logistic"),
    )


def objective(settings: MiningOptions, info: Info) -> Objective:
    """The loss of the hardest."""
    inner = {
        "softmax": LogOdds(softmax, is_bound=False),
        "logistic": Pairwise(one_vs_each, is_bound=False),
    }[settings.loss]
    return Hardest(inner, settings.top)


def rate(settings: MiningOptions, info: Info) -> float:
    """As sampled softmax's; a pair's gradient is at most 1, that of their sum at most their number.

    The classes that count are the same for many rows of a minibatch.
    """
    pairs = settings.top if settings.loss == "logistic" else 1
    return over_gram(4.0)(settings, info) / pairs


method = Method(
    "snm",
    MiningOptions,
    objective,
    rate,
    samplers=("others", "all", "frequency", "tree", "clusters", "in_batch"),
    link=None,  # scores of classes that were never among the hardest are no log-odds
)
