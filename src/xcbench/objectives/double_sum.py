"""The double sums of the U-max paper (Fagan and Iyengar 2018): vanilla SGD and U-max on them.

Eq. 6 is the paper's own, Eq. 8 that of Raman et al. (2016). With u' = u - f_y, Eq. 8 is Eq. 6 at
u': same value, same minimum, same reset. They differ in what an observation holds while W moves:
u - f_y, the log of the sum against the true class, or u itself, the log of the whole sum; so under
Eq. 8 the true class has a slope of its own, and u either sign.
"""

from __future__ import annotations

import numpy as np

from xcbench import config
from xcbench.datasets import Info
from xcbench.method import Method, minibatch, over_stale, sampler
from xcbench.objectives import Numbers, Objective, Odds, Quadruple, ScoredOdds, Triple
from xcbench.solvers import Solver
from xcbench.solvers.raman_as_published import RamanAsPublished


def terms(log_odds: Numbers, log_drawn: Numbers, u: Numbers, delta: float) -> Triple:
    """Give u, e^{-u} and e^{T - u}, at the u that U-max's reset leaves (Algorithm 1).

    Parameters
    ----------
    delta : the threshold: u is reset to log(1 + sum over drawn k of e^{f_k - f_y}) where it lies
        more than this below. Infinity never resets: vanilla SGD.
    """
    if delta < np.inf:
        floor = np.logaddexp(0.0, log_drawn)
        u = u + (u < floor - delta) * (floor - u)
    return u, np.exp(-u), np.exp(log_odds - u)


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

    Returns
    -------
    Value, e^{T - u} and the next u >= 0; all of them at the same u.
    """
    u, shrunk, excess = terms(log_odds, log_drawn, u, delta)
    u_next = np.maximum(0.0, u - rate * (1.0 - shrunk - excess))
    return u + shrunk + excess - 1.0, excess, u_next


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
    Value, slope in the true score, that in the log-odds, and the next u.
    """
    above, shrunk, excess = terms(log_odds, log_drawn, u - true, delta)
    u_next = true + above - rate * (1.0 - shrunk - excess)
    return above + shrunk + excess - 1.0, shrunk - 1.0, excess, u_next


def raman_as_published(
    true: Numbers,
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: float,
    delta: float,
) -> Quadruple:
    """As `raman`, with the published code's step on u: exp(e^{f_y - u}) for e^{f_y - u}."""
    above, shrunk, excess = terms(log_odds, log_drawn, u - true, delta)
    u_next = true + above - rate * (1.0 - np.exp(shrunk) - excess)
    return above + shrunk + excess - 1.0, shrunk - 1.0, excess, u_next


def start(settings: config.DoubleSum, info: Info) -> float:
    """Start of u: the optimum at W = 0 (Algorithm 1), or 0 (published code)."""
    return float(np.log(info.classes)) if settings.u0 == "log_classes" else 0.0


def objective(settings: config.DoubleSum, info: Info) -> Objective:
    """One of the double sums; with a threshold for U-max."""
    delta = settings.delta if isinstance(settings, config.Umax) else np.inf
    if settings.double_sum == "proposed":
        return Odds(double_sum, True, start(settings, info), delta)
    formula = raman if settings.double_sum == "raman" else raman_as_published
    return ScoredOdds(formula, True, start(settings, info), delta)


def solver(settings: config.DoubleSum, info: Info) -> Solver | None:
    """Only the published code needs a loop of its own."""
    if settings.double_sum == "raman_as_published":
        drawing = sampler(settings, info)
        return minibatch(objective(settings, info), drawing, settings, info, RamanAsPublished)
    return None


def impossible(settings: config.DoubleSum) -> str:
    """What is written for Eq. 6, and what the published code did not do."""
    if settings.double_sum != "proposed" and settings.ridge_on == "drawn":
        return "method.ridge_on=drawn bounds u as in Eq. 6; set method.double_sum=proposed"
    if settings.double_sum == "raman_as_published" and settings.sampling == "all":
        return (
            "method.double_sum=raman_as_published draws classes; set method.sampling to others, "
            "any or drop_hits"
        )
    return ""


vanilla = Method(
    "vanilla",
    config.DoubleSum,
    objective,
    over_stale(0.2),
    samplings=("others", "any", "drop_hits", "all", "frequency", "tree"),
    steps=("sgd",),  # u moves by the rate of w
    solver=solver,
    impossible=impossible,
)
umax = Method(
    "umax",
    config.Umax,
    objective,
    over_stale(0.4),
    samplings=("others", "any", "drop_hits", "all", "frequency", "tree"),
    steps=("sgd",),  # u moves by the rate of w
    slope_is_gradient=False,  # u is reset first
    solver=solver,
    impossible=impossible,
)
