"""Proposition 4: what the implicit step costs by bisection, by Brent's method and by Newton's.

Let c = eta N, q = |x|², and u~ the old u. At the old point T = x·(w_k - w_y) + log(K - 1).
The new u is the root of the increasing function of Eq. 16,

    F(u) = 2c (1 - e^{-u}) - a(u)/q + 2 (u - u~),   a + log a = T - u + log(2cq).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.special import wrightomega

from xcbench.core.objectives import Numbers
from xcbench.core.objectives.implicit import (
    CONVERGED,
    implicit_step,
    newton_change,
    upper_ends,
)
from xcbench.papers.demonstration import Demonstration, Frames
from xcbench.show import style

ACCURACY = 1e-9
STATES = 20_000
BRENT: dict[str, Any] = {"xtol": ACCURACY, "full_output": True}


def derivative(u: Numbers, T: Numbers, u_old: Numbers, rate: Numbers, q: Numbers) -> np.ndarray:
    """F(u); a is Lambert's W of e^{T - u + log(2cq)}, which is Wright's omega of the exponent."""
    a = wrightomega(T - u + np.log(2 * rate * q))
    return np.asarray(-2 * rate * np.expm1(-u) - a / q + 2 * (u - u_old))


def bracket(
    T: np.ndarray, u_old: np.ndarray, rate: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the paper's interval (appendix F.1), cut at u >= 0."""
    rises = derivative(u_old, T, u_old, rate, q) < 0
    low = np.where(rises, u_old, np.maximum(0.0, T - 2 * rate * q))
    return low, np.where(rises, np.logaddexp(0.0, T), u_old)


