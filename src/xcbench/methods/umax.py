"""U-max as a method: SGD on a double sum that resets a u far below its bound."""

from __future__ import annotations

from dataclasses import dataclass

from xcbench.core.dataset import Info
from xcbench.core.objectives import Objective
from xcbench.core.solvers import Solver
from xcbench.methods import double_sum
from xcbench.methods.double_sum import DoubleSumOptions
from xcbench.methods.method import Method
from xcbench.options import option


@dataclass
class UmaxOptions(DoubleSumOptions):
    """Options of U-max."""

    delta: float = option(1.0, "u is reset when it lies this far below its bound", above=0)


def objective(settings: UmaxOptions, info: Info) -> Objective:
    """A double sum with the threshold."""
    return double_sum.objective(settings, info, settings.delta)


def solver(settings: UmaxOptions, info: Info) -> Solver | None:
    """The same for the published code's own loop."""
    return double_sum.solver(settings, info, settings.delta)


method = Method(
    "umax",
    UmaxOptions,
    objective,
    double_sum.default_rate,
    samplers=double_sum.SAMPLERS,
    optimizers=double_sum.OPTIMIZERS,
    exact_gradient=False,  # u is reset first
    solver=solver,
    impossible=double_sum.impossible,
)
