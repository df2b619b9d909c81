"""Implicit SGD as a method."""

from __future__ import annotations

from xcbench.core.dataset import Info
from xcbench.core.objectives import Odds
from xcbench.core.objectives.implicit import implicit
from xcbench.core.optimizers import sgd
from xcbench.core.solvers import Solver
from xcbench.core.solvers.proximal import Proximal
from xcbench.methods.double_sum import DoubleSumOptions, start
from xcbench.methods.method import Method, ridge_share
from xcbench.methods.options import MethodOptions


def default_rate(settings: MethodOptions, info: Info) -> float:
    """Implicit steps never overshoot, but move a row's odds by about log(2 rate |x|²): by 2.2."""
    return min(0.15, 10.0 / max(info.heavy_square_norm + settings.bias, 1e-12))


def several(settings: DoubleSumOptions) -> bool:
    """Whether a step takes more than one observation or class."""
    return settings.n > 1 or settings.m > 1


def solver(settings: DoubleSumOptions, info: Info) -> Solver | None:
    """A solver of its own for several observations or classes a step."""
    if not several(settings):
        return None
    assert settings.lr is not None
    return Proximal(
        sgd(settings.lr, settings.decay, ridge_share(settings, info)),
        settings.n,
        settings.m,
        settings.order,
        settings.passes,
        start(settings, info),
    )


def impossible(settings: DoubleSumOptions) -> str:
    """The step is solved for Eq. 6, and several classes are drawn outside all labels of a step."""
    if settings.double_sum != "proposed":
        return "method implicit solves the paper's own double sum; set method.double_sum=proposed"
    if not several(settings) or settings.sampling == "others":
        return ""
    return (
        f"method.sampling={settings.sampling} is not possible for implicit with n={settings.n}, "
        f"m={settings.m}: its classes are never labels of the minibatch; "
        "set method.sampling=others"
    )


method = Method(
    "implicit",
    DoubleSumOptions,
    lambda settings, info: Odds(implicit, True, start(settings, info)),
    default_rate,
    samplings=("others", "any", "drop_hits"),
    steps=("sgd",),
    slope_is_gradient=False,
    impossible=impossible,
    solver=solver,
)
