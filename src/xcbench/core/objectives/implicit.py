"""The implicit (proximal) step on a term of the double sum (Fagan and Iyengar 2018, Sec. 3.2)."""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple
from xcbench.core.objectives.double_sum import terms

NEWTON_STEPS = 14
CONVERGED = 1e-9  # the next change of a quadratic iteration is below rounding
TINY = 1e-30  # stands for |x|² = 0: w does not move, u takes its own step


def implicit_step(
    log_odds: Numbers, u_old: Numbers, rate: Numbers, square_norm: Numbers
) -> tuple[Numbers, Numbers]:
    """Solve min_{u, a >= 0} 2c(u + e^{-u} + e^{T - a - u}) + (u - u_old)² + a²/(2q).

    T are the log-odds, c the rate, q = |x|²; w_y moves by a x/(2q) and w_k by the opposite
    (appendix F.1). Stationarity in a is log a + a + u = C with C = T + log(2cq). With s = log a,
    one convex increasing equation is left, solved by Newton's method from its upper end:

        R(s) = e^s/(2q) - c(1 - e^{-u}) - u + u_old = 0,   u = C - s - e^s.

    This needs no bracket and no Lambert W; a few steps reach rounding error.

    Returns
    -------
    a, u : u >= 0 whenever u_old >= 0.
    """
    half = 0.5 / np.maximum(square_norm, TINY)
    C = log_odds + np.log(rate / half)
    above, s = upper_ends(C, u_old)
    for _ in range(NEWTON_STEPS):
        change = newton_change(s, C, u_old, rate, half)
        s = np.minimum(above, s - change)
        if np.all(np.abs(change) <= CONVERGED):
            break
    a = np.exp(s)
    return a, np.maximum(0.0, C - s - a)


def upper_ends(C: Numbers, u_old: Numbers) -> tuple[Numbers, Numbers]:
    """Bounds of the root s, as u >= 0 and as u >= u_old in turn; Newton's method starts there."""
    above = np.minimum(C, np.log(np.maximum(C, 1.0)))
    return above, np.minimum(above, np.minimum(C - u_old, np.log(np.maximum(C - u_old, 1.0))))


def newton_change(s: Numbers, C: Numbers, u_old: Numbers, rate: Numbers, half: Numbers) -> Numbers:
    """R(s) / R'(s), with half = 1/(2q)."""
    a = np.exp(s)
    u = C - s - a
    pull = rate * np.exp(-u)
    bent = a * half
    return (bent - rate + pull - u + u_old) / (bent + (1.0 + a) * (1.0 + pull))


def implicit(
    log_odds: Numbers,
    log_drawn: Numbers,
    u: Numbers,
    rate: float,
    square_norm: Numbers,
    parameter: float,
) -> Triple:
    """Double sum with an implicit step on w and u together, one sample and one class.

    Returns
    -------
    Value at the old point; the grad at the new point, so that a plain step of the given rate
    lands there; the new u.
    """
    value, _, _ = terms(log_odds, u)
    a, u_next = implicit_step(log_odds, u, rate, square_norm)
    return value, a / (2.0 * np.maximum(square_norm, TINY) * rate), u_next
