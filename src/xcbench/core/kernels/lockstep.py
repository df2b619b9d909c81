"""The loop over minibatches, for several models at once.

Their weights are side by side, V (K, D, SIDE_BY_SIDE): a row, its classes and its features are read
once for all. A lane gives the same numbers as `xcbench.core.kernels.descent` on sparse rows,
because products and sums are made in the same order.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.descent import _evaluate, _fold, formulas_of
from xcbench.core.kernels.lanes import lane_add, lane_dots
from xcbench.core.kernels.records import Formulas, Rows, Samples, Scaled, Step
from xcbench.core.objectives import Scalar


@kernel
def _lockstep(
    weights: Scaled,
    rows: Rows,
    samples: Samples,
    step: Step,
    sums: np.ndarray,
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
    for first in range(0, index.size, size):
        for i in range(size):
            a, z = begin[first + i], end[first + i]
            for c in range(width):
                k = classes[first + i, c]
                lane_dots(V[k], features, values, (a, z), sums)
                for r in range(lanes):
                    scores[r, i, c] = sums[r]
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
                lane_add(V[k], features, values, (a, z), changes[i, c])
                if b.size:
                    for r in range(lanes):
                        b[k, r] += changes[i, c, r]
    return totals


def lockstep(
    weights: Scaled, rows: Rows, samples: Samples, step: Step, scalar: Scalar
) -> np.ndarray:
    """Run `_lockstep`; scores of single samples are summed in float64, as in `descent`."""
    precision = np.float64 if step.size == 1 else weights.V.dtype
    sums = np.empty(SIDE_BY_SIDE, precision)
    return np.asarray(_lockstep(weights, rows, samples, step, sums, formulas_of(scalar)))
