"""Support vector machines of the squared hinge, by dual coordinate descent (Hsieh et al. 2008).

NumPy runs these functions as they are; the Numba engine compiles them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


@cache
def machines_by(engine: str) -> Callable[..., None]:
    """`machines`, compiled for ``numba``."""
    if engine != "numba":
        return machines
    from xcbench.core.kernels.compiling import inlined, kernel

    for part in (scored, added, rested):
        inlined(part)
    compiled: Callable[..., None] = kernel(machines)
    return compiled


def at_once(engine: str, number: int, most: int) -> list[slice]:
    """Parts of so many trainings, for each of at most so many free cores, where compiled."""
    if engine != "numba":
        return [slice(number)]
    from xcbench.core.models import panels

    return panels.shares(number, min(number, most))


def machines(
    rows: Any,
    squares: np.ndarray,
    start: np.ndarray,
    positive: np.ndarray,
    orders: np.ndarray,
    C: float,
    tolerance: float,
    W: np.ndarray,
) -> None:
    """Train machines on the same rows: minimise ||(w, b)||² / 2 + C sum_i max(0, 1 - s_i f_i)².

    Of each, f_i = x_i·w + b. They do not depend on one another, but visit a row together: its
    features are read once for all, and the products are those of vectors.

    Parameters
    ----------
    rows : arrays ``indptr``, ``indices``, ``data`` of the CSR matrix (N, D).
    squares : (N,) squared lengths of the rows.
    start, positive : the rows of machine k are ``positive[start[k]:start[k + 1]]``; all others are
        negative.
    orders : (passes, N) rows in the order in which a pass visits them.
    C, tolerance : of the losses; of the largest violation where a machine ends.
    W : (D + 1, K) weights by feature, the last ones biases; zeros, and they are written.
    """
    shape, diagonal = (len(squares), W.shape[1]), 0.5 / C
    sign, alpha, resting = np.full(shape, -1.0), np.zeros(shape), np.zeros(shape, np.bool_)
    for k in range(len(start) - 1):
        for row in positive[start[k] : start[k + 1]]:
            sign[row, k] = 1.0
    limit, ended = np.full(shape[1], np.inf), np.zeros(shape[1], np.bool_)
    scores, step = np.empty(shape[1]), np.empty(shape[1])
    most, least = np.empty(shape[1]), np.empty(shape[1])
    for order in orders:
        most[:], least[:] = -np.inf, np.inf
        for row in order:
            if resting[row].all():
                continue
            scored(rows, row, W, scores)
            step[:] = 0.0
            for k in range(shape[1]):
                if resting[row, k]:
                    continue
                former = alpha[row, k]
                gradient = sign[row, k] * scores[k] - 1.0 + diagonal * former
                if former == 0.0 and gradient > limit[k]:
                    resting[row, k] = True
                    continue
                violation = gradient if former != 0.0 else min(gradient, 0.0)
                most[k], least[k] = max(most[k], violation), min(least[k], violation)
                alpha[row, k] = max(former - gradient / (squares[row] + 1.0 + diagonal), 0.0)
                step[k] = (alpha[row, k] - former) * sign[row, k]
            added(rows, row, step, W)
        for k in range(shape[1]):
            if not ended[k]:
                limit[k], ended[k] = rested(most[k], least[k], tolerance, resting[:, k])
        if ended.all():
            break


def scored(rows: Any, row: int, W: np.ndarray, scores: np.ndarray) -> None:
    """Write the scores (K,) of a row."""
    indptr, indices, data = rows
    scores[:] = W[-1]
    for j in range(indptr[row], indptr[row + 1]):
        of_feature, value = W[indices[j]], data[j]
        for k in range(len(scores)):
            scores[k] += of_feature[k] * value


def added(rows: Any, row: int, step: np.ndarray, W: np.ndarray) -> None:
    """Move the weights of every machine along a row."""
    indptr, indices, data = rows
    W[-1] += step
    for j in range(indptr[row], indptr[row + 1]):
        of_feature, value = W[indices[j]], data[j]
        for k in range(len(step)):
            of_feature[k] += step[k] * value


def rested(most: float, least: float, tolerance: float, resting: np.ndarray) -> tuple[float, bool]:
    """After a pass of a machine: the gradient above which a row rests, and whether it has ended.

    A row whose dual variable is 0 and whose gradient is above the largest violation of the pass
    rests until the others have converged; then all are visited again.
    """
    if most - least > tolerance:
        return most if most > 0.0 else np.inf, False
    ended = not resting.any()
    resting[:] = ended  # for good, or to be visited again
    return np.inf, ended
