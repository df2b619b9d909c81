"""What MEMOIR's methods share, whatever their penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import Pairwise
from xcbench.core.objectives.memoir import RATE, hinge, margin
from xcbench.core.oracles import Exact, Graph, Oracle, RandomClass, SimpleLSH, graph
from xcbench.core.solvers.margin import Margin
from xcbench.core.solvers.penalties import L1, L2
from xcbench.methods.method import Method, sparse_weights
from xcbench.methods.options import MethodOptions
from xcbench.options import option

Options = TypeVar("Options", bound="MemoirOptions")


@dataclass
class MemoirOptions(MethodOptions):
    """Options of MEMOIR, multi-class SVMs on sparse weights; the defaults are as published."""

    tuned = "strength"

    bias: bool = option(False, "not possible: the paper appends a feature that is always 1")
    batch_size: int = option(0, "samples in a batch, 0: 100 floor(sqrt K)", at_least=0)
    iterations: int = option(0, "batches in all, 0: as budget.epochs says", at_least=0)
    slowdown: float = option(0.02, "the rate of step t is lr / (1 + slowdown t)", at_least=0)
    first_step: int = option(
        0, "t of the first batch: 0 as published, 1 in the printed algorithms", at_least=0
    )
    strength: float = option(1.0, "of the penalty; the loss is a mean over rows", at_least=0)
    hinge: bool = option(True, "only samples of a margin below 1 move weights")
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
        "scores by the weights before the batch, or by the current ones",
        choices=("before", "current"),
    )
    prediction: str = option(
        "cosine", "class of the highest cosine or inner product", choices=("cosine", "inner")
    )
    average: bool = option(False, "evaluate the mean of the weights after every step")
    oracle: str = option(
        "exact",
        "how the rival class is found. `exact`: the highest score. `random`: any class with "
        "weights. `simple_lsh`: the nearest hash code; `simple_lsh_scaled` divides weights by "
        "the longest. `graph`: a walk on a small-world graph (nmslib)",
        choices=("exact", "random", "simple_lsh", "simple_lsh_scaled", "graph"),
    )
    bits: int = option(64, "of a code, for simple_lsh", at_least=1, at_most=64)
    threads: int = option(
        1, "of graph; with more than one, chance decides which neighbours it has", at_least=1
    )


def objective(settings: MemoirOptions, info: Info) -> Pairwise:
    """What a pair of the true class and its rival costs."""
    return Pairwise(hinge if settings.hinge else margin, is_bound=False)


def batch(settings: MemoirOptions, info: Info) -> int:
    """Samples in a batch: 100 floor(sqrt K) where nothing is set (Table 4)."""
    return settings.batch_size or 100 * int(np.sqrt(info.classes))


def impossible(settings: MemoirOptions) -> str:
    """What the algorithms and their sparse weights do not have."""
    if settings.bias:
        return (
            f"method.bias=true is not possible for {settings.name}; the paper appends a feature "
            "that is always 1: set dataset.protocol.constant=1"
        )
    if settings.l2:
        return f"{settings.name} has a penalty of its own; set method.strength, not method.l2"
    return ""


def lacks(settings: MemoirOptions) -> str:
    """The graph needs a library."""
    return graph.MISSING if settings.oracle == "graph" and not graph.installed() else ""


def memory(settings: MemoirOptions, info: Info, itemsize: int, epochs: float) -> float:
    """Of the rows of all iterations."""
    iterations = settings.iterations
    visits = iterations * batch(settings, info) if iterations else epochs * info.train
    return sparse_weights(info, itemsize, visits)


def oracle(settings: MemoirOptions, rng: np.random.Generator) -> Oracle:
    """Oracle that settings ask for."""
    if settings.oracle == "random":
        return RandomClass(rng)
    if settings.oracle.startswith("simple_lsh"):
        return SimpleLSH(settings.bits, rng, scaled=settings.oracle == "simple_lsh_scaled")
    return Graph(settings.threads) if settings.oracle == "graph" else Exact()


def solver(settings: MemoirOptions, info: Info, penalty: L1 | L2) -> Margin:
    """The loop over batches."""
    assert isinstance(settings.lr, float)
    n = batch(settings, info)
    return Margin(
        objective=objective(settings, info),
        oracle=lambda rng: oracle(settings, rng),
        penalty=penalty,
        lr=settings.lr,
        slowdown=settings.slowdown,
        first_step=settings.first_step,
        batch_size=n,
        mean_step=settings.batch == "mean",
        current=settings.margins == "current",
        balanced=settings.order == "balanced",
        cosine=settings.prediction == "cosine",
        average=settings.average,
        epochs=settings.iterations * n / info.train if settings.iterations else None,
    )


def of_penalty(
    name: str,
    schema: type[Options],
    penalty: Callable[[Options], L1 | L2],
    impossible: Callable[[Options], str] = impossible,
) -> Method:
    """Method of a penalty."""
    return Method(
        name,
        schema,
        objective,
        lambda settings, info: RATE,
        impossible=impossible,
        lacks=lacks,
        memory=memory,
        link=None,
        solver=lambda settings, info: solver(settings, info, penalty(settings)),
        version=3,
    )
