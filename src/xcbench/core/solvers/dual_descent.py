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

    inlined(machine)
    compiled: Callable[..., None] = kernel(machines)
    return compiled


def machines(
    rows: Any,
    squares: np.ndarray,
    chosen: np.ndarray,
    start: np.ndarray,
    positive: np.ndarray,
    orders: np.ndarray,
    C: float,
    tolerance: float,
    W: np.ndarray,
) -> None:
    """Train a machine a class, each on the same rows.

    Parameters
    ----------
    rows : arrays ``indptr``, ``indices``, ``data`` of the CSR matrix (N, D).
    squares : (N,) squared lengths of the rows.
    chosen : (n,) rows that train.
    start, positive : of class k, the places of its rows in ``chosen`` are
        ``positive[start[k]:start[k + 1]]``; all others are negative.
    orders : (passes, n) places in the order in which a pass visits them.
    C, tolerance : of the losses; of the largest violation where a machine ends.
    W : (K, D + 1) weights and biases, zeros; they are written.
    """
    alpha, sign = np.empty(len(chosen)), np.empty(len(chosen))
    for k in range(len(start) - 1):
        sign[:] = -1.0
        for place in positive[start[k] : start[k + 1]]:
            sign[place] = 1.0
        machine(rows, squares, chosen, sign, orders, C, tolerance, W[k], alpha)


def machine(
    rows: Any,
    squares: np.ndarray,
    chosen: np.ndarray,
    sign: np.ndarray,
    orders: np.ndarray,
    C: float,
    tolerance: float,
    w: np.ndarray,
    alpha: np.ndarray,
) -> None:
    """Minimise ||(w, b)||² / 2 + C sum_i max(0, 1 - s_i (x_i·w + b))², b the last number of w.

    A step sets one dual variable to its optimum. One at 0 whose gradient is above the largest
    violation of the pass before rests until the others have converged.
    """
    indptr, indices, data = rows
    diagonal = 0.5 / C
    resting = np.zeros(len(chosen), np.bool_)
    limit = np.inf
    alpha[:] = 0.0
    for order in orders:
        most, least = -np.inf, np.inf
        for place in order:
            if resting[place]:
                continue
            row = chosen[place]
            score = w[-1]
            for j in range(indptr[row], indptr[row + 1]):
                score += w[indices[j]] * data[j]
            gradient = sign[place] * score - 1.0 + diagonal * alpha[place]
            if alpha[place] == 0.0:
                if gradient > limit:
                    resting[place] = True
                    continue
                violation = min(gradient, 0.0)
            else:
                violation = gradient
            most, least = max(most, violation), min(least, violation)
            if violation != 0.0:
                former = alpha[place]
                curvature = squares[row] + 1.0 + diagonal
                alpha[place] = max(former - gradient / curvature, 0.0)
                step = (alpha[place] - former) * sign[place]
                w[-1] += step
                for j in range(indptr[row], indptr[row + 1]):
                    w[indices[j]] += step * data[j]
        if most - least > tolerance:
            limit = most if most > 0.0 else np.inf
        elif resting.any():
            resting[:] = False
            limit = np.inf
        else:
            break
