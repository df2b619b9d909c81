"""Theorems 2 and 3 on small random problems: how far the mean iterate is above the optimum.

Algorithm 1 takes one row a step, with eta_t = 1 / (lambda t) as in Pegasos, whose proof it follows.
Algorithm 2 takes its full update at a constant rate. Rivals are exact, or the worst class whose
score is within eps of the best, which no (eps, 0) inexact oracle undercuts. The optimum of
Theorem 2 comes from LIBLINEAR, that of Theorem 3 from a linear program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from xcbench.papers import Measured
from xcbench.show.section import Section
from xcbench.show.table import Table

ROWS, FEATURES, CLASSES = 60, 8, 5
DELTA = 0.05
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
INEXACT = (0.0, 0.5)  # eps
STEPS = (10, 100, 1000)
LENGTHS = (1.0, 0.1)  # of rows, in Theorem 3
RATE, STRENGTH = 0.1, 1e-4  # of Theorem 3
SEEDS = 2


@dataclass(frozen=True)
class Problem:
    """Rows of one length, around directions of their classes."""

    X: np.ndarray
    y: np.ndarray

    @classmethod
    def drawn(cls, seed: int, length: float = 1.0) -> Problem:
        """A random problem."""
        rng = np.random.default_rng(seed)
        y = rng.integers(0, CLASSES, ROWS)
        X = rng.normal(size=(CLASSES, FEATURES))[y] + rng.normal(size=(ROWS, FEATURES))
        return cls(length * X / np.linalg.norm(X, axis=1, keepdims=True), y)

    def loss(self, W: np.ndarray) -> float:
        """Mean hinge loss against the best rival (Eq. 10)."""
        scores = self.X @ W.T
        true = scores[np.arange(ROWS), self.y]
        scores[np.arange(ROWS), self.y] = -np.inf
        return float(np.maximum(0, 1 + scores.max(axis=1) - true).mean())


def rival(scores: np.ndarray, y: int, eps: float) -> int:
    """The worst other class whose score is within eps of the best."""
    others = scores.copy()
    others[y] = -np.inf
    near = others >= others.max() - eps
    return int(np.where(near, others, np.inf).argmin())


def sub_gradient(problem: Problem, W: np.ndarray, i: np.integer, eps: float) -> np.ndarray:
    """Of the hinge loss of a row against its rival."""
    x, y, gradient = problem.X[i], problem.y[i], np.zeros_like(W)
    r = rival(W @ x, y, eps)
    if 1 + x @ (W[r] - W[y]) > 0:
        gradient[r] += x
        gradient[y] -= x
    return gradient


# ---------------------------------------------------------------- Theorem 2
def of_l2(problem: Problem, strength: float, W: np.ndarray) -> float:
    """The objective of Eq. 10."""
    return strength / 2 * float((W**2).sum()) + problem.loss(W)


def mean_of_algorithm_1(
    problem: Problem, strength: float, eps: float, steps: int, seed: int
) -> np.ndarray:
    """Mean iterate (K, D): shrink, step, project."""
    rng, W = np.random.default_rng(seed), np.zeros((CLASSES, FEATURES))
    total = np.zeros_like(W)
    for t in range(1, steps + 1):
        eta = 1 / (strength * t)
        W *= 1 - strength * eta
        W -= eta * sub_gradient(problem, W, rng.integers(ROWS), eps)
        W *= min(1, 1 / (np.sqrt(strength) * np.linalg.norm(W) or 1))
        total += W
    return total / steps


def optimum_of_l2(problem: Problem, strength: float) -> np.ndarray:
    """W* (K, D) by LIBLINEAR's multi-class machine of Crammer and Singer."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(
        multi_class="crammer_singer",
        C=1 / (strength * ROWS),
        fit_intercept=False,
        tol=1e-9,
        max_iter=100_000,
        random_state=0,
    )
    W = np.zeros((CLASSES, FEATURES))
    W[np.unique(problem.y)] = machine.fit(problem.X, problem.y).coef_
    return W


def bound_2(strength: float, eps: float, steps: int) -> float:
    """The printed excess, with every margin within eps (delta hat is 0)."""
    root = np.sqrt(strength)
    psi = min(1, eps * root + np.sqrt(np.log(1 / DELTA) / steps)) / root
    return float((root + 2 + eps) * (1 + np.log(steps)) / (2 * strength * steps) + psi)


def theorem_2() -> Iterator[dict[str, float]]:
    """Excess of the mean iterate, and the bound, of every setting and seed."""
    for seed, strength in product(range(SEEDS), STRENGTHS):
        problem = Problem.drawn(seed)
        best = optimum_of_l2(problem, strength)
        for eps, steps in product(INEXACT, STEPS):
            mean = mean_of_algorithm_1(problem, strength, eps, steps, seed)
            yield {
                "setting": strength,
                "eps": eps,
                "steps": steps,
                "excess": of_l2(problem, strength, mean) - of_l2(problem, strength, best),
                "bound": bound_2(strength, eps, steps),
                "length": float(np.sqrt(strength) * np.linalg.norm(best)),
            }


# ---------------------------------------------------------------- Theorem 3
def of_l1(problem: Problem, W: np.ndarray) -> float:
    """The objective of Eq. 11."""
    return STRENGTH / 2 * float(np.abs(W).sum()) + problem.loss(W)


