"""The small problems of the SCENT paper, beside closed forms and a minimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from xcbench.core.objectives.scent import scent
from xcbench.papers import Measured
from xcbench.papers.scent import theory

NOTHING = Measured(None, None)  # type: ignore[arg-type]


def test_the_proximal_step_is_its_minimum() -> None:
    """argmin_v z e^{-v} + v + D(v, u) / alpha, D of the generator e^{-v}."""
    rng = np.random.default_rng(0)
    for odds, u, log_alpha in rng.normal(0, 2, (20, 3)):
        z = 1 + np.exp(odds)

        def step(v: float, z: float = z, u: float = u, log_alpha: float = log_alpha) -> float:
            divergence = np.exp(-v) - np.exp(-u) + np.exp(-u) * (v - u)
            return z * np.exp(-v) + v + divergence / np.exp(log_alpha)

        best = minimize_scalar(step, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
        assert abs(float(scent(odds, odds, u, 0, 0, log_alpha)[2]) - best.x) < 1e-6


def test_what_the_claims_measure() -> None:
    assert max(theory.outside_of_what_was_seen(NOTHING)) <= 1e-12
    assert theory.dual_minimum_is_the_log_loss(NOTHING)[0] < 1e-12
    assert max(theory.proximal_over_gradient(NOTHING)) < 1
    assert max(theory.slope_of_the_error(NOTHING)) < -0.5
