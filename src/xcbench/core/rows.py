"""Rows of a dataset in the precision of a model: sparse or dense, taken by their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Rows


@dataclass(slots=True)
class SparseRows:
    """B sparse rows: row i holds ``values[start[i]:start[i+1]]`` at those ``features``."""

    start: np.ndarray
    features: np.ndarray
    values: np.ndarray
    width: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def part(self, first: int, last: int) -> SparseRows:
        """Rows first..last-1, without copying."""
        begin, end = self.start[first], self.start[last]
        return SparseRows(
            self.start[first : last + 1] - begin,
            self.features[begin:end],
            self.values[begin:end],
            self.width,
        )

    def __iter__(self) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        """Features and values of one row after the other."""
        bounds = self.start.tolist()
        for a, b in itertools.pairwise(bounds):
            yield self.features[a:b], self.values[a:b]

    def matrix(self) -> sp.csr_array:
        """The rows as a SciPy array."""
        return sp.csr_array((self.values, self.features, self.start), shape=(len(self), self.width))

    def narrow(self) -> tuple[np.ndarray | slice, sp.csr_array]:
        """The F features that occur, and the rows (B, F) at them alone.

        Gives all D features if many occur or may occur. Whole weights are then faster than chosen
        columns, at a cost proportional to the non-zeros.
        """
        if len(self.features) < self.width:
            distinct, place = np.unique(self.features, return_inverse=True)
            if 4 * len(distinct) < self.width:
                place, shape = place.astype(self.start.dtype), (len(self), len(distinct))
                return distinct, sp.csr_array((self.values, place, self.start), shape=shape)
        return slice(None), self.matrix()


@dataclass(slots=True)
class DenseRows:
    """B dense rows X (B, D)."""

    X: np.ndarray

    def __len__(self) -> int:
        return len(self.X)

    def part(self, first: int, last: int) -> DenseRows:
        """Rows first..last-1, without copying."""
        return DenseRows(self.X[first:last])

    def __iter__(self) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        """Features (all of them) and values of one row after the other."""
        for x in self.X:
            yield slice(None), x

    def matrix(self) -> np.ndarray:
        """The rows as an array."""
        return self.X

    def narrow(self) -> tuple[slice, np.ndarray]:
        """All features, and the rows."""
        return slice(None), self.X


def take(X: Rows, index: np.ndarray | slice, dtype: np.dtype) -> SparseRows | DenseRows:
    """Gather rows of a dataset in the model's precision."""
    if isinstance(X, np.ndarray):
        return DenseRows(np.asarray(X[index], dtype))
    chosen = X[index]
    return SparseRows(
        chosen.indptr, chosen.indices, chosen.data.astype(dtype, copy=False), X.shape[1]
    )


def gram(X: Rows, index: np.ndarray) -> np.ndarray:
    """Inner products (B, B) of rows of a dataset, in float64."""
    chosen = take(X, index, np.dtype(np.float64)).matrix()
    inner = chosen @ chosen.T
    return inner if isinstance(inner, np.ndarray) else np.asarray(inner.todense())
