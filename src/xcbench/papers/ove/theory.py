"""Statements of the one-vs-each paper that need no data or little, as numbers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_expit, logsumexp

from xcbench.papers import Measured
from xcbench.papers.ove.experiments import FIGURE1B, TOY_WEIGHTS, read_weights, weight_matrix

PROBLEMS = 200


def between_one_vs_each_and_softmax(measured: Measured) -> list[float]:
    """Eq. 6: by how much the log of the product of two softmaxes is inside, least of all problems.

    Of scores and a split of the other classes in two, all random.
    """
    rng, inside = np.random.default_rng(0), []
    for _ in range(PROBLEMS):
        K = int(rng.integers(3, 20))
        f = rng.normal(scale=rng.choice([0.1, 1.0, 10.0]), size=K)
        first = np.arange(1, K) < rng.integers(2, K)  # classes of C_k; class 0 is k
        groups = (f[1:][first], f[1:][~first])
        product = sum(f[0] - logsumexp(np.append(group, f[0])) for group in groups)
        one_vs_each = log_expit(f[0] - f[1:]).sum()
        inside += [f[0] - logsumexp(f) - product, product - one_vs_each]
    return [min(inside)]


def doubled_frequencies(measured: Measured) -> list[float]:
    """Proposition 3: f_1 - f_2 at the maximum of Bouchard's bound over that of log frequencies."""
    rng, ratios = np.random.default_rng(0), []
    for _ in range(PROBLEMS // 10):
        N = rng.integers(1, 1000, size=2)
        best = minimize(_minus_bouchard, np.zeros(2), args=(N / N.sum(),), tol=1e-12).x
        log_ratio = np.log(N[0] / N[1])
        if abs(log_ratio) > 0.01:
            ratios.append(float(best[0] / log_ratio))
    return [max(ratios, key=lambda ratio: abs(ratio - 2))]


def _minus_bouchard(at: np.ndarray, share: np.ndarray) -> float:
    """Of f = (f_1, 0) and alpha, a mean over rows of which these shares are of either class."""
    f, alpha = np.array([at[0], 0.0]), at[1]
    return float(-share @ (f - alpha) + np.logaddexp(0, f - alpha).sum())


def distance(measured: Measured, method: str) -> float:
    """Sum of the absolute differences over that of softmax; nan where none are kept."""
    cells = FIGURE1B().of(measured.results)
    table = read_weights(measured.folder / TOY_WEIGHTS)
    one, exact = (
        [weight_matrix(table, cell) for cell in cells.loc[cells["method"] == name, "cell"]]
        for name in (method, "softmax")
    )
    if not one or not exact or one[0] is None or exact[0] is None:
        return float("nan")
    return float(np.abs(one[0] - exact[0]).sum() / np.abs(exact[0]).sum())


def distances(measured: Measured, method: str) -> list[float]:
    """The distance as a number of a claim."""
    return [it for it in [distance(measured, method)] if np.isfinite(it)]
