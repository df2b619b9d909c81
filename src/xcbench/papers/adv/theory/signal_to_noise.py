"""Theorem 2: the signal-to-noise ratio of stochastic gradients, measured and in closed form.

Free scores have their optimum at xi = log p_D - log p_n. The Hessian there is diag(alpha) with
alpha = p_n sigma(xi) = p_D p_n / (p_D + p_n) (Eq. 13). The covariance of a row's gradients is
diag(alpha) - 2 alpha alpha^T (Eq. 14), rows drawn one at a time and N left out. So for a row

    1 / eta = Tr[C H^-1] = K - 2 sum_y alpha_y                                            (Eq. 15)

and sum_y alpha_y <= 1/2, with equality for p_n = p_D alone. One eigenvalue of C H^-1 is
1 - 2 sum_y alpha_y, all others are 1. So 1 / eta lies between K - 1 and K for any noise.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from xcbench.core.objectives.negative_sampling import BinaryLogistic
from xcbench.papers.adv.theory import problem
from xcbench.papers.demonstration import Demonstration, Frames

DRAWS = 20_000  # of a positive and a negative, for each row
STEP = 1e-4  # of the differences that give the Hessian


def closed_form(p_data: np.ndarray, p_noise: np.ndarray) -> tuple[float, float]:
    """1/eta and sum_y alpha_y, means over rows (Eq. 13 to 16)."""
    curvature = (p_data * p_noise / (p_data + p_noise)).sum(axis=1)
    return float(np.mean(p_data.shape[1] - 2 * curvature)), float(np.mean(curvature))


def measured(
    rng: np.random.Generator, p_data: np.ndarray, p_noise: np.ndarray
) -> tuple[float, float]:
    """The same two from gradients of the objective at drawn positives and negatives.

    Variances of the gradients are those of the draws. The Hessian is diagonal: the difference of
    their means at scores a step above and below the optimum.
    """
    best = np.log(p_data / p_noise)
    pairs = [
        np.column_stack([rng.choice(len(p), DRAWS, p=p) for p in (positive, negative)])
        for positive, negative in zip(p_data, p_noise, strict=True)
    ]
    inverse, curvature = [], []
    for scores, pair in zip(best, pairs, strict=True):
        above, below = (_gradients(scores + step, pair).mean(axis=0) for step in (STEP, -STEP))
        hessian = (above - below) / (2 * STEP)
        inverse.append(np.sum(_gradients(scores, pair).var(axis=0) / hessian))
        curvature.append(hessian.sum())
    return float(np.mean(inverse)), float(np.mean(curvature))


def _gradients(scores: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Gradients (draws, K) in the free scores (K,) of one row."""
    objective = BinaryLogistic(residual=True, l2=0.0)
    draws = np.arange(len(pair))
    grad = objective(scores[pair], 0.0, np.zeros(len(pair)), 0.0, np.ones(1))[1]
    gradients = np.zeros((len(pair), len(scores)))
    for column in range(2):  # one after the other: a negative may be the positive
        gradients[draws, pair[:, column]] += grad[:, column]
    return gradients


def measure() -> Frames:
    """Signal-to-noise ratios of four kinds of noise.

    Returns
    -------
    dict
        ``signal_to_noise``: ``noise``; ``eta`` and ``eta_closed``, measured and by Eq. 15, in units
        of 1/N²; ``curvature`` and ``curvature_closed``, the sum over classes of the Hessian (at
        most 1/2).
    """
    rng = np.random.default_rng(2)
    p_data = problem.data()
    rows = []
    for name, p_noise in problem.noises(p_data).items():
        exact = closed_form(p_data, p_noise)
        estimate = measured(rng, p_data, p_noise)
        rows.append(
            {
                "noise": name,
                "eta": 1 / estimate[0],
                "eta_closed": 1 / exact[0],
                "curvature": estimate[1],
                "curvature_closed": exact[1],
            }
        )
    return {"signal_to_noise": pd.DataFrame(rows)}


def caption(frames: Frames) -> str:
    """What was measured and found."""
    rows = frames["signal_to_noise"]
    off = float(np.abs(rows["eta"] / rows["eta_closed"] - 1).max())
    inverse = dict(zip(rows["noise"], 1 / rows["eta_closed"], strict=True))
    curvature = dict(zip(rows["noise"], rows["curvature_closed"], strict=True))
    K = problem.CLASSES
    return (
        f"Theorem 2 on {problem.ROWS} rows and {K} classes, free scores at their optimum, "
        f"{DRAWS:,} draws a row: measured and closed form differ by at most {off:.1%}. As the "
        f"theorem says, noise equal to p_D is best: 1/{inverse['p_D itself']:.2f} against "
        f"1/{inverse['uniform']:.2f} for uniform noise (in units of 1/N²). But "
        f"eta lies between 1/K and 1/(K-1) for any noise, here 1/{K} and 1/{K - 1}: all but one of "
        "the K directions of a row have the same ratio. What differs is the curvature at the "
        f"optimum (Eq. 13), in all {curvature['p_D itself']:.2f} at p_D, "
        f"{curvature['adversarial tree']:.2f} with the tree, "
        f"{curvature['uniform']:.2f} with uniform noise."
    )


DEMONSTRATION = Demonstration(
    "Theorem 2: signal-to-noise ratio of the samplers", measure, caption, words=("noise",)
)
