"""Machines of clusters and of their classes: a label tree of two levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Rows
from xcbench.core.models.forest import of_unit_length
from xcbench.core.models.model import Model
from xcbench.core.models.sparse import InvertedIndex, sparse_rows

PARTS = ("data", "indices", "indptr")


class ClusteredModel(Model):
    """The score of a class is log sum_t p_t(its cluster) p_t(class), over several clusterings.

    A machine's score s counts as the log probability -max(0, 1 - s)² (Prabhu et al. 2018).

    Attributes
    ----------
    matcher : (clusters, D + 1) machines of all clusters of all clusterings; the last is a bias.
    classes : (T K, D + 1) machines of the classes, a clustering after the other.
    cluster : (T, K) row of ``matcher`` that stands for a class's cluster.
    unit : whether rows are scaled to length 1.
    """

    link = None

    def __init__(self, engine: str, shape: tuple[int, int], dtype: str, unit: bool = False) -> None:
        self.engine, self.shape, self.dtype, self.unit = engine, shape, np.dtype(dtype), unit
        self.matcher = sp.csr_array((0, shape[1] + 1), dtype=self.dtype)
        self.classes = sp.csr_array((0, shape[1] + 1), dtype=self.dtype)
        self.cluster = np.zeros((0, shape[0]), np.int64)

    def add(self, matcher: sp.csr_array, classes: sp.csr_array, cluster: np.ndarray) -> None:
        """Add a clustering."""
        moved = cluster + self.matcher.shape[0]
        self.matcher = sp.vstack([self.matcher, matcher], format="csr", dtype=self.dtype)
        self.classes = sp.vstack([self.classes, classes], format="csr", dtype=self.dtype)
        self.cluster = np.vstack([self.cluster, moved])

    @property
    def n_classes(self) -> int:
        """K."""
        return self.shape[0]

    @property
    def untrained(self) -> bool:
        """Whether there is no clustering."""
        return not len(self.cluster)

    @property
    def nonzeros(self) -> int:
        """Of all machines."""
        return int(self.matcher.nnz + self.classes.nnz)

    @property
    def nbytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in self.weights().values())

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of all rows of X, a block of rows at a time."""
        machines = [
            (InvertedIndex(W[:, :-1], self.engine), W[:, [-1]].toarray()[:, 0])
            for W in (self.matcher, self.classes)
        ]
        for block in self.parts(X.shape[0]):
            rows = self.scaled(sparse_rows(X, block, self.dtype))
            of_clusters, of_classes = (
                -np.square(np.maximum(0, 1 - index.scores(rows) - b)) for index, b in machines
            )
            yield block, self.combined(of_clusters, of_classes)

    def scaled(self, rows: sp.csr_array) -> sp.csr_array:
        """Rows as machines take them."""
        return of_unit_length(rows).astype(rows.dtype) if self.unit else rows

    def combined(self, of_clusters: np.ndarray, of_classes: np.ndarray) -> np.ndarray:
        """Scores (B, K) from log probabilities (B, clusters) and (B, T K)."""
        if self.untrained:
            return np.zeros((len(of_classes), self.n_classes), self.dtype)
        by_clustering = of_classes.reshape(-1, *self.cluster.shape)
        logs = by_clustering + of_clusters[:, self.cluster]
        if len(self.cluster) == 1:
            return np.asarray(logs[:, 0])
        highest = logs.max(axis=1, keepdims=True)
        return np.asarray(highest[:, 0] + np.log(np.exp(logs - highest).sum(axis=1)))

    def square_norm(self) -> float:
        """||W||² of all machines."""
        numbers = np.concatenate([self.matcher.data, self.classes.data])
        return float(np.square(numbers, dtype=np.float64).sum())

    def weights(self) -> dict[str, np.ndarray]:
        """Arrays of both sparse matrices, and the clusters."""
        arrays = {
            f"{name}_{part}": getattr(matrix, part)
            for name, matrix in (("matcher", self.matcher), ("classes", self.classes))
            for part in PARTS
        }
        return {**arrays, "cluster": self.cluster}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore what `state` returned."""
        self.cluster = state["cluster"]
        self.matcher, self.classes = (
            sp.csr_array(
                tuple(state[f"{name}_{part}"] for part in PARTS),
                shape=(len(state[f"{name}_indptr"]) - 1, self.shape[1] + 1),
            )
            for name in ("matcher", "classes")
        )
