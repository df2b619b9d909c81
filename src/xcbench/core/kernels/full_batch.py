"""Every class of sparse rows: scores, and the gradient in the weights.

Weights are stored by feature, (D, P), so the values of a feature for all classes are contiguous. P
is K rounded up to a multiple of `LANES`; the padding is 0.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.records import Rows

LANES = 4  # float64 numbers of a register of 256 bits


@kernel(fastmath={"contract", "nsz"})
def _gather(
    total: np.ndarray, by_feature: np.ndarray, features: np.ndarray, values: np.ndarray
) -> None:
    """Add to a total (P,) the values times their features' weights; four features at a time."""
    blocked = features.size // 4 * 4
    for j in range(0, blocked, 4):
        a, b = by_feature[features[j]], by_feature[features[j + 1]]
        c, d = by_feature[features[j + 2]], by_feature[features[j + 3]]
        of_a, of_b, of_c, of_d = values[j], values[j + 1], values[j + 2], values[j + 3]
        for k in range(total.size):
            total[k] += of_a * a[k] + of_b * b[k] + of_c * c[k] + of_d * d[k]
    for j in range(blocked, features.size):
        a = by_feature[features[j]]
        for k in range(total.size):
            total[k] += values[j] * a[k]


@kernel(fastmath={"contract", "nsz"})
def _scatter(
    grad: np.ndarray, by_feature: np.ndarray, features: np.ndarray, values: np.ndarray
) -> None:
    """Add to the features' gradients the values times that of the scores (P,)."""
    for j in range(features.size):
        of_feature = by_feature[features[j]]
        for k in range(grad.size):
            of_feature[k] += values[j] * grad[k]


@kernel
def scores_of_all(rows: Rows, by_feature: np.ndarray, scores: np.ndarray) -> None:
    """Add to scores (B, P) the products of the rows with weights (D, P)."""
    begin, end, features, values = rows
    for i in range(begin.size):
        a, b = begin[i], end[i]
        _gather(scores[i], by_feature, features[a:b], values[a:b])


@kernel
def gradient_of_all(rows: Rows, grad: np.ndarray, by_feature: np.ndarray) -> None:
    """Add to gradients (D, P) the score gradients (B, P) times the rows."""
    begin, end, features, values = rows
    for i in range(begin.size):
        a, b = begin[i], end[i]
        _scatter(grad[i], by_feature, features[a:b], values[a:b])
