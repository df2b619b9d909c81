"""Options of exact softmax, its bounds and its double sums."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.config.methods import SOLVERS, FullBatch, Sampled
from xcbench.options import option


@dataclass
class Softmax(FullBatch):
    """Options of exact softmax."""

    solver: str = option("lbfgs", "full batch L-BFGS, or minibatch SGD", choices=SOLVERS)


@dataclass
class OneVsEach(FullBatch, Sampled):
    """Options of one-vs-each."""


@dataclass
class Grouped(OneVsEach):
    """Options of one-vs-each with a group of classes handled exactly."""

    sampling: str = option("others", "`others` or `all`, of the classes outside the group")
    group: int = option(
        10, "classes in the group: those of most training rows but the true one", at_least=0
    )


@dataclass
class Bouchard(FullBatch, Sampled):
    """Options of Bouchard's bound, with a local variable alpha per row."""

    sampling: str = option("others", "as for sampled methods")


@dataclass
class DoubleSum(Sampled):
    """Options of the double-sum formulation of softmax with a local variable u per row."""

    n: int = option(1, "observations in a minibatch", at_least=1)
    m: int = option(1, "classes drawn", at_least=1)
    sampling: str = option("others", "as for sampled methods")
    u0: str = option("log_classes", "start of u: log K, or 0", choices=("log_classes", "zero"))
    double_sum: str = option(
        "proposed",
        "the U-max paper's own double sum (Eq. 6); the one of Raman et al. (Eq. 8); or that one "
        "with the two mistakes of the code published with the paper",
        choices=("proposed", "raman", "raman_as_published"),
    )


@dataclass
class Umax(DoubleSum):
    """Options of U-max."""

    delta: float = option(1.0, "u is reset when it lies this far below its bound", above=0)
