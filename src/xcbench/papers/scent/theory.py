"""What the paper proves of the step of u, and of the weights, on small problems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from xcbench.core.objectives import Triple
from xcbench.core.objectives.scent import asgd, scent
from xcbench.papers import Measured

SEEDS = 10
ALPHAS = 10.0 ** np.arange(-4, 5)  # steps of u that are tried
STEPS = 2000  # of u alone
LENGTHS = 4 ** np.arange(3, 8)  # steps of u and the weights
ROWS, FEATURES, CLASSES = 40, 2, 5
RATE = 2.0  # of the weights, over the root of the number of steps


def outside_of_what_was_seen(_: Measured) -> list[float]:
    """How far u gets out of the log sums that it has seen and its start, a number a seed."""
    return [_outside(np.random.default_rng(seed)) for seed in range(SEEDS)]


def _outside(rng: np.random.Generator) -> float:
    log_odds, alphas = 5 * rng.standard_normal(STEPS), 10 ** rng.uniform(-3, 3, STEPS)
    u = first = rng.normal()
    seen, farthest = [first], 0.0
    for odds, alpha in zip(log_odds, alphas, strict=True):
        seen.append(np.logaddexp(0, odds))
        u = float(scent(odds, odds, u, 0.0, 0.0, np.log(alpha))[2])
        farthest = max(farthest, min(seen) - u, u - max(seen))
    return farthest


def proximal_over_gradient(_: Measured) -> list[float]:
    """Error of u by proximal steps over that by gradient steps, each at the best of its rates.

    The weights are held, and u starts far above its optimum; the error is the dual objective's, a
    number a seed.
    """
    return [
        _dual_error(scent, np.log(ALPHAS), seed) / _dual_error(asgd, ALPHAS, seed)
        for seed in range(SEEDS)
    ]


def _dual_error(step: Callable[..., Triple], parameter: np.ndarray, seed: int) -> float:
    rng = np.random.default_rng(seed)
    scores = 3 * rng.standard_normal(100)
    sums = 1 + np.exp(scores)  # an estimate each
    best = np.log(sums.mean())
    drawn = rng.integers(0, len(scores), STEPS)
    u = np.full(len(ALPHAS), best + 5)  # a problem a rate, side by side
    total = np.zeros_like(u)
    with np.errstate(over="ignore", invalid="ignore"):
        for draw in drawn:
            u = np.asarray(step(scores[draw], scores[draw], u, 0.0, 0.0, parameter)[2])
            total += u
        mean = total / STEPS
        error = sums.mean() * np.exp(-mean) + mean - (1 + best)
    return float(np.nanmin(np.where(np.isfinite(error), error, np.nan)))


def slope_of_the_error(_: Measured) -> list[float]:
    """Slope of the log error of averaged weights over the log of the number of steps, by seed."""
    return [_slope(seed) for seed in range(SEEDS)]


def _slope(seed: int) -> float:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES))
    y = rng.integers(0, CLASSES, ROWS)  # labels of chance: the optimum is finite

    def loss(w: np.ndarray) -> float:
        scores = log_softmax(X @ w.reshape(CLASSES, FEATURES).T, axis=1)
        return -float(scores[np.arange(ROWS), y].mean())

    optimum = float(minimize(loss, np.zeros(CLASSES * FEATURES), method="BFGS").fun)
    errors = [loss(_averaged(rng, X, y, int(steps)).ravel()) - optimum for steps in LENGTHS]
    return float(np.polyfit(np.log(LENGTHS), np.log(errors), 1)[0])


def _averaged(rng: np.random.Generator, X: np.ndarray, y: np.ndarray, steps: int) -> np.ndarray:
    """Mean of the weights over a number of steps of SCENT, a row and a class each."""
    W, total = np.zeros((CLASSES, FEATURES)), np.zeros((CLASSES, FEATURES))
    u = np.full(ROWS, np.log(CLASSES))
    rate, log_alpha = RATE / steps**0.5, np.log(1 / steps**0.5)
    for _ in range(steps):
        i = rng.integers(ROWS)
        k = (y[i] + rng.integers(1, CLASSES)) % CLASSES
        log_odds = X[i] @ (W[k] - W[y[i]]) + np.log(CLASSES - 1)
        _, grad, u[i] = scent(log_odds, log_odds, u[i], 0.0, 0.0, log_alpha)
        W[k] -= rate * grad * X[i]
        W[y[i]] += rate * grad * X[i]
        total += W
    return total / steps


def dual_minimum_is_the_log_loss(_: Measured) -> list[float]:
    """Least value of the dual less the log sum of exponentials, the largest of random scores."""
    rng = np.random.default_rng(0)
    scores = 4 * rng.standard_normal((200, CLASSES))
    u = logsumexp(scores, axis=1)
    return [float(np.abs(np.exp(scores - u[:, None]).sum(axis=1) + u - 1 - u).max())]