def mean_of_algorithm_2(problem: Problem, eps: float, steps: int, seed: int) -> np.ndarray:
    """Mean iterate (K, D) of sub-gradient steps on all weights (Eq. 12)."""
    rng, W = np.random.default_rng(seed), np.zeros((CLASSES, FEATURES))
    total = np.zeros_like(W)
    for _ in range(steps):
        total += W
        gradient = sub_gradient(problem, W, rng.integers(ROWS), eps)
        W -= RATE * (STRENGTH / 2 * np.sign(W) + gradient)
    return total / steps


def optimum_of_l1(problem: Problem) -> np.ndarray:
    """W* (K, D) by a linear program in the positive and negative parts of W and the losses."""
    n = CLASSES * FEATURES
    signs = np.eye(CLASSES)[None] - np.eye(CLASSES)[problem.y][:, None]  # of r and of y
    pairs = np.einsum("irk,ij->irkj", signs, problem.X).reshape(-1, n)
    slack = np.repeat(np.eye(ROWS), CLASSES, axis=0)
    wrong = (np.arange(CLASSES) != problem.y[:, None]).ravel()
    constraints = np.hstack([pairs, -pairs, -slack])[wrong]
    costs = np.concatenate([np.full(2 * n, STRENGTH / 2), np.full(ROWS, 1 / ROWS)])
    best = np.asarray(linprog(costs, A_ub=constraints, b_ub=-np.ones(wrong.sum())).x)
    return np.asarray((best[:n] - best[n : 2 * n]).reshape(CLASSES, FEATURES))


def bound_3(problem: Problem, radius: float, eps: float, steps: int) -> float:
    """Eq. 14 with R the given number; G is the longest that a sub-gradient can be."""
    longest = float(np.linalg.norm(problem.X, axis=1).max())
    G = np.sqrt(2) * longest + STRENGTH / 2 * np.sqrt(CLASSES * FEATURES)
    sum_of_rates = steps * RATE
    psi = 2 * eps * sum_of_rates
    first = radius**2 / (2 * steps * RATE)
    return float(first + G**2 / 2 * sum_of_rates + radius * G * psi)


def theorem_3() -> Iterator[dict[str, float]]:
    """Excess, the printed bound with R the length of rows, and that with R the length of W*."""
    for seed, length in product(range(SEEDS), LENGTHS):
        problem = Problem.drawn(seed, length)
        best = optimum_of_l1(problem)
        radius = float(np.linalg.norm(best))
        for eps, steps in product(INEXACT, STEPS):
            mean = mean_of_algorithm_2(problem, eps, steps, seed)
            yield {
                "setting": length,
                "eps": eps,
                "steps": steps,
                "excess": of_l1(problem, mean) - of_l1(problem, best),
                "bound": bound_3(problem, length, eps, steps),
                "bound, R = |W*|": bound_3(problem, radius, eps, steps),
                "length": radius,
            }


# ---------------------------------------------------------------- what the report says
@cache
def rows_of(theorem: Callable[[], Iterator[dict[str, float]]]) -> pd.DataFrame:
    """All settings and seeds of `theorem_2` or `theorem_3`."""
    return pd.DataFrame(theorem())


def length_of_optimum(measured: Measured) -> list[float]:
    """Length of W* times the root of lambda, the largest: Algorithm 1 projects to 1."""
    return [float(rows_of(theorem_2)["length"].max())]


def largest_share(
    measured: Measured, theorem: Callable[[], Iterator[dict[str, float]]], bound: str = "bound"
) -> list[float]:
    """Excess over a bound, the largest of all rows of a theorem."""
    rows = rows_of(theorem)
    return [float((rows["excess"] / rows[bound]).max())]


share_of_bound_2 = partial(largest_share, theorem=theorem_2)
share_of_bound_3 = partial(largest_share, theorem=theorem_3)
# with R the distance from the start to the optimum, as in the standard proof
share_of_bound_3_from_optimum = partial(largest_share, theorem=theorem_3, bound="bound, R = |W*|")


def section(measured: Measured, folder: Path) -> list[Section]:
    """Excess and bounds, the largest of the seeds."""
    tables = []
    for caption, rows, heading in (
        (
            "Theorem 2: excess of the mean of Algorithm 1's iterates over the optimum, and the "
            "printed bound, which holds with a probability of 0.95; the largest of two random "
            "problems of 60 rows, 8 features and 5 classes. eps: the rival is the worst class "
            "within eps of the best",
            rows_of(theorem_2),
            "lambda",
        ),
        (
            "Theorem 3: the same for sub-gradient steps on the l1 problem at a constant rate of "
            "0.1, rows of length 1 and 0.1. The bound has R, the length of rows, where the "
            "standard proof has the distance of the optimum from the start; with that in its "
            "place in the last column",
            rows_of(theorem_3),
            "length of rows",
        ),
    ):
        largest = rows.groupby(["setting", "eps", "steps"]).max().drop(columns="length")
        shown = largest.reset_index().astype(object).map(lambda value: f"{value:,.4g}")
        shown = shown.rename(columns={"setting": heading, "steps": "iterations"})
        tables.append(Table(caption, shown, tuple(shown.columns)))
    return [Section("Theorems 2 and 3: the mean iterate", tables=tables)]
