"""All classes of all rows: a running log-sum-exp and the highest scores."""

from __future__ import annotations

import numpy as np

from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.products import FLOATS, add_products, float_of_bits
from xcbench.core.kernels.records import Panel, Rows, Running, Weights

ERROR = 1.2e-7  # relative, of `exponential`
ROWS = 64  # of which the scores against a panel are held at a time


@kernel(fastmath={"nnan", "nsz", "reassoc"})
def _largest(scores: np.ndarray, a: int, z: int, largest: np.ndarray) -> None:
    """Of columns a..z-1 of every row."""
    for n in range(largest.size):
        top = scores[n, a]
        for j in range(a + 1, z):
            top = max(top, scores[n, j])
        largest[n] = top


@kernel(fastmath={"contract"})
def exponential(x: np.float32) -> np.float32:
    """e^x of a float32 x <= 0, with a relative error below `ERROR` down to -87.

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
    power: np.float32 = float_of_bits((np.int32(n) + np.int32(127)) << np.int32(23))  # type: ignore[call-arg, arg-type]
    return (p * r * r + r + np.float32(1.0)) * power


@kernel(fastmath={"contract", "reassoc"})
def _add_exponentials(
    scores: np.ndarray, a: int, z: int, top: np.ndarray, total: np.ndarray
) -> None:
    """Add the sum of e^{score - top} over columns a..z-1 of every row."""
    terms = np.empty(z - a, np.float32)
    for n in range(top.size):
        for j in range(a, z):
            terms[j - a] = exponential(scores[n, j] - top[n])
        added = 0.0
        for term in terms:
            added += np.float64(term)
        total[n] += added


@kernel
def _insert(score: np.float32, c: int, n: int, highest: np.ndarray, best: np.ndarray) -> None:
    """Place a class among the highest scores of row n, in descending order, after equal ones."""
    place = highest.shape[1] - 1
    while place and score > highest[n, place - 1]:
        highest[n, place], best[n, place] = highest[n, place - 1], best[n, place - 1]
        place -= 1
    highest[n, place], best[n, place] = score, c


@kernel
def _keep_highest(
    scores: np.ndarray,
    a: int,
    z: int,
    first: int,
    largest: np.ndarray,
    state: tuple[np.ndarray, ...],
) -> None:
    """Update the highest scores with columns a..z-1, and rescale the sums to the highest."""
    highest, best, total = state
    last = highest.shape[1] - 1
    for n in range(largest.size):
        before = highest[n, 0]
        if largest[n] > highest[n, last]:
            for j in range(a, z):
                if scores[n, j] > highest[n, last]:
                    _insert(scores[n, j], first + np.int64(j - a), n, highest, best)
        if largest[n] > before and total[n] > 0.0:
            total[n] *= np.exp(np.float64(before) - np.float64(largest[n]))
        largest[n] = highest[n, 0]


@kernel
def absorb(scores: np.ndarray, size: int, first: int, first_row: int, running: Running) -> None:
    """Update the running statistics of rows first_row, ... with their scores (B, P).

    The ``size`` scores of model r, for classes from ``first`` on, start at column r · size.
    """
    y, highest, best, total, true_score = running
    rows = slice(first_row, first_row + scores.shape[0])
    top = np.empty(scores.shape[0], np.float32)
    for r in range(total.shape[0]):
        a, z = np.uint64(r * size), np.uint64((r + 1) * size)  # spares tests for negative ones
        row_total = total[r, rows]
        _largest(scores, a, z, top)
        _keep_highest(scores, a, z, first, top, (highest[r, rows], best[r, rows], row_total))
        _add_exponentials(scores, a, z, top, row_total)
        for n, c in enumerate(y[rows]):
            if first <= c < first + size:
                true_score[r, first_row + n] = scores[n, r * size + c - first]


@kernel
def fill_panel(weights: Weights, layout: Panel, first_feature: int, last_feature: int) -> None:
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
def absorb_panel(
    layout: Panel, first_row: int, last_row: int, rows: Rows, running: Running
) -> None:
    """Update with the scores of a panel's classes for sparse rows first_row..last_row-1."""
    panel, offset, scale, classes = layout
    first, size = classes[0], classes[1] - classes[0]
    room = np.empty((ROWS, panel.shape[1]), np.float32)
    for start in range(first_row, last_row, ROWS):
        scores = room[: last_row - start]
        scores[:] = offset
        add_products(scores, panel, rows, start)
        for r in range(scale.size):
            if scale[r] != 1.0:
                scores[:, r * size : (r + 1) * size] *= scale[r]
        absorb(scores, size, first, start, running)
