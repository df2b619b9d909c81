"""SCENT (Wei et al. 2026): a double sum whose u is averaged before the weights move.

The double sum is U-max's, with z = 1 + e^T an estimate of the sum that e^u stands for. All three
steps of u are those of the paper; values and gradients of `scent` and `sox` are at the new u, which
knows the drawn classes, so that minus the value bounds nothing.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple, softplus
from xcbench.core.objectives.augment_reduce import averaged_after
from xcbench.core.objectives.double_sum import double_sum, terms


def scent(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    log_alpha: Numbers,
) -> Triple:
    """The proximal step of u under the Bregman divergence D of e^{-u}.

    It solves min_v z e^{-v} + v + D(v, u) / alpha, and is the moving average

        e^u <- (1 - beta) e^u + beta z,   beta = alpha e^u / (1 + alpha e^u),

    which trusts a new z more where u is large. So u stays within what it has seen of log z. Large
    alpha forget u, which gives complementary sum sampling; alpha = 0 keeps it.

    Returns
    -------
    Value u + z e^{-u} - 1 and e^{T - u} at the new u, and the new u.
    """
    u = u + softplus(log_alpha + softplus(log_odds)) - softplus(log_alpha + u)
    value, _, excess = terms(log_odds, u)
    return value, excess, u


def sox(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    beta: float,
) -> Triple:
    """As `scent`, with the same beta for every row: augment and reduce with a step held."""
    return averaged_after(log_odds, log_drawn, u, beta, square_norm, 0.0)


def asgd(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    u_rate: Numbers,
) -> Triple:
    """The gradient step u <- u - u_rate (1 - z e^{-u}): vanilla SGD with a rate for u alone."""
    return double_sum(log_odds, log_drawn, u, u_rate, square_norm, np.inf)
