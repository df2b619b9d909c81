"""The double sum of the U-max paper (Fagan and Iyengar 2018), Eq. 6: vanilla SGD and U-max."""

from __future__ import annotations

import numpy as np

from xcbench import config
from xcbench.datasets import Info
from xcbench.method import Method, over_square_norm
from xcbench.objectives import Numbers, Odds, Triple


def double_sum(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    delta: float,
) -> Triple:
    """Value u + e^{-u} + e^{T - u} - 1, with a gradient step on u (Eq. 6 and 7).

    Its minimum over u is the exact negative log-likelihood, at u* = log(1 + e^T); so minus the
    value is a lower bound of the log-likelihood for every u.

    Parameters
    ----------
    delta : U-max's threshold: u is reset to log(1 + sum over drawn k of e^{f_k - f_y}) where it
        lies more than this below (Algorithm 1). Infinity never resets: vanilla SGD.

    Returns
    -------
    Value, e^{T - u} and the next u >= 0; all of them at the same u.
    """
    if delta < np.inf:
        floor = np.logaddexp(0.0, log_drawn)
        u = u + (u < floor - delta) * (floor - u)
    excess = np.exp(log_odds - u)
    shrunk = np.exp(-u)
    u_next = np.maximum(0.0, u - rate * (1.0 - shrunk - excess))
    return u + shrunk + excess - 1.0, excess, u_next


def start(settings: config.DoubleSum, info: Info) -> float:
    """Start of u: the optimum at W = 0 (Algorithm 1), or 0 (published code)."""
    return float(np.log(info.classes)) if settings.u0 == "log_classes" else 0.0


vanilla = Method(
    "vanilla",
    config.DoubleSum,
    lambda settings, info: Odds(double_sum, True, start(settings, info), np.inf),
    over_square_norm(0.01),
    samplings=("others", "any", "drop_hits", "all"),
)
umax = Method(
    "umax",
    config.Umax,
    lambda settings, info: Odds(double_sum, True, start(settings, info), settings.delta),
    over_square_norm(0.1),
    samplings=("others", "any", "drop_hits", "all"),
    slope_is_gradient=False,  # u is reset first
)
