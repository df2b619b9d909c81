"""Theorem 1: negative sampling and softmax have the same optimum, in the nonparametric limit.

The expected loss is exact over positives from p_D(y|x) and negatives from p_n(y|x). It is minimised
over free scores, and over those of a linear model in the plane, which cannot take every value.
Predictions are softmax of f + log p_n (Eq. 5), or of f alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from xcbench.core.objectives.negative_sampling import BinaryLogistic
from xcbench.papers.adv.theory import problem
from xcbench.papers.demonstration import Demonstration, Frames

MODELS = ("free scores", "linear")
Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]  # of scores (R, K): value and gradient


def negative_sampling(p_data: np.ndarray, p_noise: np.ndarray) -> Loss:
    """Expectation of Eq. 2, all positives and negatives of a row with their chances."""
    rows, classes = p_data.shape
    y, k = (index.ravel() for index in np.indices((classes, classes)))
    chance = p_data[:, :, None] * p_noise[:, None, :]
    objective = BinaryLogistic(residual=True, l2=0.0)

    def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
        pairs = np.stack([scores[:, y], scores[:, k]], axis=-1).reshape(-1, 2)
        value, grad, _ = objective(pairs, 0.0, np.zeros(len(pairs)), 0.0, np.ones(1))
        of_true, of_drawn = (chance * part.reshape(rows, classes, classes) for part in grad.T)
        return float(chance.ravel() @ value), of_true.sum(axis=2) + of_drawn.sum(axis=1)

    return loss


def exact(p_data: np.ndarray) -> Loss:
    """Expectation of Eq. 1."""

    def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
        log_p = log_softmax(scores, axis=1)
        return -float((p_data * log_p).sum()), np.exp(log_p) - p_data

    return loss


def best(loss: Loss, model: str, classes: int) -> np.ndarray:
    """Scores (R, K) at the optimum of a model, by L-BFGS."""
    X = np.column_stack([problem.points(), np.ones(problem.ROWS)])
    basis = np.eye(problem.ROWS) if model == "free scores" else X

    def of(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss(basis @ weights.reshape(-1, classes))
        return value, (basis.T @ gradient).ravel()

    start = np.zeros(basis.shape[1] * classes)
    options: Any = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9}
    optimum = minimize(of, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(basis @ optimum.x.reshape(-1, classes))


def distance(p: np.ndarray, q: np.ndarray) -> float:
    """Mean over rows of the total variation distance."""
    return float(np.abs(p - q).sum(axis=1).mean() / 2)


def measure() -> Frames:
    """Distances of predictions from those of softmax's own optimum.

    Returns
    -------
    dict
        ``equivalence``: ``model``; ``noise``; ``removed`` and ``bare``: the total variation
        distance between softmax's optimum and that of negative sampling, with log p_n and without.
        Means over rows.
    """
    p_data = problem.data()
    rows = []
    for model in MODELS:
        reference = softmax(best(exact(p_data), model, problem.CLASSES), axis=1)
        for name, p_noise in problem.noises(p_data).items():
            scores = best(negative_sampling(p_data, p_noise), model, problem.CLASSES)
            distances = {
                how: distance(softmax(scores + term, axis=1), reference)
                for how, term in (("removed", np.log(p_noise)), ("bare", 0.0))
            }
            rows.append({"model": model, "noise": name, **distances})
    return {"equivalence": pd.DataFrame(rows)}


def caption(frames: Frames) -> str:
    """What was measured and found."""
    rows = frames["equivalence"]
    by_model = {model: rows[rows["model"] == model].set_index("noise") for model in MODELS}
    free, linear = by_model["free scores"], by_model["linear"]
    left = linear["removed"].sort_values()
    return (
        f"Theorem 1 on {problem.ROWS} rows and {problem.CLASSES} classes: mean total variation "
        "distance between the predictions of softmax at its optimum and those of negative sampling "
        "at its own, of expected losses. With free scores, removing the bias leaves at most "
        f"{free['removed'].max():.1g}, whatever the noise; bare scores are off by up to "
        f"{free['bare'].max():.2f}. A linear model is not the nonparametric limit, although "
        "softmax fits p_D in it exactly: scores against noise must be right in every row, not up "
        "to a constant. There the distance that is left lies between "
        f"{left.iloc[0]:.3f} ({left.index[0]}) and {left.iloc[-1]:.3f} ({left.index[-1]})."
    )


DEMONSTRATION = Demonstration(
    "Theorem 1: the same optimum in the nonparametric limit",
    measure,
    caption,
    words=("model", "noise"),
)
