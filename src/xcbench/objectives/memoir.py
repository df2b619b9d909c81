"""MEMOIR: multi-class SVMs whose rival class comes from a margin oracle (Belyy, Sholokhov 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench import config, oracles
from xcbench.datasets import Info
from xcbench.method import Method, sparse_weights
from xcbench.objectives import Numbers, Pairs, Triple
from xcbench.oracles import graph
from xcbench.solvers.margin import Margin
from xcbench.solvers.penalties import L1, L2

RATE = 0.1  # eta_0 of Table 4


def hinge(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """(1 + f_r - f_y)_+, of Crammer and Singer where r is the best other class (Eq. 10 and 11)."""
    lack = 1.0 + drawn - true
    inside = np.maximum(np.sign(lack), 0.0)
    return inside * lack, -inside, inside


def margin(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """1 + f_r - f_y of every observation: the published l2 code does not test the hinge."""
    lack = 1.0 + drawn - true
    return lack, 0.0 * lack - 1.0, 0.0 * lack + 1.0


def objective(settings: config.Memoir, info: Info) -> Pairs:
    """What a pair of the true class and its rival costs."""
    return Pairs(hinge if settings.hinge else margin, is_bound=False)


def batch(settings: config.Memoir, info: Info) -> int:
    """Observations in a batch: 100 floor(sqrt K) where nothing is set (Table 4)."""
    return settings.n or 100 * int(np.sqrt(info.classes))


def impossible(settings: config.Memoir) -> str:
    """What the algorithms and their sparse weights do not have."""
    if settings.bias:
        return (
            f"method.bias=true is not possible for {settings.name}; the paper appends a feature "
            "that is always 1: set dataset.protocol.constant=1"
        )
    if settings.ridge:
        return f"{settings.name} has a penalty of its own; set method.strength, not method.ridge"
    if isinstance(settings, config.MemoirL2) and settings.strength * (settings.lr or RATE) >= 1:
        return (
            f"method.strength={settings.strength:g} times the rate is 1 or more, so that a step "
            "takes all weights away; lower method.strength or method.lr"
        )
    return ""


def lacks(settings: config.Memoir) -> str:
    """The graph needs a library."""
    return graph.MISSING if settings.oracle == "graph" and not graph.installed() else ""


def memory(settings: config.Config, info: Info) -> float:
    """Of the rows of all iterations."""
    method = settings.method
    assert isinstance(method, config.Memoir)
    epochs = settings.budget.epochs
    visits = method.iterations * batch(method, info) if method.iterations else epochs * info.train
    return sparse_weights(settings, info, visits)


def solver(settings: Any, info: Info) -> Margin:
    """The loop over batches, with the penalty of the method."""
    assert settings.lr is not None
    kind = L2 if isinstance(settings, config.MemoirL2) else L1
    n = batch(settings, info)
    return Margin(
        objective=objective(settings, info),
        oracle=lambda rng: oracles.make(settings, rng),
        penalty=kind(settings.strength),
        lr=settings.lr,
        slowdown=settings.slowdown,
        n=n,
        mean_step=settings.batch == "mean",
        current=settings.margins == "current",
        balanced=settings.order == "balanced",
        cosine=settings.prediction == "cosine",
        average=settings.average,
        epochs=settings.iterations * n / info.train if settings.iterations else None,
    )


def of_penalty(name: str, schema: type[config.Memoir]) -> Method:
    """Method of a penalty."""
    return Method(
        name,
        schema,
        objective,
        lambda settings, info: RATE,
        impossible=impossible,
        lacks=lacks,
        memory=memory,
        solver=solver,
        version=3,
    )


memoir_l2 = of_penalty("memoir_l2", config.MemoirL2)
memoir_l1 = of_penalty("memoir_l1", config.MemoirL1)
