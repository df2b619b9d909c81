"""The linear model with sparse weights: a sparse row a class, memory O(nnz(W) + K).

For methods that update few classes and have mostly zero weights. Rows are SciPy sparse arrays here,
also for dense datasets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Rows
from xcbench.core.models.model import Model


def sparse_rows(X: Rows, index: np.ndarray | slice, dtype: np.dtype) -> sp.csr_array:
    """Gather rows of a dataset as a sparse array, in the model's precision."""
    chosen: Any = X[index]
    return sp.csr_array(chosen, dtype=dtype)


class ClassRows:
    """Sparse rows (K, D), each in its own arrays, so that an update costs the changed rows only.

    Parameters
    ----------
    n_classes, n_features, dtype : K, D and the precision of the values.
    """

    def __init__(self, n_classes: int, n_features: int, dtype: np.dtype) -> None:
        self.shape, self.dtype = (n_classes, n_features), dtype
        self.features = [np.empty(0, np.int32)] * n_classes
        self.values = [np.empty(0, dtype)] * n_classes
        self.counts = np.zeros(n_classes, np.int64)

    def take(self, classes: np.ndarray) -> sp.csr_array:
        """Rows (C, D) of some classes."""
        start = np.concatenate([[0], np.cumsum(self.counts[classes])])
        features = [np.empty(0, np.int32), *(self.features[k] for k in classes)]
        values = [np.empty(0, self.dtype), *(self.values[k] for k in classes)]
        shape = len(classes), self.shape[1]
        return sp.csr_array((np.concatenate(values), np.concatenate(features), start), shape)

    def put(self, classes: np.ndarray, rows: sp.csr_array) -> None:
        """Replace the rows of distinct classes; copies, since a view would keep all of them."""
        rows.sort_indices()
        self.counts[classes] = np.diff(rows.indptr)
        for k, a, b in zip(classes, rows.indptr[:-1], rows.indptr[1:], strict=True):
            self.features[k] = rows.indices[a:b].astype(np.int32)
            self.values[k] = rows.data[a:b].astype(self.dtype)

    def add(self, classes: np.ndarray, changes: sp.csr_array) -> None:
        """Add to the rows of distinct classes."""
        self.put(classes, self.take(classes) + changes)

    def multiply(self, factor: float) -> None:
        """Multiply every row."""
        self.values = [values * self.dtype.type(factor) for values in self.values]

    def matrix(self) -> sp.csr_array:
        """All rows (K, D)."""
        return self.take(np.arange(self.shape[0]))


class InvertedIndex:
    """Weights stored by feature, for exact scores of all classes as sparse times sparse.

    Parameters
    ----------
    W : (K, D).
    engine : ``numpy`` or ``numba``, which computes the product.
    """

    def __init__(self, W: sp.csr_array, engine: str) -> None:
        self.by_feature, self.engine = W.tocsc(), engine

    def scores(self, X: sp.csr_array) -> np.ndarray:
        """Inner products (B, K)."""
        W = self.by_feature
        if self.engine != "numba":
            return np.asarray((X @ W.T).toarray())
        from xcbench.core import kernels

        scores = np.zeros((X.shape[0], W.shape[0]), W.dtype)
        kernels.scores_by_feature(X.indptr, X.indices, X.data, W.indptr, W.indices, W.data, scores)
        return scores


