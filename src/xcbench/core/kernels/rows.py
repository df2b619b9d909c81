"""Products and updates of one row and one class, or two; for sparse and dense rows.

A row is sliced before its loop: indices from 0 on need no test for negative ones, so the loop is
vectorised. The last few numbers of `dot` are not sliced. Sliced, they would be added in another
order, and trajectories of single samples must stay the same to the last digit.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.kernels.compiling import kernel

AT_ONCE = 32  # products of float64 that are summed side by side, where AVX-512 is there


@kernel
def nonzeros(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, features and begins of the rows of a dense X, without its zeros."""
    begin = np.zeros(X.shape[0] + 1, np.int32)
    for i in range(X.shape[0]):
        begin[i + 1] = begin[i] + np.count_nonzero(X[i])
    features, values = np.empty(begin[-1], np.int32), np.empty(begin[-1], X.dtype)
    for i in range(X.shape[0]):
        place = begin[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                features[place], values[place] = j, X[i, j]
                place += 1
    return values, features, begin


@kernel(fastmath={"reassoc", "contract", "nsz"})
def dot(w: np.ndarray, features: np.ndarray | None, values: np.ndarray, a: int, b: int) -> float:
    """w·x, summed in float64."""
    total = 0.0
    x = values[a:b]
    if features is None:
        blocked = x.size // AT_ONCE * AT_ONCE
        for j in range(blocked):
            total += np.float64(w[j]) * np.float64(x[j])
        for j in range(blocked, x.size):
            total += np.float64(w[j]) * np.float64(values[a + j])
        return total
    f = features[a:b]
    second = third = fourth = 0.0
    blocked = x.size // 4 * 4
    for j in range(0, blocked, 4):
        total += np.float64(w[f[j]] * x[j])
        second += np.float64(w[f[j + 1]] * x[j + 1])
        third += np.float64(w[f[j + 2]] * x[j + 2])
        fourth += np.float64(w[f[j + 3]] * x[j + 3])
    for j in range(a + blocked, b):
        total += np.float64(w[features[j]] * values[j])
    return (total + second) + (third + fourth)


@kernel(fastmath={"reassoc", "contract", "nsz"})
def _short_dot(w: np.ndarray, x: np.ndarray) -> float:
    """w·x of a dense row, in as many sums as a register holds."""
    total = w.dtype.type(0)
    for j in range(x.size):
        total += w[j] * x[j]
    return np.float64(total)


@kernel
def short_dot(
    w: np.ndarray, features: np.ndarray | None, values: np.ndarray, a: int, b: int
) -> float:
    """w·x in the precision of the weights; a sparse row in two sums, as `lockstep` has them."""
    x = values[a:b]
    if features is None:
        return _short_dot(w, x)
    f = features[a:b]
    even = odd = w.dtype.type(0)
    blocked = x.size // 2 * 2
    for j in range(0, blocked, 2):
        even += w[f[j]] * x[j]
        odd += w[f[j + 1]] * x[j + 1]
    for j in range(blocked, x.size):
        even += w[f[j]] * x[j]
    return np.float64(even + odd)


@kernel
def dots(
    w: np.ndarray,
    other: np.ndarray,
    features: np.ndarray | None,
    values: np.ndarray,
    a: int,
    b: int,
) -> tuple[float, float]:
    """As `dot` for two classes in one pass, which doubles the memory requests in flight."""
    if features is None:
        return dot(w, features, values, a, b), dot(other, features, values, a, b)
    f, x = features[a:b], values[a:b]
    total = second = of_other = second_of_other = 0.0
    blocked = x.size // 2 * 2
    for j in range(0, blocked, 2):
        k, v = f[j], x[j]
        total += np.float64(w[k] * v)
        of_other += np.float64(other[k] * v)
        k, v = f[j + 1], x[j + 1]
        second += np.float64(w[k] * v)
        second_of_other += np.float64(other[k] * v)
    for j in range(blocked, x.size):
        k, v = f[j], x[j]
        total += np.float64(w[k] * v)
        of_other += np.float64(other[k] * v)
    return total + second, of_other + second_of_other


@kernel
def add(
    w: np.ndarray, change: float, features: np.ndarray | None, values: np.ndarray, a: int, b: int
) -> None:
    """W += change · x."""
    x = values[a:b]
    if features is None:
        for j in range(x.size):
            w[j] += change * x[j]
    else:
        f = features[a:b]
        for j in range(x.size):
            w[f[j]] += change * x[j]


@kernel
def adds(
    w: np.ndarray,
    other: np.ndarray,
    changes: np.ndarray,
    features: np.ndarray | None,
    values: np.ndarray,
    a: int,
    b: int,
) -> None:
    """As `add` for two different classes in one pass."""
    change, of_other = changes[0], changes[1]
    if features is None:
        add(w, change, features, values, a, b)
        add(other, of_other, features, values, a, b)
    else:
        f, x = features[a:b], values[a:b]
        for j in range(x.size):
            k, v = f[j], x[j]  # once: a write to the weights might have changed them
            w[k] += change * v
            other[k] += of_other * v
