"""All classes of all rows: a running log-sum-exp and the highest score."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench.core.kernels.compiling import kernel


@kernel(fastmath={"nnan", "nsz", "reassoc"})
def _largest(scores: Any, a: int, z: int) -> Any:
    top = scores[a]
    for j in range(a + 1, z):
        top = max(top, scores[j])
    return top


@kernel(fastmath={"contract"})
def _exponentials(scores: Any, room: Any) -> None:
    """Into ``power``: e^{score - top} for float32 scores <= top.

    The polynomial of Cephes' expf on [-log(2)/2, log(2)/2], relative error 1e-7; the power of two
    goes straight into the exponent's bits.
    """
    top, mantissa, power = room
    for j in range(scores.size):
        x = max(scores[j] - top[j], np.float32(-87.0))
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
    for j in range(scores.size):
        mantissa[j] *= scale[j]


@kernel(fastmath={"reassoc"})
def _sum(numbers: Any, a: int, z: int) -> float:
    total = 0.0
    for j in range(a, z):
        total += np.float64(numbers[j])
    return total


@kernel
def absorb(scores: Any, size: int, first: int, i: int, running: Any, room: Any) -> None:
    """Update the running log-sum-exps of row i with scores.

    The ``size`` scores of model r, for classes from ``first`` on, start at r · size.
    """
    y, top, total, best, true_score = running
    largest_of_model, exponential, _ = room
    for r in range(top.shape[0]):
        a, z = r * size, (r + 1) * size
        largest = _largest(scores, a, z)
        if largest > top[r, i]:
            total[r, i] *= np.exp(np.float64(top[r, i]) - np.float64(largest))
            top[r, i] = largest
            j = a
            while j < z - 1 and scores[j] != largest:
                j += 1
            best[r, i] = first + j - a
        largest_of_model[a:z] = top[r, i]
        if first <= y[i] < first + size:
            true_score[r, i] = scores[a + y[i] - first]
    _exponentials(scores, room)
    for r in range(top.shape[0]):
        total[r, i] += _sum(exponential, r * size, (r + 1) * size)


@kernel
def absorb_block(scores: Any, first_row: int, running: Any) -> None:
    """Update with whole rows of scores (B, K), for dense data."""
    K = scores.shape[1]
    room = np.zeros(K, np.float32), np.empty(K, np.float32), np.empty(K, np.int32)
    for i in range(scores.shape[0]):
        absorb(scores[i], K, 0, first_row + i, running, room)


@kernel(fastmath={"contract"})
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
def fill_panel(weights: Any, layout: Any) -> None:
    """Place a panel's classes of all models side by side, so that a row is read once.

    Weights (R, K, D) are transposed into the panel (D, P), where P is at least R times the number
    of classes. Biases are (R, K).
    """
    V, b = weights
    panel, offset, _, classes = layout
    first, size = classes[0], classes[1] - classes[0]
    panel[:], offset[:] = 0.0, 0.0
    for r in range(V.shape[0]):
        at = r * size
        if b.size:
            offset[at : at + size] = b[r, first : first + size]
        for c in range(size):
            for j in range(panel.shape[0]):
                panel[j, at + c] = V[r, first + c, j]


@kernel
def absorb_panel(layout: Any, first_row: int, last_row: int, rows: Any, running: Any) -> None:
    """Update with the scores of a panel's classes for sparse rows first_row..last_row-1."""
    panel, offset, scale, classes = layout
    begin, end, features, values = rows
    first, size, P = classes[0], classes[1] - classes[0], panel.shape[1]
    room = np.zeros(P, np.float32), np.empty(P, np.float32), np.empty(P, np.int32)
    scores = np.empty(P, np.float32)
    for i in range(first_row, last_row):
        scores[:] = offset
        _panel_scores(panel, features, values, begin[i], end[i], scores)
        for r in range(scale.size):
            if scale[r] != 1.0:
                for c in range(r * size, (r + 1) * size):
                    scores[c] *= scale[r]
        absorb(scores, size, first, i, running, room)
