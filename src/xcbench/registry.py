"""Solver registry: method name → how it is built, its version, its default rate.

A change of a method's maths or loop raises its version, which changes the identity of its cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xcbench import config, samplers
from xcbench.datasets import Info
from xcbench.errors import UserError
from xcbench.objectives import Objective, Odds, Pairs
from xcbench.objectives.double_sum import double_sum
from xcbench.objectives.implicit import implicit
from xcbench.objectives.nce import nce
from xcbench.objectives.one_vs_each import one_vs_each
from xcbench.objectives.softmax import softmax
from xcbench.solvers import Solver
from xcbench.solvers.lbfgs import LBFGS
from xcbench.solvers.minibatch import Minibatch
from xcbench.solvers.sequential import Sequential
from xcbench.steps import SGD


@dataclass(frozen=True)
class Entry:
    """A method of the registry.

    Attributes
    ----------
    build : settings and dataset to solver; ``settings.lr`` is filled in.
    version : of the method's maths and loop.
    default_rate : the rate where none is set.
    has_rate : whether a method with these settings has a rate at all.
    """

    build: Callable[[Any, Info], Solver]
    version: int
    default_rate: Callable[[Any, Info], float]
    has_rate: Callable[[Any], bool] = lambda settings: True


REGISTRY: dict[str, Entry] = {}


def entry(settings: config.Method) -> Entry:
    """Entry of a method's settings.

    Raises
    ------
    UserError
        If the registry has no such method.
    """
    if settings.name not in REGISTRY:
        raise UserError(f"method.name={settings.name} is unknown; methods: {', '.join(REGISTRY)}")
    return REGISTRY[settings.name]


def check(settings: config.Method, info: Info) -> None:
    """Refuse settings that are impossible for a method or a dataset, in one sentence."""
    if not isinstance(settings, config.Sampled):
        return
    allowed = {
        "nce": ("shared", "others", "all"),
        "ove": ("shared", "others", "all"),
        "is": ("shared", "others", "all"),
        "implicit": ("others", "any", "drop_hits"),
    }.get(settings.name, ("others", "any", "drop_hits", "all"))
    if settings.sampling not in allowed:
        raise UserError(
            f"method.sampling={settings.sampling} is not possible for {settings.name}: "
            f"choose one of {', '.join(allowed)}"
        )
    most = info.classes - 1 if settings.sampling == "others" else info.classes
    if settings.sampling != "all" and settings.m > most:
        raise UserError(
            f"method.m={settings.m} classes cannot be drawn on {info.name} with "
            f"method.sampling={settings.sampling}: it has {info.classes} classes, so at most {most}"
        )
    if settings.name == "implicit" and (settings.n, settings.m) != (1, 1):
        raise UserError(
            "method implicit takes one observation and one class a step; "
            "set method.n=1 and method.m=1"
        )


def _share(settings: config.Method, info: Info) -> float:
    """Ridge of one observation, lambda / N."""
    return settings.ridge / info.train


def _minibatch(objective: Objective, settings: Any, info: Info, sampling: str, m: int) -> Minibatch:
    assert settings.lr is not None
    loop = Sequential if settings.n == 1 and sampling != "all" else Minibatch
    return loop(
        objective=objective,
        sampler=samplers.make(sampling, info.classes, m),
        step=SGD(settings.lr, settings.decay, _share(settings, info)),
        n=settings.n,
        order=settings.order,
        passes=settings.passes,
    )


def _register(
    name: str,
    version: int,
    objective: Callable[[Any, Info], Objective],
    default_rate: Callable[[Any, Info], float],
) -> None:
    """Register a sampled method."""

    def build(settings: Any, info: Info) -> Solver:
        return _minibatch(objective(settings, info), settings, info, settings.sampling, settings.m)

    REGISTRY[name] = Entry(build, version, default_rate)


def _softmax(settings: config.Softmax, info: Info) -> Solver:
    if settings.solver == "lbfgs":
        return LBFGS(_share(settings, info), settings.tolerance, settings.iterations)
    return _minibatch(Odds(softmax, is_bound=True), settings, info, "all", 0)


def _importance_sampling(settings: config.Sampled, info: Info) -> Odds:
    return Odds(softmax, is_bound=False, weighted=False)


def _double_sum(settings: config.DoubleSum, info: Info, delta: float) -> Odds:
    return Odds(double_sum, is_bound=True, start=_u0(settings, info), parameter=delta)


def _u0(settings: config.DoubleSum, info: Info) -> float:
    """Start of u: the optimum at W = 0 (Algorithm 1), or 0 (published code)."""
    return float(np.log(info.classes)) if settings.u0 == "log_classes" else 0.0


def _over_square_norm(factor: float) -> Callable[[Any, Info], float]:
    """Rate factor / mean |x|²: a unit of rate moves a row's own score by |x|² (bias included)."""

    def rate(settings: config.Method, info: Info) -> float:
        return factor / max(info.mean_square_norm + settings.bias, 1e-12)

    return rate


def _ove_rate(settings: config.Method, info: Info) -> float:
    """The estimated sum over K - 1 pairs makes a step K times as long."""
    return _over_square_norm(10.0)(settings, info) / info.classes


def _implicit_rate(settings: config.Method, info: Info) -> float:
    """Implicit steps bound themselves: a constant serves."""
    return 1.0


# Default rates: found on digits, zipf, bibtex, mnist and the twin of eurlex at the default budget.
REGISTRY["softmax"] = Entry(_softmax, 1, _over_square_norm(1.0), lambda s: s.solver != "lbfgs")
_register("ove", 1, lambda s, info: Pairs(one_vs_each, is_bound=True), _ove_rate)
_register("nce", 1, lambda s, info: Pairs(nce, is_bound=False), _over_square_norm(0.2))
_register("is", 2, _importance_sampling, _over_square_norm(1.0))
_register("vanilla", 1, lambda s, info: _double_sum(s, info, np.inf), _over_square_norm(0.01))
_register("umax", 1, lambda s, info: _double_sum(s, info, s.delta), _over_square_norm(0.1))
_register("implicit", 1, lambda s, info: Odds(implicit, True, _u0(s, info)), _implicit_rate)
