"""Propositions 1 and 2: how long a step of vanilla SGD, U-max and Implicit SGD is.

The observation x has class y; one drawn class k represents the K - 1 others. With the gap
g = x·(w_k - w_y) - u the log-odds are T = g + u + log(K - 1). Both class vectors move by
rate · e^{T-u} |x| (vanilla), or by a / (2|x|) (implicit; `implicit_step`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xcbench.core.objectives import Numbers
from xcbench.core.objectives.double_sum import double_sum
from xcbench.core.objectives.implicit import implicit_step
from xcbench.papers.demonstration import Demonstration, Frames
from xcbench.show import style

CLASSES = 1000
DELTA = 1.0
RATES = (0.01, 1.0, 100.0)
GAPS = np.linspace(-10, 40, 201)
LINEAR = (1e5, 1e6)  # gaps at which log a is small beside a
STATES = 100_000
ROUNDING = 1e-13  # of u, which a step is a difference of


def change(method: str, gap: Numbers, u: Numbers, rate: float, classes: int) -> np.ndarray:
    """Norm of the change of w_k (and of w_y) in one step, for |x| = 1."""
    difference = gap + u
    log_odds = difference + np.log(classes - 1)
    if method == "implicit":
        return np.asarray(implicit_step(log_odds, u, rate, 1.0)[0] / 2)
    delta = DELTA if method == "umax" else np.inf
    return np.asarray(rate * double_sum(log_odds, difference, u, rate, 1.0, delta)[1])


def implicit_limit(square_norm: float) -> float:
    """Length of an implicit step over the gap, where the gap is large.

    u takes part of the gap. Stationarity in u is u - u_old = a/(2q) - c(1 - e^{-u}). In a it is
    a + log a + u = T + log(2cq). So a (1 + 1/(2q)) ~ g and a/(2|x|) ~ g |x| / (2q + 1).
    At a fixed u, as in the proof of Proposition 2, it would be g / (2|x|).
    """
    return float(np.sqrt(square_norm) / (2 * square_norm + 1))


def asymptotes() -> pd.DataFrame:
    """Slopes at the far end, a row for each rate.

    ``vanilla`` is the slope of the log of the step. ``umax`` is the longest step over Proposition
    2's bound, rate (K-1) e^delta |x|. ``implicit`` is the slope of the step between gaps 30 and 40,
    ``implicit_far`` that between the gaps of `LINEAR`.
    """
    u = np.log(CLASSES)

    def slope(values: np.ndarray, gaps: np.ndarray) -> float:
        return float(np.polyfit(gaps, values, 1)[0])

    far, end = np.array(LINEAR), GAPS[GAPS >= 30]
    return pd.DataFrame(
        {
            "rate": rate,
            "vanilla": slope(np.log(change("vanilla", end, u, rate, CLASSES)), end),
            "umax": change("umax", np.linspace(-10, 40, 50_001), u, rate, CLASSES).max()
            / (rate * (CLASSES - 1) * np.exp(DELTA)),
            "implicit": slope(change("implicit", end, u, rate, CLASSES), end),
            "implicit_far": slope(change("implicit", far, u, rate, CLASSES), far),
            "implicit_limit": implicit_limit(1.0),
        }
        for rate in RATES
    )


def ratios() -> pd.DataFrame:
    """Implicit step over vanilla step from the same random state, by gap.

    Returns
    -------
    DataFrame
        By tens of the gap (``gap`` is the middle) and by ``part``: ``w`` alone, or ``u and w``.
        The latter is Proposition 1 with m = 0: without an l2 penalty a term is not strongly convex.

        - ``median`` and ``largest`` ratio.
        - ``excess``: the largest difference of the steps over 1 + u.
        - ``share_larger``: the share of states where that is more than rounding.
    """
    rng = np.random.default_rng(0)
    gap, u = rng.uniform(-30, 60, STATES), rng.uniform(0, 20, STATES)
    others, rate, q = (10 ** rng.uniform(*ends, STATES) for ends in ((0, 5), (-6, 6), (-2, 2)))
    log_odds = gap + u + np.log(others)
    value, excess, _ = double_sum(log_odds, log_odds, u, 0.0, q, np.inf)
    along_u = u - value  # the derivative of the value in u, 1 - e^{-u} - e^{T-u}
    a, u_next = implicit_step(log_odds, u, rate, q)
    vanilla_w, implicit_w = rate * excess * np.sqrt(2 * q), a / np.sqrt(2 * q)  # of w_k and w_y
    lengths = {
        "u and w": (np.hypot(implicit_w, u_next - u), np.hypot(vanilla_w, rate * along_u)),
        "w": (implicit_w, vanilla_w),
    }
    states = pd.concat(
        pd.DataFrame(
            {
                "part": part,
                "gap": 10 * np.floor(gap / 10) + 5,
                "ratio": implicit / vanilla,
                "excess": (implicit - vanilla) / (1 + u),
            }
        )
        for part, (implicit, vanilla) in lengths.items()
    )
    states["larger"] = states["excess"] > ROUNDING
    return (
        states.groupby(["part", "gap"])
        .agg(
            median=("ratio", "median"),
            largest=("ratio", "max"),
            excess=("excess", "max"),
            share_larger=("larger", "mean"),
        )
        .reset_index()
    )


def measure() -> dict[str, pd.DataFrame]:
    """Steps over the gap, their asymptotes, and Proposition 1 over random states."""
    steps = pd.concat(
        pd.DataFrame(
            {
                "method": method,
                "rate": rate,
                "gap": GAPS,
                "step": change(method, GAPS, np.log(CLASSES), rate, CLASSES),
            }
        )
        for method in ("vanilla", "umax", "implicit")
        for rate in RATES
    )
    return {
        "step_size": steps,
        "step_size_asymptotes": asymptotes(),
        "step_size_ratios": ratios(),
    }


def caption(frames: Frames) -> str:
    """What was measured and found."""
    slopes, ratio = frames["step_size_asymptotes"], frames["step_size_ratios"]
    both, w = (ratio[ratio["part"] == part] for part in ("u and w", "w"))
    return (
        f"Length of one step in w_k against the gap x·(w_k - w_y) - u, at u = log K, |x| = 1 and "
        f"K = {CLASSES:,}. Vanilla SGD is exponential (the slope of its logarithm is "
        f"{slopes['vanilla'].min():.6f} to {slopes['vanilla'].max():.6f}), U-max reaches at most "
        f"{slopes['umax'].max():.3f} of its bound, and Implicit SGD becomes linear: its slope is "
        f"{slopes['implicit'].min():.3f} to {slopes['implicit'].max():.3f} from gap 30 to 40, "
        f"{slopes['implicit_far'].mean():.6f} up to gap {LINEAR[1]:,.0f}; here |x|/(2|x|² + 1) = "
        f"{slopes['implicit_limit'].iloc[0]:.6f} is the limit. Over {STATES:,} random states the "
        f"implicit step in u and w together is longer than the vanilla step in "
        f"{both['share_larger'].mean():.1%} (Proposition 1; the largest difference is "
        f"{both['excess'].max():.0e} of 1 + u); in w alone it is longer in "
        f"{w['share_larger'].mean():.1%} of the states, all of gap below "
        f"{w.loc[w['share_larger'] > 0, 'gap'].max() + 5:.0f}, where u falls first."
    )


def draw(frames: Frames) -> Figure:
    """Draw a panel for each rate, and the ratios."""
    fig, (*panels, last) = style.panels(10, 2.8, 1, len(RATES) + 1)
    steps = frames["step_size"]
    for ax, rate in zip(panels, RATES, strict=True):
        part = steps[steps["rate"] == rate]
        for method, line in part.groupby("method", sort=False):
            ax.semilogy(line["gap"], line["step"], color=style.COLOURS[str(method)], label=method)
        bound = rate * (CLASSES - 1) * np.exp(DELTA)
        ax.axhline(bound, color=style.COLOURS["umax"], **style.REFERENCE)
        ax.set(title=f"ηN = {rate:g}", xlabel="gap x·(w_k - w_y) - u")
    panels[0].set_ylabel("step in w_k")
    panels[0].legend()
    looks = {"u and w": style.COLOURS["implicit"], "w": style.OTHERS[4]}
    for name, line in frames["step_size_ratios"].groupby("part"):
        last.semilogy(
            line["gap"], line["largest"], "o-", color=looks[str(name)], label=f"in {name}"
        )
    last.axhline(1, color="black", **style.REFERENCE)
    last.set(title="implicit / vanilla, largest", xlabel="gap x·(w_k - w_y) - u")
    last.legend()
    return fig


DEMONSTRATION = Demonstration("Propositions 1 and 2: sizes of steps", measure, caption, draw)
