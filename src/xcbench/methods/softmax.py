"""Exact softmax as a method."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.methods.method import Method, over_gram
from xcbench.methods.options import SOLVERS, FullBatchOptions
from xcbench.options import option


@dataclass
class SoftmaxOptions(FullBatchOptions):
    """Options of exact softmax."""

    solver: str = option("lbfgs", "full batch L-BFGS, or minibatch SGD", choices=SOLVERS)


method = Method(
    "softmax",
    SoftmaxOptions,
    lambda settings, info: LogOdds(softmax, is_bound=True),
    over_gram(4.0),
    version=2,
)
