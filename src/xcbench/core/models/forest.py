"""Trees of sparse hyperplanes over the rows, with distributions over classes in their leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from xcbench.core.dataset import Rows, square_norms
from xcbench.core.models.model import Model
from xcbench.core.models.sparse import sparse_rows


@dataclass(frozen=True)
class Tree:
    """A binary tree; node 0 is its root.

    Attributes
    ----------
    W, b : (nodes, D) and (nodes,): a row goes right where x·w + b >= 0.
    children : (nodes, 2) the nodes to the left and to the right; -1 - l for leaf l.
    leaves : (L, K) distribution over the classes in every leaf.
    """

    W: sp.csr_array
    b: np.ndarray
    children: np.ndarray
    leaves: sp.csr_array

    def leaf_of(self, X: sp.csr_array, engine: str) -> np.ndarray:
        """Leaf (N,) that every row comes to."""
        if engine == "numba":
            from xcbench.core.kernels.trees import leaf_of

            W, reached = self.W, np.empty(X.shape[0], np.int64)
            rows, planes = (X.indptr, X.indices, X.data), (W.indptr, W.indices, W.data)
            leaf_of(rows, planes, self.b, self.children, np.zeros(X.shape[1]), reached)
            return reached
        place = np.full(X.shape[0], 0 if len(self.children) else -1)
        while (inside := np.flatnonzero(place >= 0)).size:
            node = place[inside]
            score = X[inside].multiply(self.W[node]).sum(axis=1) + self.b[node]
            place[inside] = self.children[node, (score >= 0).astype(np.int64)]
        return -1 - place

    @property
    def nonzeros(self) -> int:
        """Numbers that are not 0, of hyperplanes and leaves."""
        return int(self.W.nnz + np.count_nonzero(self.b) + self.leaves.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [self.b, self.children]
        for matrix in (self.W, self.leaves):
            arrays += [matrix.data, matrix.indices, matrix.indptr]
        return sum(array.nbytes for array in arrays)


class Forest(Model):
    """Scores are the mean, over the trees, of the distribution in a row's leaf.

    Parameters
    ----------
    engine, dtype : what walks down the trees, and the precision of the scores.
    shape : K and D.
    """

    link = None

    def __init__(self, engine: str, shape: tuple[int, int], dtype: str) -> None:
        self.engine, self.shape, self.dtype = engine, shape, np.dtype(dtype)
        self.trees: list[Tree] = []

    @property
    def n_classes(self) -> int:
        """K."""
        return self.shape[0]

    @property
    def untrained(self) -> bool:
        """Whether there is no tree."""
        return not self.trees

    @property
    def nonzeros(self) -> int:
        """Of all trees."""
        return sum(tree.nonzeros for tree in self.trees)

    @property
    def nbytes(self) -> int:
        """Of all trees."""
        return sum(tree.nbytes for tree in self.trees)

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Means of the leaves, for all rows of X, a block of rows at a time."""
        for block in self.parts(X.shape[0]):
            yield block, self.scores(sparse_rows(X, block, np.dtype(np.float64)))

    def scores(self, X: sp.csr_array) -> np.ndarray:
        """Scores (B, K) of a few rows."""
        if self.untrained:
            return np.zeros((X.shape[0], self.n_classes), self.dtype)
        first = np.cumsum([0, *(tree.leaves.shape[0] for tree in self.trees)])
        leaf = np.stack([tree.leaf_of(X, self.engine) for tree in self.trees], axis=1) + first[:-1]
        start = np.arange(X.shape[0] + 1) * len(self.trees)
        member = sp.csr_array(
            (np.full(leaf.size, 1 / len(self.trees)), leaf.ravel(), start), (len(leaf), first[-1])
        )
        total = member @ sp.vstack([tree.leaves for tree in self.trees], format="csr")
        return total.toarray().astype(self.dtype)

    def square_norm(self) -> float:
        """||W||² + ||b||² of all hyperplanes."""
        planes = [array for tree in self.trees for array in (tree.W.data, tree.b)]
        return float(sum(np.sum(np.square(array, dtype=np.float64)) for array in planes))

    def weights(self) -> dict[str, np.ndarray]:
        """None: a forest is not saved."""
        return {}

    def state(self) -> dict[str, np.ndarray]:
        """Number of trees (1,)."""
        return {"trees": np.array([len(self.trees)])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Keep the trees that there were; later ones grew behind them."""
        (size,) = state["trees"]
        del self.trees[size:]


class ReRankedForest(Forest):
    """`Forest` re-ranked by the distance of a row to the mean of a class (Jain et al. 2016).

    score_k = p_k^alpha r_k^(1 - alpha), with r_k = 1 / (1 + exp(gamma |x - mu_k|²)), for rows of
    length 1. Their published code has gamma where their text has gamma / 2.

    Attributes
    ----------
    means : mu (K, D).
    """

    def __init__(
        self,
        engine: str,
        shape: tuple[int, int],
        dtype: str,
        alpha: float = 0.8,
        gamma: float = 30.0,
    ) -> None:
        super().__init__(engine, shape, dtype)
        self.alpha, self.gamma = alpha, gamma
        self.means = sp.csr_array(self.shape)

    def scores(self, X: sp.csr_array) -> np.ndarray:
        """Scores (B, K) of a few rows."""
        trees = super().scores(X).astype(np.float64)
        unit = of_unit_length(X)
        lengths = square_norms(unit)[:, None] + square_norms(self.means)
        near = expit(-self.gamma * (lengths - 2 * (unit @ self.means.T).toarray()))
        return (trees**self.alpha * near ** (1 - self.alpha)).astype(self.dtype)

    @property
    def nonzeros(self) -> int:
        """Of all trees and means."""
        return super().nonzeros + int(self.means.nnz)

    @property
    def nbytes(self) -> int:
        """Of all trees and means."""
        means = self.means
        return super().nbytes + means.data.nbytes + means.indices.nbytes + means.indptr.nbytes


def of_unit_length(X: sp.csr_array) -> sp.csr_array:
    """Rows divided by their Euclidean norm; rows of zeros stay."""
    length = np.sqrt(square_norms(X))
    return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1)) @ X)