def bisect(
    T: np.ndarray, u_old: np.ndarray, rate: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Halve the interval until its middle is within `ACCURACY` of the root.

    Returns
    -------
    u, and how often F was evaluated, with the one evaluation that chooses the interval.
    """
    low, high = bracket(T, u_old, rate, q)
    evaluations = np.ones(len(T), int)
    while (wide := high - low > 2 * ACCURACY).any():
        middle = (low + high) / 2
        left = derivative(middle, T, u_old, rate, q) < 0
        low, high = np.where(wide & left, middle, low), np.where(wide & ~left, middle, high)
        evaluations += wide
    return (low + high) / 2, evaluations


def brent(
    T: np.ndarray, u_old: np.ndarray, rate: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Brent's method from the same interval: u, and evaluations with both ends."""
    roots = [
        brentq(lambda u, *state: float(derivative(u, *state)), low, high, tuple(state), **BRENT)
        for low, high, *state in zip(*bracket(T, u_old, rate, q), T, u_old, rate, q, strict=True)
    ]
    return np.array([u for u, _ in roots]), np.array([info.function_calls for _, info in roots])


def newton(
    T: np.ndarray, u_old: np.ndarray, rate: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`implicit_step`: u, and steps until a change is below its threshold, for each state."""
    half = 0.5 / q
    C = T + np.log(rate / half)
    above, s = upper_ends(C, u_old)
    steps, moving = np.zeros(len(T), int), np.ones(len(T), bool)
    while moving.any():
        change = newton_change(s, C, u_old, rate, half)
        s = np.minimum(above, s - change)
        steps += moving
        moving &= np.abs(change) > CONVERGED
    return np.asarray(implicit_step(T, u_old, rate, q)[1]), steps


def bound(
    difference: np.ndarray,
    u_old: np.ndarray,
    rate: np.ndarray,
    q: np.ndarray,
    inside: np.ndarray,
) -> np.ndarray:
    """Proposition 4's number of evaluations, rounded up; ``inside`` is its log(K - 1)."""
    width = np.abs(u_old - difference) + 2 * rate * q + inside
    return np.ceil(np.log2(width / ACCURACY)).astype(int)


def measure() -> dict[str, pd.DataFrame]:
    """Evaluations over random states; a summary and the distribution.

    Returns
    -------
    dict
        ``bisection``, by ``solver``:

        - ``mean``, ``median``, ``largest``: number of evaluations.
        - ``above_bound``: the share of states with more of them than Proposition 4 allows.
        - ``above_mended``: the same with log(2(K - 1)) in place of log(K - 1). The proof has it;
          its last step loses the 2.
        - ``difference``: the largest between its u and Newton's, over 1 + u.

        ``bisection_counts``: ``states`` by ``solver`` and ``evaluations``.
    """
    rng = np.random.default_rng(0)
    others = np.floor(10 ** rng.uniform(0, 5, STATES))  # K - 1
    difference = rng.normal(size=STATES) * 10 ** rng.uniform(-1, 2, STATES)
    rate, q = (10 ** rng.uniform(*ends, STATES) for ends in ((-6, 4), (-1, 1)))
    u_old = rng.uniform(0, 2, STATES) * np.log1p(others)
    T = difference + np.log(others)
    printed = bound(difference, u_old, rate, q, np.log(others))
    mended = bound(difference, u_old, rate, q, np.log(2 * others))
    solved = {name: solve(T, u_old, rate, q) for name, solve in SOLVERS.items()}
    reference = solved["Newton"][0]
    counts = {name: count for name, (_, count) in solved.items()} | {"bound": printed}
    summary = pd.DataFrame(
        {
            "solver": name,
            "mean": count.mean(),
            "median": np.median(count),
            "largest": count.max(),
            "above_bound": np.mean(count > printed),
            "above_mended": np.mean(count > mended),
            "difference": np.max(np.abs(solved[name][0] - reference) / (1 + reference))
            if name in solved
            else np.nan,
        }
        for name, count in counts.items()
    )
    distribution = pd.concat(
        pd.Series(count).value_counts().sort_index().rename("states").reset_index(name="states")
        .rename(columns={"index": "evaluations"}).assign(solver=name)
        for name, count in counts.items()
    )  # fmt: skip
    return {"bisection": summary, "bisection_counts": distribution}


SOLVERS = {"bisection": bisect, "Brent": brent, "Newton": newton}


def caption(frames: Frames) -> str:
    """What was measured and found."""
    by = frames["bisection"].set_index("solver")
    of = by.to_dict("index")
    return (
        f"Evaluations to an accuracy of {ACCURACY:g} for the new u of an implicit step, over "
        f"{STATES:,} random states. Bisection on the paper's interval needs "
        f"{of['bisection']['mean']:.1f} on average and {of['bisection']['largest']:.0f} at most, "
        f"Brent's method {of['Brent']['mean']:.1f} and {of['Brent']['largest']:.0f}, and ours, "
        f"Newton's on log a, {of['Newton']['mean']:.1f} and {of['Newton']['largest']:.0f}; their "
        f"u agree to {by['difference'].max():.0e} of 1 + u. Bisection needs more than "
        f"Proposition 4's bound (mean {of['bound']['mean']:.1f}) in "
        f"{of['bisection']['above_bound']:.2%} of the states: its last step loses a log 2 of the "
        f"proof; with log(2(K - 1)) for log(K - 1) it is {of['bisection']['above_mended']:.2%}."
    )


def draw(frames: Frames) -> Figure:
    """Draw the distribution of the evaluations."""
    fig, ax = style.panels(6, 2.8)
    colours = {
        "bisection": style.OTHERS[0],
        "Brent": style.OTHERS[3],
        "Newton": style.COLOURS["implicit"],
        "bound": "black",
    }
    for name, part in frames["bisection_counts"].groupby("solver", sort=False):
        look: dict[str, Any] = style.REFERENCE if name == "bound" else {}
        label = "bound of Proposition 4" if name == "bound" else str(name)
        ax.plot(part["evaluations"], part["states"], color=colours[str(name)], label=label, **look)
    ax.set(xlabel="evaluations", ylabel=f"states of {STATES:,}")
    ax.legend(loc="upper center")
    return fig


DEMONSTRATION = Demonstration(
    "Proposition 4: evaluations to solve an implicit step", measure, caption, draw
)
