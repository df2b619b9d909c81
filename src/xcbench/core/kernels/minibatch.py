"""Chosen classes of the rows of a minibatch: scores, and the addition to their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from xcbench.core.adaptive import adapted
from xcbench.core.kernels.compiling import inlined, kernel
from xcbench.core.kernels.rows import add, short_dot


@kernel
def by_class(classes: Any, head: Any, tail: Any) -> Any:
    """Places of all pairs in ``classes`` (B, C), class after class, each in its own order.

    ``head`` and ``tail`` are room for K numbers; ``head`` is -1 everywhere, before and after, so
    that the work depends on the pairs alone.
    """
    width, pairs = classes.shape[1], classes.size
    following, distinct = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    found = 0
    for p in range(pairs):
        k = classes[p // width, p % width]
        following[p] = -1
        if head[k] < 0:
            head[k] = p
            distinct[found] = k
            found += 1
        else:
            following[tail[k]] = p
        tail[k] = p
    order = np.empty(pairs, np.int64)
    place = 0
    for k in distinct[:found]:
        p = head[k]
        head[k] = -1
        while p >= 0:
            order[place] = p
            place += 1
            p = following[p]
    return order


@kernel
def scores_at(
    V: Any, begin: Any, end: Any, features: Any, values: Any, classes: Any, order: Any, scores: Any
) -> None:
    """Scores (B, C) of chosen classes, without scale and bias; summed as `short_dot` does."""
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        scores[i, c] = short_dot(V[classes[i, c]], features, values, begin[i], end[i])


@kernel
def scatter(
    V: Any,
    b: Any,
    begin: Any,
    end: Any,
    features: Any,
    values: Any,
    classes: Any,
    order: Any,
    numbers: Any,
) -> None:
    """w_c += number · x, pair after pair."""
    for p in order:
        i, c = p // classes.shape[1], p % classes.shape[1]
        k = classes[i, c]
        add(V[k], numbers[i, c], features, values, begin[i], end[i])
        if b.size:
            b[k] += numbers[i, c]


_adapted = inlined(adapted)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _adapt_row(w: Any, s: Any, g: Any, p: Any) -> None:
    """Step of all weights of a class; without a branch, so that it is done many at a time."""
    for j in range(w.size):
        stepped, accumulated = _adapted(w[j], s[j], g[j], p[0], p[1], p[2], p[3], p[4], p[5])
        touched = g[j] != 0
        w[j] = stepped if touched else w[j]
        s[j] = accumulated if touched else s[j]
        g[j] = 0


@kernel
def _adapt_features(w: Any, s: Any, g: Any, p: Any, features: Any, a: int, b: int) -> None:
    """Step of the weights at features that were not stepped yet; g is 0 afterwards."""
    for j in range(a, b):
        f = features[j]
        if g[f] != 0:
            w[f], s[f] = _adapted(w[f], s[f], g[f], p[0], p[1], p[2], p[3], p[4], p[5])
            g[f] = 0


@kernel
def adapt(
    V: Any,
    b: Any,
    of_V: Any,
    of_b: Any,
    begin: Any,
    end: Any,
    features: Any,
    values: Any,
    classes: Any,
    order: Any,
    slope: Any,
    g: Any,
    p: Any,
) -> None:
    """Adaptive step, class after class: sum its gradient in ``g`` (D,), 0 before and after.

    ``of_V`` and ``of_b`` are the squares; ``p`` are the numbers of `xcbench.core.adaptive.Pace`.
    Where a class has few features, only these are visited.
    """
    width, first = classes.shape[1], 0
    while first < order.size:
        k = classes[order[first] // width, order[first] % width]
        last, visits, of_bias = first, 0, V.dtype.type(0)
        while last < order.size:
            i, c = order[last] // width, order[last] % width
            if classes[i, c] != k:
                break
            add(g, slope[i, c], features, values, begin[i], end[i])
            of_bias += slope[i, c]
            visits += end[i] - begin[i]
            last += 1
        if features is None or 4 * visits >= g.size:
            _adapt_row(V[k], of_V[k], g, p)
        else:
            for pair in order[first:last]:
                i = pair // width
                _adapt_features(V[k], of_V[k], g, p, features, begin[i], end[i])
        if b.size and of_bias != 0:
            b[k], of_b[k] = _adapted(b[k], of_b[k], of_bias, p[0], p[1], p[2], p[3], p[4], p[5])
        first = last


@kernel
def adapt_all(
    V: Any, b: Any, of_V: Any, of_b: Any, features: Any, g: Any, g_b: Any, p: Any
) -> None:
    """Adaptive step of all classes at F features, with gradients g (K, F) and g_b (K,)."""
    for k in range(V.shape[0]):
        if features.size == V.shape[1]:
            _adapt_row(V[k], of_V[k], g[k], p)
        else:
            w, s = V[k][features], of_V[k][features]
            _adapt_row(w, s, g[k], p)
            V[k][features], of_V[k][features] = w, s
    if b.size:
        _adapt_row(b, of_b, g_b, p)
