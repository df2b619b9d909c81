"""The step in the proof of Theorem 1 from exact margins to inexact ones, on random margins.

An oracle that is off by at most eps rho gives margins m_bar with m <= m_bar <= m + eps rho. The
paper's step is R_rho(m) <= R_rho(1+eps)(m_bar), where R_rho is the mean of the ramp loss
min(1, max(0, 1 - m / rho)). It lacks a factor. With (1 + eps) before the right side it holds:
(1 + eps) - m_bar / rho >= 1 - m / rho.
"""

from __future__ import annotations

import numpy as np

from xcbench.papers import Measured

PAIRS = 100_000


def ramp(margin: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """The margin loss: 1 from margin 0 down, 0 from rho up, linear in between."""
    return np.clip(1 - margin / rho, 0, 1)


def pairs(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Margins, inexact margins, rho and eps, at random; margins where the ramp is not flat."""
    rng = np.random.default_rng(seed)
    rho, eps = rng.uniform(0.1, 2, PAIRS), rng.uniform(0.01, 1, PAIRS)
    margin = rho * rng.random(PAIRS)
    return margin, margin + eps * rho * rng.random(PAIRS), rho, eps


def as_printed(measured: Measured) -> list[float]:
    """Share of the pairs for which the step holds as it is printed."""
    margin, inexact, rho, eps = pairs()
    return [float((ramp(margin, rho) <= ramp(inexact, rho * (1 + eps)) + 1e-12).mean())]


def with_factor(measured: Measured) -> list[float]:
    """Share of the pairs for which it holds with the factor 1 + eps."""
    margin, inexact, rho, eps = pairs()
    right = (1 + eps) * ramp(inexact, rho * (1 + eps))
    return [float((ramp(margin, rho) <= right + 1e-12).mean())]
