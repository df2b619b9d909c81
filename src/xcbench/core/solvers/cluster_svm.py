"""One-vs-rest machines whose negatives are the rows of a cluster of labels.

A row is confused with few classes, and most of them are in the clusters of its labels. So the
machine of a class trains on the rows that have a label of its cluster. Which clusters a row has is
learnt by machines too, on all rows. It is a label tree of two levels; Parabel's are binary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xcbench.core import label_clusters
from xcbench.core.dataset import Dataset, square_norms
from xcbench.core.models.clustered import ClusteredModel
from xcbench.core.models.sparse import sparse_rows
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.dual_descent import at_once, machines_by
from xcbench.system import threads

TOGETHER = 64  # machines that visit rows together, with dense weights
CORES = 4  # that have some of them, at most


@dataclass
class ClusterMachines(Solver):
    """Train clusterings one after the other; iterations are clusters, an epoch all of them.

    Attributes
    ----------
    size : classes in a cluster at most.
    clusterings : how many; their probabilities are added.
    C, tolerance, passes : of the machines.
    threshold : weights nearer to 0 are dropped.
    unit : whether rows are scaled to length 1.
    """

    size: int
    clusterings: int
    C: float
    tolerance: float
    passes: int
    threshold: float
    unit: bool
    min_epochs = 0.0

    @property
    def epochs(self) -> float:
        """All clusterings."""
        return 1.0

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> ClusteredModel:
        """A model without clusterings."""
        return ClusteredModel(engine, (n_classes, n_features), dtype, self.unit)

    def fit(
        self, dataset: Dataset, model: ClusteredModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Train the clusterings, as far as each stop says."""
        yield Progress(0, 0, 0.0)
        split = dataset.train.original_rows()
        X = model.scaled(sparse_rows(split.X, slice(None), np.dtype(np.float64)))
        Y = split.labels(model.n_classes).astype(np.float64)
        for stop in stops:
            while len(model.cluster) < round(stop * self.clusterings):
                self.add(X, Y, model, streams.classes)
            share = len(model.cluster) / self.clusterings
            left = f"{len(model.cluster)} of {self.clusterings} clusterings" if share < 1 else None
            seen = round(share * len(dataset.train))
            yield Progress(model.matcher.shape[0], seen, share, 0.0, message=left)

    def add(
        self, X: sp.csr_array, Y: sp.csr_array, model: ClusteredModel, rng: np.random.Generator
    ) -> None:
        """Train a clustering: clusters, the machines of each one's classes, those of clusters."""
        cluster = label_clusters.balanced(X, Y, self.size, rng)
        K, clusters = model.n_classes, int(cluster.max()) + 1
        member = sp.csr_array((np.ones(K), (np.arange(K), cluster)), shape=(K, clusters))
        of_clusters = sp.csc_array(Y @ member)
        of_classes, by_place = sp.csc_array(Y), np.argsort(cluster, kind="stable")
        bounds = np.searchsorted(cluster[by_place], np.arange(clusters + 1))
        trained = []
        for c in range(clusters):
            classes = by_place[bounds[c] : bounds[c + 1]]
            rows = np.sort(of_clusters.indices[of_clusters.indptr[c] : of_clusters.indptr[c + 1]])
            trained.append(self.trained(X, rows, of_classes[:, classes], model, rng))
        classes_W = sp.vstack(trained, format="csr")[np.argsort(by_place)]
        every = np.arange(X.shape[0])
        model.add(self.trained(X, every, of_clusters, model, rng), classes_W, cluster)

    def trained(
        self,
        X: sp.csr_array,
        rows: np.ndarray,
        Y: sp.csc_array,
        model: ClusteredModel,
        rng: np.random.Generator,
    ) -> sp.csr_array:
        """Sparse machines (k, D + 1) of the columns of Y (N, k), on some rows, which have all."""
        some, features = present(X[rows])
        orders = rng.permuted(np.tile(np.arange(len(rows)), (self.passes, 1)), axis=1)
        firsts = range(0, Y.shape[1], TOGETHER)
        parts: list[sp.csr_array] = [sp.csr_array((0, len(features) + 1))] * len(firsts)

        def train(share: slice) -> None:
            for part in range(len(parts))[share]:
                labels = sp.csc_array(Y[:, firsts[part] : firsts[part] + TOGETHER])
                places = np.searchsorted(rows, labels.indices)
                shape = len(rows), labels.shape[1]
                labels = sp.csc_array((labels.data, places, labels.indptr), shape=shape)
                parts[part] = self.sparse_machines(some, labels, orders, model)

        threads.each(train, at_once(model.engine, len(parts), CORES))
        machines = sp.vstack(parts, format="csr")
        indices = np.append(features, X.shape[1]).astype(np.int32)[machines.indices]
        shape = Y.shape[1], X.shape[1] + 1
        return sp.csr_array((machines.data, indices, machines.indptr), shape=shape)

    def sparse_machines(
        self, X: sp.csr_array, Y: sp.csc_array, orders: np.ndarray, model: ClusteredModel
    ) -> sp.csr_array:
        """Machines (k, D + 1) that train together, without small weights."""
        arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data
        start, W = Y.indptr.astype(np.int64), np.zeros((X.shape[1] + 1, Y.shape[1]))
        train = machines_by(model.engine)
        train(arrays, square_norms(X), start, Y.indices, orders, self.C, self.tolerance, W)
        small = np.abs(W) < self.threshold
        small[-1] = False
        return sp.csr_array(np.where(small, 0, W), dtype=model.dtype).T.tocsr()


def present(X: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of the features that occur in them alone, and which these are.

    Weights of few features stay in a cache.
    """
    occurs = np.bincount(X.indices, minlength=X.shape[1]) > 0
    features, place = np.flatnonzero(occurs), np.cumsum(occurs, dtype=X.indices.dtype) - 1
    shape = X.shape[0], len(features)
    return sp.csr_array((X.data, place[X.indices], X.indptr), shape=shape), features
