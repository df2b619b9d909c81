"""The linear model: scores of chosen classes, scores of all classes, scatter-add.

This is the only place that touches X and W, for sparse and dense rows alike. Three methods suffice:
``at(rows, classes)``, ``all(rows)`` and ``add(rows, classes, numbers)``. ``adapt`` replaces ``add``
if a step depends on earlier gradients, and ``descend`` is the loop over minibatches. `make` gives
the model of an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.adaptive import Pace, Squares, adapted
from xcbench.core.batch import Batch, EngineRows
from xcbench.core.dataset import Rows
from xcbench.core.models.weights import ScaledWeights
from xcbench.core.objectives import Objective
from xcbench.core.rows import DenseRows, SparseRows, take

Place = np.ndarray | slice
Places = Place | tuple[Place, Place]  # of weights: an index of an array (K, D)


class LinearModel(ScaledWeights):
    """Scores f_c(x) = x·w_c + b_c of K classes."""

    @classmethod
    def of(
        cls, W: np.ndarray, b: np.ndarray | None = None, link: str | None = "softmax"
    ) -> LinearModel:
        """Model with these weights (K, D), biases (K,) and link."""
        model = cls(W.shape[0], W.shape[1], b is not None, str(W.dtype))
        model.V, model.b, model.link = W, b, link
        return model

    @property
    def corrected(self) -> LinearModel:
        """The model for prediction, with its correction."""
        return Corrected(self, self.correction) if self.correction else self

    def take(self, X: Rows, index: np.ndarray) -> SparseRows | DenseRows:
        """Rows of a dataset, in the form for `at` and `add`."""
        return take(X, index, self.dtype)

    def at(self, rows: SparseRows | DenseRows, classes: np.ndarray) -> np.ndarray:
        """Scores (B, C) in float64 of chosen classes (B, C)."""
        if isinstance(rows, DenseRows):
            distinct, place = np.unique(classes, return_inverse=True)
            of_distinct = rows.X @ self.V[distinct].T
            place = place.reshape(classes.shape)
            scores = np.take_along_axis(of_distinct, place, axis=1).astype(np.float64)
        else:
            scores = self._gathered(rows, classes)
        return self._finished(scores, classes)

    def _finished(self, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Scores with scale and bias."""
        scores *= self.scale
        if self.b is not None:
            scores += self.scale * self.b[classes]
        return scores

    def _gathered(self, rows: SparseRows, classes: np.ndarray) -> np.ndarray:
        count = np.diff(rows.start)
        flat = self._flat(rows, classes, count)
        terms = self.V.ravel().take(flat) * rows.values[:, None]
        scores, some = np.zeros(classes.shape), count > 0
        scores[some] = np.add.reduceat(terms, rows.start[:-1][some], axis=0, dtype=np.float64)
        return scores

    def _flat(self, rows: SparseRows, classes: np.ndarray, count: np.ndarray) -> np.ndarray:
        """Positions in V.ravel() of every (non-zero, class) pair, (nnz, C)."""
        width = self.V.shape[1]
        return np.repeat(classes * width, count, axis=0) + rows.features[:, None]

    def all(self, rows: SparseRows | DenseRows) -> np.ndarray:
        """Scores (B, K) of every class; reads only weights of features that occur."""
        features, X = rows.narrow()
        return self._product(X, self._transposed(X, features))

    def passes(
        self, X: Rows, parts: Iterable[slice] | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of every class for all rows of X, or some parts, in blocks."""
        transposed = self._transposed(X)
        for block, rows in self.blocks(X, parts):
            yield block, self._product(rows.matrix(), transposed)

    def full_batch(self, X: Rows) -> list[tuple[slice, EngineRows]]:
        """Rows of X in blocks, for repeated calls of `all` and `gradient`."""
        return list(self.blocks(X))

    def gradient(self, rows: EngineRows, grad: np.ndarray) -> np.ndarray:
        """Gradient (K, D) with respect to the weights, from gradients (B, K) in the scores."""
        return np.asarray(rows.matrix().T @ grad).T

    def blocks(
        self, X: Rows, parts: Iterable[slice] | None = None
    ) -> Iterator[tuple[slice, SparseRows | DenseRows]]:
        """Consecutive rows of X, as many as the memory for scores allows."""
        for block in self.parts(X.shape[0]) if parts is None else parts:
            yield block, take(X, block, self.dtype)

    def _transposed(self, X: Rows, features: np.ndarray | slice = slice(None)) -> np.ndarray:
        """V.T at these features, laid out for SciPy's product, where rows are sparse."""
        V = self.V[:, features]
        return V.T if isinstance(X, np.ndarray) else np.ascontiguousarray(V.T)

    def _product(self, X: np.ndarray | sp.csr_array, transposed: np.ndarray) -> np.ndarray:
        return self._with_biases(np.asarray(X @ transposed))

    def _with_biases(self, scores: np.ndarray) -> np.ndarray:
        """Scores (B, K) with biases and scale, in place."""
        if self.b is not None:
            scores += self.b
        if self.scale != 1.0:
            scores *= self.dtype.type(self.scale)
        return scores

    def add(self, rows: SparseRows | DenseRows, classes: np.ndarray, numbers: np.ndarray) -> None:
        """w_c += number · x and b_c += number, for the (B, C) pairs; repeated classes add up."""
        numbers = numbers / self.scale
        if isinstance(rows, DenseRows):
            distinct, coefficients = _by_class(classes, numbers)
            self.V[distinct] += coefficients.astype(self.dtype) @ rows.X
        else:
            count = np.diff(rows.start)
            terms = np.repeat(numbers.astype(self.dtype), count, axis=0) * rows.values[:, None]
            np.add.at(self.V.ravel(), self._flat(rows, classes, count), terms)
        if self.b is not None:
            np.add.at(self.b, classes, numbers.astype(self.dtype))

    def adapt(
        self,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        grad: np.ndarray,
        squares: Squares,
        pace: Pace,
    ) -> None:
        """Take an adaptive step along the gradient, the sum of grad · x over the (B, C) pairs.

        Coordinates with gradient 0 do not change, nor do their squares.

        Parameters
        ----------
        classes : (B, C) classes of the gradients, or None for every class.
        squares : squares of the gradients so far, updated in place.
        """
        self._fold()
        where, of_V, distinct, of_b = self._gradient(rows, classes, grad)
        _adapt_at(self.V, squares.V, where, of_V, pace)
        if self.b is not None and squares.b is not None:
            _adapt_at(self.b, squares.b, distinct, of_b, pace)

    def _gradient(
        self, rows: SparseRows | DenseRows, classes: np.ndarray | None, grad: np.ndarray
    ) -> tuple[Any, np.ndarray, Place, np.ndarray]:
        """Indices of the weights that are reached, their gradient; the same of the biases."""
        if classes is None:
            (features, X), grad = rows.narrow(), grad.astype(self.dtype)
            every = slice(None)
            return (every, features), np.asarray(X.T @ grad).T, every, grad.sum(axis=0)
        distinct, coefficients = _by_class(classes, grad)
        coefficients = coefficients.astype(self.dtype)
        if isinstance(rows, DenseRows):
            return distinct, coefficients @ rows.X, distinct, coefficients.sum(axis=1)
        product = (sp.csr_array(coefficients) @ rows.matrix()).tocoo()
        where = distinct[product.row], product.col
        return where, product.data, distinct, coefficients.sum(axis=1)

    def descend(
        self,
        batch: Batch,
        size: int,
        local: np.ndarray,
        rate: float,
        shrinkage: float,
        objective: Objective,
    ) -> float | None:
        """Run SGD over minibatches; returns the sum of their values.

        Returns None and changes nothing if the caller should use arrays. In NumPy that is so for
        all but single samples with one drawn class and an objective of the log-odds.

        Parameters
        ----------
        batch : whole minibatches of ``size`` samples, with drawn classes.
        local : local state of every sample of the dataset, updated in place.
        shrinkage : factor of the weight decay on all weights, a minibatch.
        """
        scalar, log_weight = objective.scalar, batch.log_weight
        assert batch.classes is not None
        one_pair = batch.classes.shape[1] == 2 and not isinstance(log_weight, np.ndarray)
        if not (size == 1 and scalar and scalar.family == "odds" and one_pair):
            return None
        offset, total = log_weight if scalar.weighted else 0.0, 0.0
        samples = (batch.index.tolist(), batch.square_norms.tolist(), batch.classes.tolist())
        for (features, values), i, norm, (y, k) in zip(batch.rows, *samples, strict=True):
            difference = self.difference(features, values, k, y)
            value, of_odds, local[i] = scalar.formula(
                difference + offset, difference, local[i], rate, norm, scalar.parameter
            )
            if shrinkage != 1.0:
                self.shrink(shrinkage)
            self.move(features, values, k, y, -rate * float(of_odds))
            total += float(value)
        return total

    def difference(self, features: np.ndarray | slice, values: np.ndarray, k: int, y: int) -> float:
        """f_k - f_y of one row."""
        difference = float((self.V[k][features] - self.V[y][features]).dot(values))
        if self.b is not None:
            difference += float(self.b[k] - self.b[y])
        return difference * self.scale

    def move(
        self, features: np.ndarray | slice, values: np.ndarray, k: int, y: int, number: float
    ) -> None:
        """w_k += number · x and w_y -= number · x, for one row; nothing where k = y."""
        if k == y:
            return
        change = self.dtype.type(number / self.scale)
        shift = change * values
        self.V[k][features] += shift
        self.V[y][features] -= shift
        if self.b is not None:
            self.b[k] += change
            self.b[y] -= change

    def add_all(self, rows: SparseRows | DenseRows, numbers: np.ndarray) -> None:
        """As `add`, for numbers (B, K) of every class."""
        where, of_V, _, of_b = self._gradient(rows, None, numbers / self.scale)
        self.V[where] += of_V
        if self.b is not None:
            self.b += of_b


class Corrected(LinearModel):
    """A model with a term added to its scores, for evaluation.

    Parameters
    ----------
    term : function of rows (B, D) that gives the terms (B, K) or (K,).
    """

    def __init__(self, model: LinearModel, term: Callable[[Rows], np.ndarray]) -> None:
        self.dtype, self.V, self.b, self.scale = model.dtype, model.V, model.b, model.scale
        self.link, self.term = model.link, term

    @property
    def untrained(self) -> bool:
        """False: scores differ even if all weights are 0."""
        return False

    def _product(self, X: np.ndarray | sp.csr_array, transposed: np.ndarray) -> np.ndarray:
        scores = super()._product(X, transposed)
        scores += self.term(X)
        return scores


def _by_class(classes: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct classes (C,) and the sums (C, B) of their numbers, row by row."""
    distinct, place = np.unique(classes, return_inverse=True)
    sums = np.zeros((len(distinct), len(classes)))
    np.add.at(sums, (place.reshape(classes.shape), np.arange(len(classes))[:, None]), numbers)
    return distinct, sums


def _adapt_at(
    weights: np.ndarray, squares: np.ndarray, where: Places, gradient: np.ndarray, pace: Pace
) -> None:
    """Step of the weights at distinct indices, where the gradient is not 0."""
    w, s, touched = weights[where], squares[where], gradient != 0
    stepped, accumulated = adapted(w, s, gradient, pace)
    weights[where] = np.where(touched, stepped, w)
    squares[where] = np.where(touched, accumulated, s)
