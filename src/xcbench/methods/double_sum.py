"""Vanilla SGD and U-max: double sums as methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, Objective, ScoredLogOdds, softplus
from xcbench.core.objectives.double_sum import bounded, double_sum, raman, raman_code
from xcbench.core.solvers import Solver
from xcbench.core.solvers.raman_code import RamanCode
from xcbench.methods.method import Method, minibatch, over_stale, sampler
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class DoubleSumOptions(SampledOptions):
    """Options of the double-sum formulation of softmax with a local variable u per row."""

    projects = True

    batch_size: int = option(1, "samples in a minibatch", at_least=1)
    negatives: int = option(1, "classes drawn", at_least=1)
    sampler: str = option("others", "as for sampled methods")
    u0: str = option(
        "log_classes",
        "start of u: `log_classes` is log K, `zero` is 0; with init=prior u starts at its optimum",
        choices=("log_classes", "zero"),
    )
    double_sum: str = option(
        "proposed",
        "the U-max paper's own double sum (Eq. 6); the one of Raman et al. (Eq. 8); or that one "
        "with the two mistakes of the code published with the paper",
        choices=("proposed", "raman", "raman_code"),
    )


@dataclass
class VanillaOptions(DoubleSumOptions):
    """Options of stochastic descent on a double sum."""

    step: str = option(
        "bounded",
        "`gradient`, as in the paper; `bounded`: proximal in the weights, and u not past the "
        "optimum of what is drawn, so that no rate makes a step too long",
        choices=("gradient", "bounded"),
        former="gradient",
    )


@dataclass
class UmaxOptions(VanillaOptions):
    """Options of U-max."""

    delta: float = option(1.0, "u is reset when it lies this far below its bound", above=0)


def start(settings: DoubleSumOptions, info: Info) -> float:
    """Start of u: the optimum at W = 0 (Algorithm 1), or 0 (published code)."""
    return float(np.log(info.classes)) if settings.u0 == "log_classes" else 0.0


def objective(settings: VanillaOptions, info: Info) -> Objective:
    """One of the double sums; with a threshold for U-max."""
    delta = settings.delta if isinstance(settings, UmaxOptions) else np.inf
    if settings.double_sum == "proposed":
        formula = bounded if settings.step == "bounded" else double_sum
        return LogOdds(formula, True, start(settings, info), delta, optimum=softplus)
    of_scores = raman if settings.double_sum == "raman" else raman_code
    return ScoredLogOdds(of_scores, True, start(settings, info), delta)


def solver(settings: VanillaOptions, info: Info) -> Solver | None:
    """Solver: only the published code needs a separate loop."""
    if settings.double_sum == "raman_code":
        drawing = sampler(settings, info)
        return minibatch(objective(settings, info), drawing, settings, info, RamanCode)
    return None


def impossible(settings: VanillaOptions) -> str:
    """Refuse options defined for Eq. 6 only, and those absent from the published code."""
    if settings.double_sum != "proposed" and settings.l2_on == "drawn":
        return "method.l2_on=drawn bounds u as in Eq. 6; set method.double_sum=proposed"
    if settings.double_sum != "proposed" and settings.step == "bounded":
        return "method.step=bounded is a step on Eq. 6; set method.step=gradient"
    if settings.double_sum == "raman_code" and settings.sampler == "all":
        return (
            "method.double_sum=raman_code draws classes; set method.sampler to others, "
            "any or drop_hits"
        )
    return ""


umax_rate = over_stale(0.14)


def vanilla_rate(settings: DoubleSumOptions, info: Info) -> float:
    """U-max's, but less for many classes and for rows of unequal length.

    Nothing bounds the grad K e^{T - u} of a draw.
    """
    unequal = info.heavy_square_norm / max(info.mean_square_norm, 1e-12)
    return umax_rate(settings, info) * min(1.0, 200.0 / info.classes) / max(unequal, 1.0) ** 0.5


vanilla = Method(
    "vanilla",
    VanillaOptions,
    objective,
    vanilla_rate,
    samplers=("others", "any", "drop_hits", "all", "frequency", "tree"),
    optimizers=("sgd",),  # u moves by the rate of w
    exact_gradient=False,  # with a bounded step
    solver=solver,
    impossible=impossible,
)
umax = Method(
    "umax",
    UmaxOptions,
    objective,
    umax_rate,
    samplers=("others", "any", "drop_hits", "all", "frequency", "tree"),
    optimizers=("sgd",),  # u moves by the rate of w
    exact_gradient=False,  # u is reset first
    solver=solver,
    impossible=impossible,
)
