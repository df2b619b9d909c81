"""Section 2.3: how large the stochastic gradients of the two double sums are.

Of an observation x of class y and a drawn class k, in (w_k, w_y), without the factor N and the
penalty, which both share:

    Eq. 6 (the paper's):      (K-1) e^{f_k - f_y - u} (x, -x)
    Eq. 8 (Raman et al.):     ((K-1) e^{f_k - u} x, (e^{f_y - u} - 1) x)

The best u is log sum_j e^{f_j - f_y} for Eq. 6 and log sum_j e^{f_j} for Eq. 8. There, with
p = softmax(f), the squared norms are |x|² times 2 (K-1)² p_k² and (K-1)² p_k² + (1 - p_y)². As
(1 - p_y)² = (sum_k p_k)² <= (K-1) sum_k p_k², the second moment of Eq. 8 is at least half that of
Eq. 6 at the best u, and at most as large. The paper's argument needs a u that lags behind W.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import logsumexp

from xcbench.papers.demonstration import Demonstration, Frames
from xcbench.show import style

ROWS, CLASSES, FEATURES = 200, 100, 20
L2 = 0.1
PATH = np.round(np.concatenate([np.linspace(0, 1, 11), np.linspace(1.25, 3, 8)]), 2)
LAGS = {"best": 1.0, "a tenth behind": 0.9, "half behind": 0.5, "start": 0.0}


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Rows of norm 1 around random centres of their classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=ROWS)
    X = rng.normal(size=(CLASSES, FEATURES))[y] + 0.5 * rng.normal(size=(ROWS, FEATURES))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def optimum(X: np.ndarray, y: np.ndarray, classes: int, l2: float) -> np.ndarray:
    """W of softmax regression with an l2 penalty, by L-BFGS."""
    one_hot = np.eye(classes)[y]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        W = w.reshape(classes, -1)
        scores = X @ W.T
        normaliser = logsumexp(scores, axis=1, keepdims=True)
        p = np.exp(scores - normaliser)
        value = normaliser.sum() - np.sum(one_hot * scores) + l2 / 2 * np.sum(W**2)
        return value, ((p - one_hot).T @ X + l2 * W).ravel()

    start = np.zeros(classes * X.shape[1])
    fit = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    return np.asarray(fit.x).reshape(classes, -1)


def best_u(scores: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """The u that minimises either sum, of every observation."""
    total = np.asarray(logsumexp(scores, axis=1))
    return {"Eq. 6": total - scores[np.arange(len(y)), y], "Eq. 8": total}


def second_moments(
    scores: np.ndarray, y: np.ndarray, square_norm: np.ndarray, u: dict[str, np.ndarray]
) -> dict[str, float]:
    """Mean of the squared norm of the gradient in W, over all observations and drawn classes."""
    true = scores[np.arange(len(y)), y][:, None]
    others = scores.shape[1] - 1
    drawn = np.arange(scores.shape[1]) != y[:, None]
    of_pair = others * np.exp(scores - true - u["Eq. 6"][:, None])
    of_drawn = others * np.exp(scores - u["Eq. 8"][:, None])
    of_true = np.expm1(true - u["Eq. 8"][:, None])
    squares = {"Eq. 6": 2 * of_pair**2, "Eq. 8": of_drawn**2 + of_true**2}
    return {
        name: float(np.mean(square_norm * np.sum(values * drawn, axis=1) / others))
        for name, values in squares.items()
    }


def measure() -> dict[str, pd.DataFrame]:
    """Second moments along W = s W*, from 0 through the optimum W* and beyond.

    Returns
    -------
    dict
        ``second_moment``:

        - ``path``: s.
        - ``u``: best for W, for 0.9 W, for W/2 or for 0 (log K).
        - ``Eq. 6``, ``Eq. 8``, and their ``ratio``, below 1 where the paper's is smaller.
        - ``true_probability``: the mean of p_y.
        - ``true_first``: the share of observations whose true class has the highest score.
    """
    X, y = problem()
    scores = X @ optimum(X, y, CLASSES, L2).T
    square_norm = np.sum(X**2, axis=1)
    rows = []
    for s in PATH:
        for name, lag in LAGS.items():
            moments = second_moments(s * scores, y, square_norm, best_u(lag * s * scores, y))
            rows.append(
                {
                    "path": s,
                    "u": name,
                    **moments,
                    "ratio": moments["Eq. 6"] / moments["Eq. 8"],
                    "true_probability": np.mean(np.exp(-best_u(s * scores, y)["Eq. 6"])),
                    "true_first": np.mean(np.argmax(s * scores, axis=1) == y),
                }
            )
    return {"second_moment": pd.DataFrame(rows)}


def caption(frames: Frames) -> str:
    """What was measured and found."""
    rows = frames["second_moment"]
    best, tenth, start = (
        rows[rows["u"] == name].set_index("path")["ratio"]
        for name in ("best", "a tenth behind", "start")
    )
    return (
        f"Second moments of the stochastic gradients in W of the paper's double sum (Eq. 6) and of "
        f"that of Raman et al. (Eq. 8), exact over all observations and classes, N = {ROWS}, "
        f"K = {CLASSES}, along W = s·W* (the optimum of an l2 penalty, s = 1). With u at its "
        f"best, Eq. 6 "
        f"never has the smaller ones: the ratio rises from {best.iloc[0]:.2f} through "
        f"{best[1.0]:.2f} at the optimum to {best.iloc[-1]:.2f} (it lies "
        f"between 1 and 2 for any W). The paper's claim holds where u lags behind W: with u best "
        f"for 0.9 W the ratio at the optimum is {tenth[1.0]:.2f}, with u still at "
        f"log K {start[1.0]:.1g}, since e^(x·w_y - u) then explodes in Eq. 8 alone."
    )


def draw(frames: Frames) -> Figure:
    """Draw both second moments, and their ratio."""
    fig, (left, right) = style.panels(10, 2.8, 1, 2)
    for i, (name, line) in enumerate(frames["second_moment"].groupby("u", sort=False)):
        look: dict[str, Any] = {"linestyle": style.DASHES[i]}
        for equation, colour in (("Eq. 6", style.COLOURS["umax"]), ("Eq. 8", style.OTHERS[5])):
            left.semilogy(line["path"], line[equation], color=colour, **look)
        right.semilogy(line["path"], line["ratio"], color="black", label=str(name), **look)
    left.set(ylim=(1e-3, 1e3), ylabel="second moment / N²")
    right.set(ylim=(1e-4, 4), ylabel="Eq. 6 / Eq. 8")
    right.axhline(1, color=style.OTHERS[4], **style.REFERENCE)
    right.legend(title="u is", loc="lower right")
    left.legend(handles=left.lines[:2], labels=["Eq. 6 (U-max)", "Eq. 8 (Raman et al.)"])
    for ax in (left, right):
        ax.set_xlabel("s, W = s W*")
    return fig


DEMONSTRATION = Demonstration(
    "Section 2.3: the gradients of the two double sums", measure, caption, draw
)
