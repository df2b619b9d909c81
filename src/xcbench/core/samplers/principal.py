"""Principal components of rows, dense or sparse, in memory or mapped into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from xcbench.core.dataset import Rows

BLOCK_NUMBERS = 1 << 22  # features converted to float64 at a time
TINY = np.finfo(float).tiny  # where no feature varies, every coordinate is 0
WIDEST = 2048  # features up to which the covariance matrix is made


@dataclass(frozen=True)
class Projection:
    """z = x·A - c, of k coordinates.

    Attributes
    ----------
    A : (D, k).
    c : (k,), the projected mean of the rows it was fitted on.
    """

    A: np.ndarray
    c: np.ndarray

    def __call__(self, X: Rows) -> np.ndarray:
        """Coordinates (B, k) of rows (B, D), in float32."""
        size = max(1, BLOCK_NUMBERS // max(1, X.shape[1]))
        blocks = [X[i : i + size] @ self.A - self.c for i in range(0, X.shape[0], size)]
        return np.concatenate(blocks).astype(np.float32)


def fitted(X: Rows, k: int, whitened: bool, unit_variance: bool = False) -> Projection:
    """Leading principal components; the largest coefficient of each axis is positive.

    Parameters
    ----------
    X : (N, D) rows.
    k : number of coordinates, at most D.
    whitened : scale every feature to unit variance first, and every coordinate too. Constant
        features are left out; if all are constant, every coordinate is 0.
    unit_variance : scale every coordinate, but not the features, to unit variance.
    """
    k = min(k, X.shape[1])
    mean, square = moments(X)
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    varies = deviation > 1e-6 * np.sqrt(square)
    unit = np.where(varies, deviation, np.inf) if whitened else np.ones_like(mean)
    values, axes = leading(X, mean, 1 / unit, k)
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(k)])
    A = axes / unit[:, None]
    if whitened or unit_variance:
        smallest = max(np.finfo(np.float32).eps * values.max(), TINY)
        A /= np.sqrt(np.maximum(values, smallest))
    return Projection(A, mean @ A)


def moments(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,) of the features and of their squares."""
    total, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for block in _blocks(X):
        total += np.ones(block.shape[0]) @ block
        square += np.ones(block.shape[0]) @ (block * block)
    return total / X.shape[0], square / X.shape[0]


def leading(X: Rows, mean: np.ndarray, scale: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest k eigenvalues, descending, and eigenvectors (D, k), of the scaled covariance."""
    N, D = X.shape
    if D <= WIDEST:
        inner = np.zeros((D, D))
        for block in _blocks(X):
            inner += block.T @ block
        covariance = (inner / N - np.outer(mean, mean)) * np.outer(scale, scale)
        values, axes = np.linalg.eigh(covariance)
        return values[::-1][:k], axes[:, ::-1][:, :k].copy()

    def covariant(v: np.ndarray) -> np.ndarray:
        """The scaled covariance times a vector, without the matrix."""
        v = scale * v.ravel()
        return np.asarray(scale * (X.T @ (X @ v) / N - mean * (mean @ v)))

    operator: Any = LinearOperator((D, D), matvec=covariant, dtype=np.float64)
    # A fixed start: the result depends on X alone.
    start: Any = np.random.default_rng(0).normal(size=D)
    values, axes = eigsh(operator, k, v0=start)
    return values[::-1], axes[:, ::-1].copy()


def _blocks(X: Rows) -> Iterator[Any]:
    """Blocks of rows in float64."""
    size = max(1, BLOCK_NUMBERS // max(1, X.shape[1]))
    for first in range(0, X.shape[0], size):
        yield X[first : first + size].astype(np.float64)
