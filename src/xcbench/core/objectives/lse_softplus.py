"""The softplus approximation of log-sum-exp (Gladin et al. 2025), a double sum of bounded steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import LogOdds, Numbers, Objective, Start, Triple, sigmoid, softplus


def softened(a: Numbers, log_rho: Numbers) -> tuple[Numbers, Numbers]:
    """log(1 + rho e^a) / rho, which is e^a for small rho, and its derivative, at most 1 / rho."""
    rho = np.exp(log_rho)
    return softplus(a + log_rho) / rho, sigmoid(a + log_rho) / rho


def lse_softplus(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    log_rho: Numbers,
) -> Triple:
    """Value u + h(-u) + h(T - u) - 1, h softened, with a gradient step on u.

    A draw of a large e^T moves the weights by 1 / rho at most, so that u needs no reset. As rho
    falls this becomes the double sum of vanilla SGD, which lies above it.

    Returns
    -------
    Value, its grad in the log-odds, and the next u: at least log(1 - rho), the least optimum.
    """
    of_true, slope_true = softened(-u, log_rho)
    of_odds, slope = softened(log_odds - u, log_rho)
    lowest = np.log1p(-np.exp(log_rho))
    moved = np.maximum(lowest, u - rate * (1.0 - slope_true - slope))
    return u + of_true + of_odds - 1.0, slope, moved


@dataclass(frozen=True)
class EachDraw(Objective):
    """The mean over draws of an objective of the log-odds, each draw standing for all others.

    For formulas that are not linear in e^T, so that several draws are not one draw of their mean.

    Attributes
    ----------
    one : the objective of a single draw.
    """

    one: LogOdds
    is_bound: bool
    start: float = 0.0

    def settled(self, start: Start, y: np.ndarray) -> np.ndarray:
        """As of a single draw."""
        return self.one.settled(start, y)

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means over the draws that are left; a sample without one changes nothing."""
        weighted = scores[:, 1:] - scores[:, :1] + log_weight
        present = ~np.isneginf(weighted)
        left = np.maximum(present.sum(axis=1, keepdims=True), 1)
        value, of_odds, moved = self.one.formula(
            weighted + np.log(left),
            -np.inf,
            local[:, None],
            rate,
            square_norm[:, None],
            self.one.parameter,
        )
        share = present / left
        drawn = share * of_odds
        none_left = ~present.any(axis=1)
        local_next = np.where(none_left, local, (share * moved).sum(axis=1))
        grad = np.column_stack([-drawn.sum(axis=1), drawn])
        return (share * value).sum(axis=1), grad, local_next
