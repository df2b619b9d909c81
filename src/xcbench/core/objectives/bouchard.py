"""Bouchard's bound (2007), which the one-vs-each paper compares with (Titsias 2016, Sec. 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import (
    Numbers,
    Objective,
    Pairwise,
    Triple,
    log_sum_exp,
    sigmoid,
    softplus,
)

NEWTON_STEPS = 60
CONVERGED = 1e-11


def one_vs_rest(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-f_y) + sum_k omega_k softplus(f_k): every class against a threshold of 0.

    With scores that count from alpha it is the negative of the logarithm of Eq. 12, whose product
    includes the true class: alpha - f_y + log(1 + e^{f_y - alpha}) = softplus(alpha - f_y). Each
    pair carries its share of the true class's term.
    """
    weight = np.exp(log_weight)
    value = share * softplus(-true) + weight * softplus(drawn)
    return value, -share * sigmoid(-true) + 0.0 * drawn, weight * sigmoid(drawn)


def best_alpha(scores: np.ndarray, log_weight: Numbers, start: np.ndarray) -> np.ndarray:
    """Solve sum_m omega_m sigma(f_m - alpha) = 1 over all classes, the true one with weight 1.

    This alpha gives the tightest bound. The sum falls with alpha, from at least 1 at the second
    highest score to at most 1 at log sum_m omega_m e^{f_m}. A Newton step that leaves this bracket
    is replaced by bisection.

    Parameters
    ----------
    scores : (B, 1+S) of every class, the true one first.
    log_weight : of the others, () or (B, S), none below 0.
    start : (B,) initial alpha.

    Returns
    -------
    alpha (B,), to rounding; any value at which the sum is 1 to rounding.
    """
    log_weights = np.zeros_like(scores)
    log_weights[:, 1:] = log_weight
    weight = np.exp(log_weights)
    low = np.partition(scores, -2, axis=1)[:, -2]
    high = log_sum_exp(scores + log_weights)
    alpha = np.clip(start, low, high)
    for _ in range(NEWTON_STEPS):
        p = sigmoid(scores - alpha[:, None])
        excess = (weight * p).sum(axis=1) - 1.0
        low, high = np.where(excess > 0, alpha, low), np.where(excess > 0, high, alpha)
        steepness = (weight * p * (1.0 - p)).sum(axis=1)
        moved = alpha + np.where(excess == 0.0, 0.0, excess / np.maximum(steepness, 1e-300))
        moved = np.where((moved < low) | (moved > high), (low + high) / 2, moved)
        still = np.abs(moved - alpha) <= CONVERGED * (1.0 + np.abs(alpha))
        alpha = moved
        if still.all():
            break
    return alpha


@dataclass(frozen=True)
class Tightest(Objective):
    """The bound at the best alpha of every sample.

    By the envelope theorem its grad is that of the bound with alpha held.
    """

    pairs: Pairwise
    is_bound: bool = True
    start: float = 0.0

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, grad, and alpha, where the next search begins."""
        alpha = best_alpha(scores, log_weight, local)
        value, grad, _ = self.pairs(scores, log_weight, alpha, rate, square_norm)
        return value, grad, alpha
