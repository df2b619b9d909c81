"""The exact oracle: inner products of sparse rows and sparse weights, through an inverted index."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.sparse import InvertedIndex, SparseModel


class Exact:
    """The class with the highest score (Eq. 1), the lower number among equals; epsilon is 0."""

    by_score = True

    def __init__(self) -> None:
        self.cached: InvertedIndex | None = None

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Discard the index."""
        self.cached = None

    def index(self, model: SparseModel) -> InvertedIndex:
        """Index of the present weights, without their scale."""
        if self.cached is None:
            self.cached = InvertedIndex(model.V.matrix(), model.engine)
        return self.cached

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """The best class but y."""
        index, without = self.index(model), ~model.seen
        rivals = np.empty(len(y), np.int64)
        for block in model.parts(len(y)):
            scores = index.scores(X[block])
            scores[:, without] = -np.inf
            scores[np.arange(len(scores)), y[block]] = -np.inf
            best = scores.argmax(axis=1)
            none = scores[np.arange(len(scores)), best] == -np.inf
            rivals[block] = np.where(none, -1, best)
        return rivals
