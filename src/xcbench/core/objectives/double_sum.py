"""The double sums of the U-max paper (Fagan and Iyengar 2018): vanilla SGD and U-max on them.

Eq. 6 is the paper's, Eq. 8 that of Raman et al. (2016). With u' = u - f_y, Eq. 8 is Eq. 6 at u',
with the same value, minimum and reset. They differ in the local variable that stays fixed while W
moves. In Eq. 6 it is the log of the sum relative to the true class; in Eq. 8 it is u, the log of
the whole sum. So under Eq. 8 the true class has a separate gradient, and u may have either sign.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Quadruple, Triple

NEWTON_STEPS = 8
TINY = 1e-30  # stands for |x|² = 0, where w does not move


def reset(log_drawn: Numbers, u: Numbers, delta: float) -> Numbers:
    """Apply U-max's reset to u (Algorithm 1).

    Parameters
    ----------
    delta : the threshold: u is reset to log(1 + sum over drawn k of e^{f_k - f_y}) where it lies
        more than this below. Infinity never resets: vanilla SGD.
    """
    if delta < np.inf:
        floor = np.logaddexp(0.0, log_drawn)
        u = u + (u < floor - delta) * (floor - u)
    return u


def terms(log_odds: Numbers, u: Numbers) -> Triple:
    """Value u + e^{-u} + e^{T - u} - 1 of a double sum, e^{-u} and e^{T - u}."""
    shrunk, excess = np.exp(-u), np.exp(log_odds - u)
    return u + shrunk + excess - 1.0, shrunk, excess


def double_sum(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    delta: float,
) -> Triple:
    """Value u + e^{-u} + e^{T - u} - 1, with a gradient step on u (Eq. 6 and 7).

    Its minimum over u is the exact negative log-likelihood, at u* = log(1 + e^T). So minus the
    value is a lower bound of the log-likelihood for every u.

    Returns
    -------
    Value, e^{T - u} and the next u >= 0; all of them at the same u.
    """
    u = reset(log_drawn, u, delta)
    value, shrunk, excess = terms(log_odds, u)
    return value, excess, np.maximum(0.0, u - rate * (1.0 - shrunk - excess))


def raman(
    true: Numbers,
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: float,
    delta: float,
) -> Quadruple:
    """Value u - f_y + e^{f_y - u} + sum_k omega_k e^{f_k - u} - 1, with a step on u (Eq. 8).

    Its minimum over u is the exact negative log-likelihood, at u* = log sum_k e^{f_k}. U-max
    resets u to log(e^{f_y} + sum over drawn k of e^{f_k}).

    Returns
    -------
    Value, grad in the true score, that in the log-odds, and the next u.
    """
    above = reset(log_drawn, u - true, delta)
    value, shrunk, excess = terms(log_odds, above)
    return value, shrunk - 1.0, excess, true + above - rate * (1.0 - shrunk - excess)


def raman_code(
    true: Numbers,
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: float,
    delta: float,
) -> Quadruple:
    """As `raman`, with the published code's step on u: exp(e^{f_y - u}) for e^{f_y - u}."""
    above = reset(log_drawn, u - true, delta)
    value, shrunk, excess = terms(log_odds, above)
    return value, shrunk - 1.0, excess, true + above - rate * (1.0 - np.exp(shrunk) - excess)


def lambert(log_z: Numbers) -> Numbers:
    """The a >= 0 with a e^a = z, Lambert's W, by Newton's method on s + e^s = log z, s = log a."""
    s = np.minimum(log_z, np.log(np.maximum(log_z, 1.0)))
    for _ in range(NEWTON_STEPS):
        a = np.exp(s)
        s = s - (s + a - log_z) / (1.0 + a)
    return np.exp(s)


def bounded(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: Numbers,
    square_norm: Numbers,
    delta: float,
) -> Triple:
    """As `double_sum`, with steps that no rate makes too long.

    W takes the proximal step at this u: T falls by the a with a e^a = 2 rate |x|² e^{T - u}, where
    a gradient step falls by the right side, which has no bound. u moves along its gradient, and not
    past its optimum log(1 + e^T). For small rates both are the steps of `double_sum`.
    """
    u = reset(log_drawn, u, delta)
    value, shrunk, excess = terms(log_odds, u)
    half = 0.5 / np.maximum(square_norm, TINY)
    a = lambert(np.log(rate / half) + log_odds - u)
    optimum = np.logaddexp(0.0, log_odds)
    step = u - rate * (1.0 - shrunk - excess)
    step = np.minimum(np.maximum(step, np.minimum(u, optimum)), np.maximum(u, optimum))
    return value, a * half / rate, step
