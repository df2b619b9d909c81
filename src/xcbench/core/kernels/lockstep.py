"""The loop over minibatches, for several models at once.

Their weights are side by side, V (K, D, LANES): a row, its classes and its features are read once
for all. A lane gives the same numbers as `xcbench.core.kernels.descent` on sparse rows, because
products and sums are made in the same order.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.descent import _evaluate, _fold, formulas_of
from xcbench.core.kernels.records import Formulas, Room, Rows, Samples, Scaled, Step
from xcbench.core.objectives import Scalar


@kernel
def _dots(w: np.ndarray, f: np.ndarray, x: np.ndarray, even: np.ndarray, odd: np.ndarray) -> None:
    """Into ``even``: w[:, r]·x of every lane, in the precision of that array."""
    blocked = x.size // 2 * 2
    even[:] = 0
    odd[:] = 0
    for j in range(0, blocked, 2):
        near, v, following, u = w[f[j]], x[j], w[f[j + 1]], x[j + 1]
        for r in range(SIDE_BY_SIDE):
            even[r] += near[r] * v
            odd[r] += following[r] * u
    for j in range(blocked, x.size):
        near, v = w[f[j]], x[j]
        for r in range(SIDE_BY_SIDE):
            even[r] += near[r] * v
    for r in range(SIDE_BY_SIDE):
        even[r] += odd[r]


@kernel
def _add(w: np.ndarray, changes: np.ndarray, f: np.ndarray, x: np.ndarray) -> None:
    """w[:, r] += change · x, in every lane."""
    for j in range(x.size):
        near, v = w[f[j]], x[j]
        for r in range(SIDE_BY_SIDE):
            near[r] += changes[r] * v


@kernel
def _lockstep(
    weights: Scaled,
    rows: Rows,
    samples: Samples,
    step: Step,
    sums: Room,
    formulas: Formulas,
) -> np.ndarray:
    """As `descent._minibatches`, of every lane: the sums of their values."""
    V, b, scale = weights
    begin, end, features, values = rows
    index, classes, log_weight, square_norm, local = samples
    rates, size, width = step.rate, step.size, classes.shape[1]
    lanes = rates.size
    scores, grad = np.empty((lanes, size, width)), np.empty((lanes, size, width))
    changes = np.zeros((size, width, SIDE_BY_SIDE), V.dtype)
    moved, totals = np.empty(size), np.zeros(lanes)
    even, odd = sums
    for first in range(0, index.size, size):
        for i in range(size):
            a, z = begin[first + i], end[first + i]
            for c in range(width):
                k = classes[first + i, c]
                _dots(V[k], features[a:z], values[a:z], even, odd)
                for r in range(lanes):
                    scores[r, i, c] = even[r]
                    if b.size:
                        scores[r, i, c] += b[k, r]
                    scores[r, i, c] *= scale[r]
        for r in range(lanes):
            lane = Samples(index, classes, log_weight, square_norm, local[r])
            for i in range(size):
                value, moved[i] = _evaluate(
                    first + i, scores[r, i], lane, rates[r], grad[r, i], formulas
                )
                totals[r] += value
            for i in range(size):
                local[r, index[first + i]] = moved[i]
            if step.shrinkage[r] != 1.0:
                scale[r] *= step.shrinkage[r]
                _fold((V[:, :, r], b[:, r], scale[r : r + 1]))
            for i in range(size):
                for c in range(width):
                    changes[i, c, r] = -rates[r] * grad[r, i, c] / scale[r]
        for i in range(size):
            a, z = begin[first + i], end[first + i]
            for c in range(width):
                k = classes[first + i, c]
                _add(V[k], changes[i, c], features[a:z], values[a:z])
                if b.size:
                    for r in range(lanes):
                        b[k, r] += changes[i, c, r]
    return totals


def lockstep(
    weights: Scaled, rows: Rows, samples: Samples, step: Step, scalar: Scalar
) -> np.ndarray:
    """Run `_lockstep`; scores of single samples are summed in float64, as in `descent`."""
    precision = np.float64 if step.size == 1 else weights.V.dtype
    sums = np.empty(SIDE_BY_SIDE, precision), np.empty(SIDE_BY_SIDE, precision)
    return np.asarray(_lockstep(weights, rows, samples, step, sums, formulas_of(scalar)))
