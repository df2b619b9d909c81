"""Proposition 1 with a strongly convex objective, as a number over random problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from xcbench.papers import Measured

PROBLEMS, WIDTH = 100, 3


@dataclass(frozen=True)
class Logistic:
    """f = log(1 + e^{a·theta}) + c·theta + m/2 |theta|², which is m-strongly convex."""

    a: np.ndarray
    c: np.ndarray
    m: float

    def value(self, theta: np.ndarray) -> float:
        """The function."""
        return float(np.logaddexp(0, self.a @ theta) + self.c @ theta + self.m / 2 * theta @ theta)

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Its gradient."""
        return np.asarray(expit(self.a @ theta) * self.a + self.c + self.m * theta)

    def after_a_step(self, start: np.ndarray, rate: float) -> np.ndarray:
        """The minimum of f + |theta - start|² / (2 rate): an implicit step."""

        def proximal(theta: np.ndarray) -> float:
            return self.value(theta) + float(((theta - start) ** 2).sum()) / (2 * rate)

        return np.asarray(minimize(proximal, start, tol=1e-12).x)


def proposition_1(measured: Measured) -> list[float]:
    """How far the gradient after an implicit step is inside its bound, least of all problems.

    The bound is its length before the step less m times the length of the step; over the first.
    """
    rng, inside = np.random.default_rng(0), []
    for _ in range(PROBLEMS):
        a, c, start = rng.normal(size=(3, WIDTH))
        m, rate = np.exp(rng.normal(size=2))
        f = Logistic(a, c, m)
        end = f.after_a_step(start, rate)
        before, after = (float(np.linalg.norm(f.gradient(theta))) for theta in (start, end))
        inside.append((before - m * float(np.linalg.norm(end - start)) - after) / before)
    return [min(inside)]
