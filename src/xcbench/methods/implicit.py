"""Implicit SGD as a method."""

from __future__ import annotations

from xcbench.core.dataset import Info
from xcbench.core.objectives import LogOdds, softplus
from xcbench.core.objectives.implicit import implicit
from xcbench.core.solvers import Solver
from xcbench.core.solvers.proximal import Proximal
from xcbench.methods.double_sum import LocalOptions, proximal_rate, start
from xcbench.methods.method import Method, optimizer


def several(settings: LocalOptions) -> bool:
    """Whether a step takes more than one sample or class."""
    return settings.batch_size > 1 or settings.negatives > 1


def solver(settings: LocalOptions, info: Info) -> Solver | None:
    """A solver of its own for several samples or classes a step."""
    if not several(settings):
        return None
    return Proximal(
        optimizer(settings, info),
        settings.batch_size,
        settings.negatives,
        settings.order,
        settings.passes,
        start(settings, info),
        settings.init,
    )


def impossible(settings: LocalOptions) -> str:
    """Several classes are drawn outside all labels of a step."""
    if not several(settings) or settings.sampler == "others":
        return ""
    return (
        f"method.sampler={settings.sampler} is not possible for "
        f"implicit with batch_size={settings.batch_size}, negatives={settings.negatives}: "
        "its classes are never labels of the minibatch; set method.sampler=others"
    )


method = Method(
    "implicit",
    LocalOptions,
    lambda settings, info: LogOdds(implicit, True, start(settings, info), optimum=softplus),
    proximal_rate,
    samplers=("others", "any", "drop_hits"),
    optimizers=("sgd",),
    exact_gradient=False,
    impossible=impossible,
    solver=solver,
)
