"""The implicit (proximal) step on a term of the double sum (Fagan and Iyengar 2018, Sec. 3.2)."""

from __future__ import annotations

import numpy as np

from xcbench import config
from xcbench.datasets import Info
from xcbench.method import Method, ridge_share
from xcbench.objectives import Numbers, Odds, Triple
from xcbench.objectives.double_sum import start
from xcbench.solvers import Solver
from xcbench.solvers.proximal import Proximal
from xcbench.steps import SGD

NEWTON_STEPS = 14
CONVERGED = 1e-9  # the next change of a quadratic iteration is below rounding
TINY = 1e-30  # stands for |x|² = 0: w does not move, u takes its own step


def implicit_step(
    log_odds: Numbers, u_old: Numbers, rate: Numbers, square_norm: Numbers
) -> tuple[Numbers, Numbers]:
    """Solve min_{u, a >= 0} 2c(u + e^{-u} + e^{T - a - u}) + (u - u_old)² + a²/(2q).

    T are the log-odds, c the rate, q = |x|²; w_y moves by a x/(2q) and w_k by the opposite
    (appendix F.1). Stationarity in a is log a + a + u = C with C = T + log(2cq); with s = log a
    it leaves one convex increasing equation (Newton, clipped at its upper end)

        R(s) = e^s/(2q) - c(1 - e^{-u}) - u + u_old = 0,   u = C - s - e^s.

    No bracket and no Lambert W; a few steps reach rounding error.

    Returns
    -------
    a, u : u >= 0 whenever u_old >= 0.
    """
    half = 0.5 / np.maximum(square_norm, TINY)
    C = log_odds + np.log(rate / half)
    above = np.minimum(C, np.log(np.maximum(C, 1.0)))
    s = np.minimum(above, np.minimum(C - u_old, np.log(np.maximum(C - u_old, 1.0))))
    for _ in range(NEWTON_STEPS):
        a = np.exp(s)
        u = C - s - a
        pull = rate * np.exp(-u)
        bent = a * half
        change = (bent - rate + pull - u + u_old) / (bent + (1.0 + a) * (1.0 + pull))
        s = np.minimum(above, s - change)
        if np.all(np.abs(change) <= CONVERGED):
            break
    a = np.exp(s)
    return a, np.maximum(0.0, C - s - a)


def implicit(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: float,
    square_norm: Numbers,
    parameter: float,
) -> Triple:
    """Double sum with an implicit step on w and u together, one observation and one class.

    Returns
    -------
    Value at the old point; the slope at the new point, so that a plain step of the given rate
    lands there; the new u.
    """
    value = u + np.exp(-u) + np.exp(log_odds - u) - 1.0
    a, u_next = implicit_step(log_odds, u, rate, square_norm)
    return value, a / (2.0 * np.maximum(square_norm, TINY) * rate), u_next


def default_rate(settings: config.Method, info: Info) -> float:
    """Implicit steps bound themselves, whatever the rows; a drawn class stands for K others."""
    return min(0.25, 200.0 / info.classes)


def several(settings: config.DoubleSum) -> bool:
    """Whether a step takes more than one observation or class."""
    return settings.n > 1 or settings.m > 1


def solver(settings: config.DoubleSum, info: Info) -> Solver | None:
    """A solver of its own for several observations or classes a step."""
    if not several(settings):
        return None
    assert settings.lr is not None
    return Proximal(
        SGD(settings.lr, settings.decay, ridge_share(settings, info)),
        settings.n,
        settings.m,
        settings.order,
        settings.passes,
        start(settings, info),
    )


def impossible(settings: config.DoubleSum) -> str:
    """The step is solved for Eq. 6, and several classes are drawn outside all labels of a step."""
    if settings.double_sum != "proposed":
        return "method implicit solves the paper's own double sum; set method.double_sum=proposed"
    if not several(settings) or settings.sampling == "others":
        return ""
    return (
        f"method.sampling={settings.sampling} is not possible for implicit with n={settings.n}, "
        f"m={settings.m}: its classes are never labels of the minibatch; "
        "set method.sampling=others"
    )


method = Method(
    "implicit",
    config.DoubleSum,
    lambda settings, info: Odds(implicit, True, start(settings, info)),
    default_rate,
    samplings=("others", "any", "drop_hits"),
    steps=("sgd",),
    slope_is_gradient=False,
    impossible=impossible,
    solver=solver,
)
