"""Scores of every class from weights that are stored feature by feature."""

from __future__ import annotations

import numpy as np

from xcbench.core.kernels.compiling import kernel


@kernel
def scores_by_feature(
    start: np.ndarray,
    features: np.ndarray,
    values: np.ndarray,
    first: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Add to scores (B, K) the inner products of sparse rows and sparse weights.

    Feature f has ``weights[first[f]:first[f+1]]`` in those ``classes``.
    """
    for i in range(scores.shape[0]):
        row = scores[i]
        for j in range(start[i], start[i + 1]):
            f, v = features[j], values[j]
            for p in range(first[f], first[f + 1]):
                row[classes[p]] += v * weights[p]
