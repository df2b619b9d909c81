"""Vanilla SGD on a double sum as a method."""

from __future__ import annotations

from xcbench.core.dataset import Info
from xcbench.methods import double_sum
from xcbench.methods.double_sum import DoubleSumOptions
from xcbench.methods.method import Method


def default_rate(settings: DoubleSumOptions, info: Info) -> float:
    """U-max's, but for the gradient less for many classes and for rows of unequal length.

    Nothing bounds the grad K e^{T - u} of a draw.
    """
    rate = double_sum.default_rate(settings, info)
    if settings.step == "bounded":
        return rate
    unequal = info.heavy_square_norm / max(info.mean_square_norm, 1e-12)
    return rate * min(1.0, 200.0 / info.classes) / max(unequal, 1.0) ** 0.5


method = Method(
    "vanilla",
    DoubleSumOptions,
    double_sum.objective,
    default_rate,
    samplers=double_sum.SAMPLERS,
    optimizers=double_sum.OPTIMIZERS,
    exact_gradient=False,  # of a bounded step
    solver=double_sum.solver,
    impossible=double_sum.impossible,
)
