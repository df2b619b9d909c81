"""Lemmas 3 and 5 of the U-max paper, with weight decay: the double sum as the proof prints it."""

import itertools

import numpy as np

ROWS, CLASSES, WIDTH, DECAY = 4, 3, 2, 0.3


def double_sum(theta, X, y):
    """f(u, W) as it is printed in the proof of Lemma 3, of theta = (u, w_1, ..., w_K)."""
    u, W = theta[:ROWS], theta[ROWS:].reshape(CLASSES, WIDTH)
    scores = X @ W.T
    odds = np.exp(scores - scores[np.arange(ROWS), y][:, None] - u[:, None])
    odds[np.arange(ROWS), y] = 0
    return (u + np.exp(-u)).sum() + odds.sum() + DECAY / 2 * (W**2).sum()


def hessian(theta, X, y, step=1e-3):
    """By central differences."""
    size = len(theta)
    directions = step * np.eye(size)
    result = np.empty((size, size))
    for i, j in itertools.product(range(size), repeat=2):
        ends = [
            sign * double_sum(theta + a * directions[i] + b * directions[j], X, y)
            for a, b, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
        ]
        result[i, j] = sum(ends) / (4 * step**2)
    return result


def test_lemma_3_the_double_sum_is_strongly_convex():
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, y = rng.normal(size=(ROWS, WIDTH)), rng.integers(CLASSES, size=ROWS)
        theta = np.concatenate([rng.uniform(0, 3, ROWS), rng.normal(size=CLASSES * WIDTH)])
        least = np.linalg.eigvalsh(hessian(theta, X, y)).min()
        assert least >= min(np.exp(-theta[:ROWS].max()), DECAY) - 1e-4


def test_lemma_5_a_reset_lowers_the_double_sum():
    # One class besides its own and no weights: u from 0 to log 2, f from 2 to log 2 + 1.
    assert 2 - (np.log(2) + 1) >= np.log(2) ** 2 / 2
    rng = np.random.default_rng(1)
    for _ in range(100):
        X, y = rng.normal(size=(ROWS, WIDTH)), rng.integers(CLASSES, size=ROWS)
        W, delta = rng.normal(size=(CLASSES, WIDTH)), rng.uniform(0.01, 2)
        row, other = rng.integers(ROWS), rng.integers(1, CLASSES)
        reset = np.logaddexp(0, X[row] @ (W[(y[row] + other) % CLASSES] - W[y[row]]))
        theta = np.concatenate([rng.uniform(0, 3, ROWS), W.ravel()])
        theta[row] = reset - delta
        before = double_sum(theta, X, y)
        theta[row] = reset
        assert before - double_sum(theta, X, y) >= delta**2 / 2 - 1e-9
