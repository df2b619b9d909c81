"""Exact softmax, and sampled softmax over the true and the drawn classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from xcbench.objectives import Numbers, Odds


@dataclass(frozen=True)
class Softmax(Odds):
    """-log softmax_y = log(1 + e^T); exact when every class is drawn (one-vs-each paper, Eq. 1)."""

    is_bound: bool = True

    def formula(
        self,
        log_odds: Numbers,
        log_drawn: Numbers,
        local: Numbers,
        rate: float,
        square_norm: Numbers,
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Logistic loss of the log-odds."""
        return np.logaddexp(0.0, log_odds), expit(log_odds), local


@dataclass(frozen=True)
class ImportanceSampling(Softmax):
    """IS of the U-max paper: -log softmax over the true class and the drawn ones.

    Every score is corrected by the same -log q of a uniform proposal, the true class's too, which
    cancels; the drawn classes do not stand for those that were not drawn. Bounds nothing.
    """

    is_bound: bool = False

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As softmax, with weights 1."""
        return super().__call__(scores, 0.0, local, rate, square_norm)
