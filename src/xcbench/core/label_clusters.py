"""Clusters of classes whose rows are alike, by balanced 2-means (Prabhu et al. 2018, Parabel)."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.forest import of_unit_length

STEPS = 8  # of 2-means


def balanced(X: sp.csr_array, Y: sp.csr_array, size: int, rng: np.random.Generator) -> np.ndarray:
    """Cluster (K,) of every class, numbered from 0; sizes differ by one class a split at most.

    A class is the mean of its rows, scaled to length 1. A cluster of more than ``size`` classes is
    split into halves, those nearer to one of two means and those nearer to the other.

    Parameters
    ----------
    X : (N, D) rows.
    Y : (N, K) whether a row has a label.
    size : classes in a cluster at most.
    """
    means = of_unit_length(sp.csr_array(Y.T @ X))
    cluster = np.zeros(Y.shape[1], np.int64)
    waiting, clusters = [np.arange(Y.shape[1])], 0
    while waiting:
        classes = waiting.pop()
        if len(classes) <= size:
            cluster[classes] = clusters
            clusters += 1
        else:
            second = halves(means[classes], rng)
            waiting += [classes[second], classes[~second]]
    return cluster


def root(n_classes: int) -> int:
    """Classes in a cluster, where there are about as many clusters."""
    return math.ceil(n_classes**0.5)


def halves(means: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Which half of the rows (n,) is in the second of two parts, by the angle to their means."""
    n = means.shape[0]
    centres = means[rng.choice(n, 2, replace=False)].toarray()
    second = np.zeros(n, bool)
    for _ in range(STEPS):
        nearer = means @ (centres[1] - centres[0])
        former, second = second, np.zeros(n, bool)
        second[np.argsort(nearer, kind="stable")[n // 2 :]] = True
        if (second == former).all():
            break
        centres = np.stack([means[~second].sum(axis=0), means[second].sum(axis=0)])
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    return second
