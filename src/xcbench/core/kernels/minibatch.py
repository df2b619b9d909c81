"""Chosen classes of a minibatch: their scores, and updates of their weights."""

from __future__ import annotations

import numpy as np

from xcbench.core.adaptive import Pace, adapted
from xcbench.core.kernels.compiling import inlined, kernel
from xcbench.core.kernels.records import Pairs, Rows, Weights
from xcbench.core.kernels.rows import add, short_dot


@kernel
def by_class(classes: np.ndarray, head: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Positions of all pairs in ``classes`` (B, C), sorted by class; a stable sort.

    ``head`` and ``tail`` are buffers of K numbers. ``head`` is -1 everywhere before and after the
    call, so the work of few pairs does not depend on K.
    """
    return (
        _counted(classes, head.size) if classes.size >= head.size else _linked(classes, head, tail)
    )


@kernel
def _counted(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Sort by counting, where there are as many pairs as classes."""
    place, order = np.zeros(n_classes + 1, np.int64), np.empty(classes.size, np.int64)
    for i in range(classes.shape[0]):
        for c in range(classes.shape[1]):
            place[classes[i, c] + 1] += 1
    for k in range(n_classes):
        place[k + 1] += place[k]
    pair = 0
    for i in range(classes.shape[0]):
        for c in range(classes.shape[1]):
            order[place[classes[i, c]]] = pair
            place[classes[i, c]] += 1
            pair += 1
    return order


@kernel
def _linked(classes: np.ndarray, head: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Sort by a linked list of the pairs of each class that occurs."""
    pairs, pair, count = classes.size, 0, 0
    following, distinct = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    for i in range(classes.shape[0]):
        for c in range(classes.shape[1]):
            k = classes[i, c]
            following[pair] = -1
            if head[k] < 0:
                head[k] = pair
                distinct[count] = k
                count += 1
            else:
                following[tail[k]] = pair
            tail[k] = pair
            pair += 1
    order = np.empty(pairs, np.int64)
    place = 0
    for k in distinct[:count]:
        pair = head[k]
        head[k] = -1
        while pair >= 0:
            order[place] = pair
            place += 1
            pair = following[pair]
    return order


# Records are unpacked before a loop: what is taken out of one inside it is counted as a reference.
@kernel
def scores_at(V: np.ndarray, rows: Rows, pairs: Pairs) -> None:
    """Scores of the pairs, without scale and bias; summed as `short_dot` does."""
    begin, end, features, values = rows
    classes, order, numbers = pairs
    if V.shape[1] == 0:
        numbers[:] = 0
        return
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        numbers[i, c] = short_dot(V[classes[i, c]], features, values, begin[i], end[i])


@kernel
def scatter(weights: Weights, rows: Rows, pairs: Pairs) -> None:
    """w_c += number · x, for one pair after the other."""
    V, b = weights
    begin, end, features, values = rows
    classes, order, numbers = pairs
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        if numbers[i, c] != 0:
            k = classes[i, c]
            add(V[k], numbers[i, c], features, values, begin[i], end[i])
            if b.size:
                b[k] += numbers[i, c]


_adapted = inlined(adapted)


@kernel(fastmath={"contract", "nsz"})
def _adapt_row(w: np.ndarray, s: np.ndarray, g: np.ndarray, pace: Pace) -> None:
    """Step of all weights of a class; without a branch, so that it is done many at a time."""
    for j in range(w.size):
        stepped, accumulated = _adapted(w[j], s[j], g[j], pace)
        touched = g[j] != 0
        w[j] = stepped if touched else w[j]
        s[j] = accumulated if touched else s[j]
        g[j] = 0


@kernel
def _adapt_features(
    w: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    pace: Pace,
    features: np.ndarray | None,
    a: int,
    b: int,
) -> None:
    """Step of the weights at features that were not stepped yet; g is 0 afterwards."""
    if features is None:  # dense rows: never called
        return
    for j in range(a, b):
        f = features[j]
        if g[f] != 0:
            w[f], s[f] = _adapted(w[f], s[f], g[f], pace)
            g[f] = 0


@kernel
def adapt(
    weights: Weights, squares: Weights, rows: Rows, pairs: Pairs, g: np.ndarray, pace: Pace
) -> None:
    """Adaptive step, class after class; the buffer ``g`` (D,) is 0 before and after.

    The numbers of the pairs are the gradients in the scores; ``pace`` is an
    `xcbench.core.adaptive.Pace`. Where a class has few features, only these are visited.
    """
    V, b = weights
    of_V, of_b = squares
    begin, end, features, values = rows
    classes, order, numbers = pairs
    width, first = classes.shape[1], 0
    while first < order.size:
        k = classes[order[first] // width, order[first] % width]
        last, visits, of_bias = first, 0, V.dtype.type(0)
        while last < order.size:
            i, c = order[last] // width, order[last] % width
            if classes[i, c] != k:
                break
            if g.size:
                add(g, numbers[i, c], features, values, begin[i], end[i])
                visits += end[i] - begin[i]
            of_bias += numbers[i, c]
            last += 1
        if g.size and (features is None or 4 * visits >= g.size):
            _adapt_row(V[k], of_V[k], g, pace)
        elif g.size:
            for pair in order[first:last]:
                i = pair // width
                _adapt_features(V[k], of_V[k], g, pace, features, begin[i], end[i])
        if b.size and of_bias != 0:
            b[k], of_b[k] = _adapted(b[k], of_b[k], of_bias, pace)
        first = last


@kernel
def adapt_all(
    weights: Weights,
    squares: Weights,
    features: np.ndarray,
    g: np.ndarray,
    g_b: np.ndarray,
    pace: Pace,
) -> None:
    """Adaptive step of all classes at F features, with gradients g (K, F) and g_b (K,)."""
    V, b = weights
    of_V, of_b = squares
    for k in range(V.shape[0]):
        if features.size == V.shape[1]:
            _adapt_row(V[k], of_V[k], g[k], pace)
        else:
            w, s = V[k][features], of_V[k][features]
            _adapt_row(w, s, g[k], pace)
            V[k][features], of_V[k][features] = w, s
    if b.size:
        _adapt_row(b, of_b, g_b, pace)
