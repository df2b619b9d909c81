"""Traversal of a tree of sparse hyperplanes."""

from __future__ import annotations

import numpy as np

from xcbench.core.kernels.compiling import kernel
from xcbench.core.kernels.records import SparseArrays


@kernel
def leaf_of(
    rows: SparseArrays,
    planes: SparseArrays,
    b: np.ndarray,
    children: np.ndarray,
    x: np.ndarray,
    reached: np.ndarray,
) -> None:
    """Find the leaf (N,) of every row; ``x`` (D,) is a buffer of zeros."""
    row_start, row_features, row_values = rows
    start, features, values = planes
    for i in range(reached.size):
        for j in range(row_start[i], row_start[i + 1]):
            x[row_features[j]] = row_values[j]
        node = 0 if len(children) else -1
        while node >= 0:
            score = 0.0
            for p in range(start[node], start[node + 1]):
                score += values[p] * x[features[p]]
            node = children[node, 1 if score + b[node] >= 0 else 0]
        reached[i] = -1 - node
        for j in range(row_start[i], row_start[i + 1]):
            x[row_features[j]] = 0.0
