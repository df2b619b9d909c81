"""What the methods with a double sum share: vanilla SGD, U-max and implicit SGD."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, Objective, ScoredLogOdds, softplus
from xcbench.core.objectives.double_sum import bounded, double_sum, raman, raman_code
from xcbench.core.prior import PRIOR
from xcbench.core.samplers import WEIGHTED
from xcbench.core.solvers import Solver
from xcbench.core.solvers.raman_code import RamanCode
from xcbench.methods.method import minibatch, over_stale, sampler
from xcbench.methods.options import SampledOptions
from xcbench.options import option


@dataclass
class LocalOptions(SampledOptions):
    """Options of the double-sum formulation of softmax with a local variable u per row."""

    projects = True

    batch_size: int = option(1, "samples in a minibatch", at_least=1)
    negatives: int = option(1, "classes drawn", at_least=1)
    u0: str = option(
        "log_classes",
        "start of u: `log_classes` is log K, `zero` is 0; with init=prior u starts at its optimum",
        choices=("log_classes", "zero"),
    )


@dataclass
class DoubleSumOptions(LocalOptions):
    """Options of gradient steps on a double sum."""

    double_sum: str = option(
        "proposed",
        "the U-max paper's own double sum (Eq. 6); the one of Raman et al. (Eq. 8); or that one "
        "with the two mistakes of the code published with the paper",
        choices=("proposed", "raman", "raman_code"),
    )
    step: str = option(
        "bounded",
        "`gradient`, as in the paper; `bounded`: proximal in the weights, and u not past the "
        "optimum of what is drawn, so that no rate makes a step too long",
        choices=("gradient", "bounded"),
        former="gradient",
    )


def start(settings: LocalOptions, info: Info) -> float:
    """Start of u: the optimum at W = 0 (Algorithm 1), or 0 (published code)."""
    return float(np.log(info.classes)) if settings.u0 == "log_classes" else 0.0


def objective(settings: DoubleSumOptions, info: Info, delta: float = np.inf) -> Objective:
    """One of the double sums; u is reset where it lies ``delta`` below its bound."""
    if settings.double_sum == "proposed":
        formula = bounded if settings.step == "bounded" else double_sum
        return LogOdds(formula, True, start(settings, info), delta, optimum=softplus)
    of_scores = raman if settings.double_sum == "raman" else raman_code
    return ScoredLogOdds(of_scores, True, start(settings, info), delta)


def solver(settings: DoubleSumOptions, info: Info, delta: float = np.inf) -> Solver | None:
    """Solver: only the published code needs a separate loop."""
    if settings.double_sum == "raman_code":
        drawing = sampler(settings, info)
        return minibatch(objective(settings, info, delta), drawing, settings, info, RamanCode)
    return None


def impossible(settings: DoubleSumOptions) -> str:
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


def proximal_rate(settings: LocalOptions, info: Info) -> float:
    """Proximal steps never overshoot, but move a row's odds by about log(2 rate |x|²): by 2.2.

    From zero they have to bring K classes down. From the class prior less is better where a drawn
    class stands for many.
    """
    rate = min(0.15, 10.0 / max(info.heavy_square_norm + settings.bias, 1e-12))
    return rate if settings.init != PRIOR else rate * min(1.0, (100.0 / info.classes) ** 0.5)


def default_rate(settings: DoubleSumOptions, info: Info) -> float:
    """That of the kind of step."""
    if settings.step == "bounded":
        return proximal_rate(settings, info)
    return float(gradient_rate(settings, info))


gradient_rate = over_stale(0.14)
SAMPLERS = ("others", "any", "drop_hits", "all", "in_batch", *WEIGHTED)
OPTIMIZERS = ("sgd",)  # u moves by the rate of w
