"""Chosen classes of the rows of a minibatch: scores, and the addition to their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcbench.kernels.compiling import kernel
from xcbench.kernels.rows import add, short_dot


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
