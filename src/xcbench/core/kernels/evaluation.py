"""All classes of all rows: a running log-sum-exp and the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.products import FLOATS, add_products, float_of_bits


@kernel(fastmath={"nnan", "nsz", "reassoc"})
def _largest(scores: Any) -> Any:
    top = scores[0]
    for score in scores[1:]:
        top = max(top, score)
    return top


@kernel(fastmath={"contract"})
def exponential(x: Any) -> Any:
    """e^x of a float32 x <= 0, with a relative error of at most 1.2e-7 above -87.

    The polynomial of Cephes' expf on [-log(2)/2, log(2)/2]; the power of two goes straight into the
    exponent's bits. Below -87 it is e^-87, which no sum with e^0 notices.
    """
    x = max(x, np.float32(-87.0))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    power: Any = float_of_bits((np.int32(n) + np.int32(127)) << np.int32(23))  # type: ignore[call-arg]
    return (p * r * r + r + np.float32(1.0)) * power


@kernel(fastmath={"contract"})
def exponentials(scores: Any, top: Any, into: Any) -> None:
    """Place e^{score - top} of every lane."""
    for j in range(scores.size):
        into[j] = exponential(scores[j] - top[j])


@kernel(fastmath={"reassoc"})
def _sum(numbers: Any) -> float:
    total = 0.0
    for number in numbers:
        total += np.float64(number)
    return total


@kernel
def _insert(scores: Any, first: int, highest: Any, best: Any) -> None:
    """Keep the highest scores, in descending order, and their classes; the earlier among equals."""
    for c in range(scores.size):
        place = highest.size
        while place and scores[c] > highest[place - 1]:
            place -= 1
        for later in range(highest.size - 1, place, -1):
            highest[later], best[later] = highest[later - 1], best[later - 1]
        if place < highest.size:
            highest[place], best[place] = scores[c], first + c


@kernel
def absorb(scores: Any, size: int, first: int, i: int, running: Any, room: Any) -> None:
    """Update the running statistics of row i with scores.

    The ``size`` scores of model r, for classes from ``first`` on, start at r · size.
    """
    y, highest, best, total, true_score = running
    top, terms = room
    for r in range(total.shape[0]):
        of_model = scores[r * size : (r + 1) * size]
        largest, before = _largest(of_model), highest[r, i, 0]
        if largest > highest[r, i, -1]:
            _insert(of_model, first, highest[r, i], best[r, i])
            if largest > before:
                total[r, i] *= np.exp(np.float64(before) - np.float64(largest))
        top[r * size : (r + 1) * size] = highest[r, i, 0]
        if first <= y[i] < first + size:
            true_score[r, i] = of_model[y[i] - first]
    exponentials(scores, top, terms)
    for r in range(total.shape[0]):
        total[r, i] += _sum(terms[r * size : (r + 1) * size])


@kernel
def absorb_block(scores: Any, first_row: int, running: Any) -> None:
    """Update with whole rows of scores (B, K), for dense data."""
    K = scores.shape[1]
    room = np.zeros(K, np.float32), np.empty(K, np.float32)
    for i in range(scores.shape[0]):
        absorb(scores[i], K, 0, first_row + i, running, room)


@kernel
def fill_panel(weights: Any, layout: Any, first_feature: int, last_feature: int) -> None:
    """Place a panel's classes of all models side by side, so that a row is read once.

    Weights (R, K, D) of features first_feature..last_feature-1 are transposed into the panel
    (D, P), a line of the cache at a time; P is at least R times the number of classes. Biases are
    (R, K), and 0 where there are none.
    """
    V, b = weights
    panel, offset, _, classes = layout
    first, size = classes[0], classes[1] - classes[0]
    panel[first_feature:last_feature, V.shape[0] * size :] = 0.0
    for r in range(V.shape[0]):
        if b.size:
            offset[r * size : (r + 1) * size] = b[r, first : first + size]
    for start in range(first_feature, last_feature, FLOATS):
        for r in range(V.shape[0]):
            for c in range(size):
                for j in range(start, min(start + FLOATS, last_feature)):
                    panel[j, r * size + c] = V[r, first + c, j]


@kernel
def absorb_panel(layout: Any, first_row: int, last_row: int, rows: Any, running: Any) -> None:
    """Update with the scores of a panel's classes for sparse rows first_row..last_row-1."""
    panel, offset, scale, classes = layout
    begin, end, features, values = rows
    first, size, P = classes[0], classes[1] - classes[0], panel.shape[1]
    room = np.zeros(P, np.float32), np.empty(P, np.float32)
    scores = np.empty(P, np.float32)
    for i in range(first_row, last_row):
        scores[:] = offset
        add_products(scores, panel, features, values, begin[i], end[i])
        for r in range(scale.size):
            if scale[r] != 1.0:
                scores[r * size : (r + 1) * size] *= scale[r]
        absorb(scores, size, first, i, running, room)
