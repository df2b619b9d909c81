"""All classes of all rows: a running log-sum-exp and the highest score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from xcbench.core.kernels.compiling import kernel


@njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz", "reassoc"})
def _largest(scores: Any) -> Any:
    top = scores[0]
    for j in range(1, scores.size):
        top = max(top, scores[j])
    return top


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _sum_exp(scores: Any, top: Any, mantissa: Any, power: Any) -> float:
    """Sum of e^{score - top} in float64, for float32 scores <= top.

    The polynomial of Cephes' expf on [-log(2)/2, log(2)/2], relative error 1e-7; the power of two
    goes straight into the exponent's bits.
    """
    for j in range(scores.size):
        x = max(scores[j] - top, np.float32(-87.0))
        n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        mantissa[j] = p * r * r + r + np.float32(1.0)
        power[j] = (np.int32(n) + np.int32(127)) << np.int32(23)
    scale = power.view(np.float32)
    total = 0.0
    for j in range(scores.size):
        total += np.float64(mantissa[j] * scale[j])
    return total


@kernel
def absorb(scores: Any, first: int, i: int, running: Any, mantissa: Any, power: Any) -> None:
    """Take the scores of classes from ``first`` on of row i into its running log-sum-exp."""
    y, top, total, best, true_score = running
    size, largest = scores.size, _largest(scores)
    if largest > top[i]:
        total[i] *= np.exp(np.float64(top[i]) - np.float64(largest))
        top[i] = largest
        j = 0
        while j < size - 1 and scores[j] != largest:
            j += 1
        best[i] = first + j
    total[i] += _sum_exp(scores, top[i], mantissa, power)
    if first <= y[i] < first + size:
        true_score[i] = scores[y[i] - first]


@kernel
def absorb_block(scores: Any, first_row: int, running: Any) -> None:
    """Take whole rows of scores (B, K), of dense data."""
    K = scores.shape[1]
    mantissa, power = np.empty(K, np.float32), np.empty(K, np.int32)
    for i in range(scores.shape[0]):
        absorb(scores[i], 0, first_row + i, running, mantissa, power)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _panel_scores(panel: Any, features: Any, values: Any, a: int, b: int, scores: Any) -> None:
    """Add a row's scores against a panel (D, P) of transposed weights.

    Four features at a time, so that the scores are read and written once for the four.
    """
    whole = a + (b - a) // 4 * 4
    for j in range(a, whole, 4):
        v, w = values[j], panel[features[j]]
        v1, w1 = values[j + 1], panel[features[j + 1]]
        v2, w2 = values[j + 2], panel[features[j + 2]]
        v3, w3 = values[j + 3], panel[features[j + 3]]
        for c in range(scores.size):
            scores[c] += (v * w[c] + v1 * w1[c]) + (v2 * w2[c] + v3 * w3[c])
    for j in range(whole, b):
        v, w = values[j], panel[features[j]]
        for c in range(scores.size):
            scores[c] += v * w[c]


@kernel
def absorb_panel(weights: Any, scale: Any, first: int, panel: Any, rows: Any, running: Any) -> None:
    """Take the scores of a panel of classes, for all sparse rows."""
    V, b = weights
    begin, end, features, values = rows
    P = panel.shape[1]
    for c in range(P):
        for j in range(panel.shape[0]):
            panel[j, c] = V[first + c, j]
    mantissa, power = np.empty(P, np.float32), np.empty(P, np.int32)
    scores = np.empty(P, np.float32)
    for i in range(begin.size):
        for c in range(P):
            scores[c] = b[first + c] if b.size else np.float32(0.0)
        _panel_scores(panel, features, values, begin[i], end[i], scores)
        if scale != 1.0:
            for c in range(P):
                scores[c] *= scale
        absorb(scores, first, i, running, mantissa, power)