class Mean:
    """Mean of the iterates W_1, ..., W_T, where W_t = a_t V_t and few rows of V change at a time.

    With V_t = sum_{s <= t} d_s and A_t = sum_{s <= t} a_s, sum_t a_t V_t = A_T V_T - sum_s A_{s-1}
    d_s. So a step costs only the rows that it changes.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.correction = ClassRows(*shape, np.dtype(np.float64))
        self.weight, self.iterates = 0.0, 0

    def moved(self, classes: np.ndarray, difference: sp.csr_array) -> None:
        """Record that rows of V changed."""
        self.correction.add(classes, self.weight * difference)

    def count(self, scale: float) -> None:
        """Add the present W to the mean."""
        self.weight += scale
        self.iterates += 1

    def folded(self, V: sp.csr_array) -> None:
        """Record that the scale was folded into V; the sums so far do not contain it."""
        everything = np.arange(V.shape[0])
        self.correction.add(everything, -self.weight * V)
        self.weight = 0.0

    def of(self, V: sp.csr_array) -> sp.csr_array:
        """The mean."""
        return (self.weight * V - self.correction.matrix()) / max(1, self.iterates)


class SparseModel(Model):
    """Scores f_c(x) = x·w_c of K classes, with sparse w_c.

    Parameters
    ----------
    engine : ``numpy`` or ``numba``.
    n_classes, n_features, dtype : K, D and the precision of the weights.
    cosine : predict by cos(x, w_c) instead of x·w_c.
    average : evaluate the mean of the iterates (theorems 2 and 3 of MEMOIR).

    Notes
    -----
    Weights are ``scale · V``, so that shrinking is O(1); ||V||² is kept up to date. ``folds``
    counts how often the scale was folded into V. Classes without any weight are never predicted.
    Their score 0 would win whenever all other scores are negative, and they have no cosine.
    """

    link = None

    def __init__(
        self,
        engine: str,
        n_classes: int,
        n_features: int,
        dtype: str,
        cosine: bool = False,
        average: bool = False,
    ) -> None:
        self.engine, self.dtype, self.cosine = engine, np.dtype(dtype), cosine
        self.V = ClassRows(n_classes, n_features, self.dtype)
        self.scale, self.square, self.folds = 1.0, 0.0, 0
        self.mean = Mean(self.V.shape) if average else None

    @classmethod
    def of(cls, W: sp.csr_array) -> SparseModel:
        """Model with these weights (K, D)."""
        model = cls("numpy", *W.shape, str(W.dtype))
        model.move(np.arange(W.shape[0]), W)
        return model

    @property
    def n_classes(self) -> int:
        """K."""
        return self.V.shape[0]

    @property
    def seen(self) -> np.ndarray:
        """Whether a class has any weight, (K,)."""
        return self.V.counts > 0

    @property
    def untrained(self) -> bool:
        """Whether every weight is 0."""
        return not self.V.counts.any()

    def move(
        self,
        classes: np.ndarray,
        changes: sp.csr_array,
        threshold: float = 0.0,
        limit: float = 0.0,
    ) -> None:
        """Add to the weights of distinct classes (C,), then soft-threshold them.

        Parameters
        ----------
        changes : (C, D).
        threshold : theta of sign(w) max(|w| - theta, 0) (MEMOIR, Eq. 13).
        limit : if thresholding changes a class by more than this share of its length, it is
            skipped; 0: no limit.
        """
        old = self.V.take(classes)
        new = sp.csr_array(old + changes / self.scale)
        if threshold:
            shorter = np.maximum(np.abs(new.data) - threshold / self.scale, 0.0)
            new.data = np.copysign(_limited(new, shorter, limit) if limit else shorter, new.data)
        new = new.astype(self.dtype)
        new.eliminate_zeros()
        self.square += _square(new) - _square(old)
        self.V.put(classes, new)
        if self.mean is not None:
            self.mean.moved(classes, sp.csr_array(new - old))

    def replace(self, W: sp.csr_array) -> None:
        """Replace all weights (K, D)."""
        self.scale = 1.0
        self.V.put(np.arange(self.n_classes), W)
        self.square = _square(W)

    def shrink(self, factor: float) -> None:
        """Multiply all weights by a positive factor."""
        self.scale *= factor
        if not 1e-6 < self.scale < 1e6:
            if self.mean is not None:
                self.mean.folded(self.V.matrix())
            self.V.multiply(self.scale)
            self.square, self.scale = self.scale**2 * self.square, 1.0
            self.folds += 1

    def end_step(self) -> None:
        """Add the weights to the mean of the iterates."""
        if self.mean is not None:
            self.mean.count(self.scale)

    def square_norm(self) -> float:
        """||W||² of the last iterate."""
        return self.scale**2 * max(0.0, self.square)

    def lengths(self) -> np.ndarray:
        """Euclidean norms (K,) of the rows of V."""
        return np.array([np.linalg.norm(values.astype(np.float64)) for values in self.V.values])

    def at(self, X: sp.csr_array, classes: np.ndarray) -> np.ndarray:
        """Scores (B, C) in float64 of chosen classes (B, C): looks up x's features in w_c."""
        distinct, place = np.unique(classes, return_inverse=True)
        W, width = self.V.take(distinct), self.V.shape[1]
        if not W.nnz:
            return np.zeros(classes.shape)
        keys = np.repeat(np.arange(len(distinct)) * width, np.diff(W.indptr)) + W.indices
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        scores = np.empty(classes.shape)
        for column, of_column in zip(scores.T, place.reshape(classes.shape).T, strict=True):
            sought = of_column[row] * width + X.indices
            at = np.minimum(np.searchsorted(keys, sought), W.nnz - 1)
            terms = np.where(keys[at] == sought, W.data[at], 0.0) * X.data
            column[:] = np.bincount(row, terms, minlength=X.shape[0])
        return self.scale * scores

    def evaluated(self) -> sp.csr_array:
        """W (K, D) for evaluation: the last iterate, or the mean of all."""
        V = self.V.matrix()
        if self.mean is not None and self.mean.iterates:
            return sp.csr_array(self.mean.of(V)).astype(self.dtype)
        return V * self.dtype.type(self.scale)

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores or cosines of all classes for all rows of X, in blocks of rows."""
        W = self.evaluated()
        lengths = np.sqrt(np.asarray(W.multiply(W).sum(axis=1))).ravel()
        index = InvertedIndex(W, self.engine)
        for block in self.parts(X.shape[0]):
            scores = index.scores(sparse_rows(X, block, self.dtype))
            if self.cosine:
                scores /= np.where(lengths > 0, lengths, 1)
            scores[:, lengths == 0] = -np.inf
            yield block, scores

    def weights(self) -> dict[str, np.ndarray]:
        """W (K, D) as the three arrays of a sparse array by rows."""
        W = self.evaluated()
        return {"values": W.data, "features": W.indices, "start": W.indptr}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set W, which may be a mean of iterates."""
        arrays = state["values"], state["features"], state["start"]
        W = sp.csr_array(arrays, self.V.shape)
        self.V.put(np.arange(self.n_classes), W)
        self.scale, self.square, self.mean = 1.0, _square(W), None

    @property
    def nonzeros(self) -> int:
        """Number of nonzero weights used in evaluation."""
        return int(self.V.counts.sum()) if self.mean is None else int(self.evaluated().nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of the values, indices and row pointers."""
        return self.nonzeros * (self.dtype.itemsize + 4) + 8 * (self.n_classes + 1)


def _square(rows: sp.csr_array) -> float:
    """Sum of the squares of all values, in float64."""
    return float(np.sum(np.square(rows.data, dtype=np.float64)))


def _limited(W: sp.csr_array, shorter: np.ndarray, limit: float) -> np.ndarray:
    """Absolute values: the shorter ones in rows whose length they change little enough."""
    row = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    longer = np.abs(W.data)
    change, length = (np.bincount(row, part**2, W.shape[0]) for part in (longer - shorter, longer))
    return np.where((change <= limit**2 * length)[row], shorter, longer)
