"""Appendix B: stochastic composition optimization on a tiny softmax with an l2 penalty.

The method is the basic one of Wang et al. (2016), without smoothed weights. It tracks
v_i = sum_{k != y} e^{x·(w_k - w_y)} where U-max has e^{u_i} - 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from xcbench.papers import Measured
from xcbench.papers.umax.theory.convergence import Problem

SEEDS, STEPS = 10, 3_000
DECAY = 200.0  # steps, ten epochs
LOW, HIGH = 0.1, 30.0  # eta N at the start


def composition(problem: Problem, rate: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Weights (runs, K, D) after each step, and the factors e^{x·(w_k - w_y)} / (1 + v) of it.

    The rates fall as Wang et al. have them: that of W as t^-3/4, that of v as t^-1/2.
    """
    n, others, beta = len(problem.y), problem.classes - 1, problem.beta
    rng, run = np.random.default_rng(0), np.arange(SEEDS)
    v = np.full((SEEDS, n), float(others))
    W = np.zeros((SEEDS, problem.classes, problem.X.shape[1]))
    for t in range(STEPS):
        i, k = rng.integers(n, size=SEEDS), rng.integers(others, size=SEEDS)
        x, y = problem.X[i], problem.y[i]
        k += k >= y
        odds = np.exp(np.sum(x * (W[run, k] - W[run, y]), axis=1))
        share = (1 + t / DECAY) ** -0.5
        v[run, i] += share * (others * odds - v[run, i])
        factor = odds / (1 + v[run, i])
        eta = rate / n * (1 + t / DECAY) ** -0.75
        for c, sign in ((k, 1.0), (y, -1.0)):
            gradient = sign * n * others * factor[:, None] * x
            W[run, c] -= eta * (gradient + problem.mu * beta[c][:, None] * W[run, c])
        yield W, factor


@cache
def _run(rate: float) -> tuple[float, float]:
    """What is left of the distance from the optimum, and the largest factor, over the seeds."""
    problem = Problem.tiny()
    least = problem.best()[1]
    with np.errstate(over="ignore", invalid="ignore"):
        steps = list(composition(problem, rate))
    start, end = problem.profile(np.zeros_like(steps[-1][0])), problem.profile(steps[-1][0])
    largest = np.nan_to_num([factor.max() for _, factor in steps], nan=np.inf).max()
    return float((end.max() - least) / (start[0] - least)), float(largest)


def distance_left(measured: Measured) -> list[float]:
    """Distance of the objective from its minimum after the last step over that at the start."""
    return [_run(LOW)[0]]


def largest_factor(measured: Measured) -> list[float]:
    """The largest factor of a step at the high rate, which ideally is between 0 and 1."""
    return [_run(HIGH)[1]]
