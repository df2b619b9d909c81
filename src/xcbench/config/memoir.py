"""Options of MEMOIR, with either penalty."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.config.methods import Method
from xcbench.options import option


@dataclass
class Memoir(Method):
    """Options of MEMOIR, multi-class SVMs on sparse weights; the defaults are as published."""

    bias: bool = option(False, "not possible: the paper appends a feature that is always 1")
    n: int = option(0, "observations in a batch, 0: 100 floor(sqrt K)", at_least=0)
    iterations: int = option(0, "batches in all, 0: as budget.epochs says", at_least=0)
    slowdown: float = option(0.02, "the rate of step t is lr / (1 + slowdown t)", at_least=0)
    strength: float = option(1.0, "of the penalty, beside the mean loss", at_least=0)
    hinge: bool = option(True, "only observations of a margin below 1 move weights")
    order: str = option(
        "balanced",
        "a batch draws, with replacement, classes uniformly and rows of them, or rows uniformly",
        choices=("balanced", "iid"),
    )
    batch: str = option(
        "mean", "a batch moves weights by the mean or the sum of its rows", choices=("mean", "sum")
    )
    margins: str = option(
        "before",
        "of the weights before the batch, or of the current ones, which the shrinking and the rows "
        "before in the batch have moved",
        choices=("before", "current"),
    )
    prediction: str = option(
        "cosine", "class of the highest cosine or inner product", choices=("cosine", "inner")
    )
    average: bool = option(False, "evaluate the mean of the weights after every step")
    oracle: str = option(
        "exact",
        "what finds the rival class: `exact` the highest score; `random`: any class with weights; "
        "`simple_lsh`: the nearest code, of weights as they are, or (`simple_lsh_scaled`) over the "
        "longest; `graph`: a walk on a small-world graph (nmslib)",
        choices=("exact", "random", "simple_lsh", "simple_lsh_scaled", "graph"),
    )
    bits: int = option(64, "of a code, for simple_lsh", at_least=1, at_most=64)


@dataclass
class MemoirL2(Memoir):
    """Options of MEMOIR-l2."""

    hinge: bool = option(False, "only observations of a margin below 1 move weights")


@dataclass
class MemoirL1(Memoir):
    """Options of MEMOIR-l1."""

    strength: float = option(5e-6, "of the penalty, beside the mean loss", at_least=0)
