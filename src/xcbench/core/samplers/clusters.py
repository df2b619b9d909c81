"""Negatives that are alike: classes of the true one's cluster, and uniform ones.

Most of K classes are never mistaken for the true one. Those whose rows are alike are: a label tree
trains on no others (Prabhu et al. 2018). A share of uniform draws keeps every q above 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from xcbench.core import label_clusters
from xcbench.core.dataset import Dataset
from xcbench.core.samplers.absent import Absent
from xcbench.core.samplers.proposal import Drawn, Proposal
from xcbench.core.samplers.sampler import Draw


def _none() -> np.ndarray:
    return np.zeros(1, np.int64)


@dataclass(frozen=True)
class Clusters(Proposal):
    """q(k|y) = s [c(k) = c(y)] / (|c(y)| - 1) + (1 - s) / (K - 1), of classes other than y.

    s is ``near``, and 0 where y is alone in its cluster c(y).

    Attributes
    ----------
    size : classes in a cluster at most; 0: the root of K.
    cluster : (K,) cluster of every class.
    order : (K,) classes, cluster after cluster.
    start : place in ``order`` where a cluster begins, and K.
    place : (K,) place of every class in ``order``.
    """

    size: int = 0
    near: float = 0.5
    cluster: np.ndarray = field(default_factory=_none)
    order: np.ndarray = field(default_factory=_none)
    start: np.ndarray = field(default_factory=_none)
    place: np.ndarray = field(default_factory=_none)

    def fitted(self, dataset: Dataset) -> Clusters:
        """With clusters of the training rows' labels; the same for every seed."""
        train, K = dataset.train.original_rows(), len(dataset.class_counts)
        size = self.size or label_clusters.root(K)
        cluster = label_clusters.balanced(
            sp.csr_array(train.X), train.labels(K), size, np.random.default_rng(0)
        )
        order = np.argsort(cluster, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(cluster))])
        return replace(
            self, cluster=cluster, order=order, start=start, place=np.argsort(order, kind="stable")
        )

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Draws with replacement; numbers from y's on are shifted by one."""
        shape, K = (len(y), negatives), len(self.cluster)
        first = self.start[self.cluster[y]][:, None]
        alike = self.start[self.cluster[y] + 1][:, None] - first - 1
        share = np.where(alike > 0, self.near, 0.0)
        near = first + rng.integers(0, np.maximum(alike, 1), shape)
        far = rng.integers(0, K - 1, shape)
        drawn = np.where(
            rng.random(shape) < share,
            self.order[np.minimum(near + (near >= self.place[y][:, None]), K - 1)],
            far + (far >= y[:, None]),
        )
        inside = self.cluster[drawn] == self.cluster[y][:, None]
        q = np.where(inside, share / np.maximum(alike, 1), 0.0) + (1 - share) / (K - 1)
        return drawn, np.log(q)


@dataclass(frozen=True)
class AbsentClusters(Absent):
    """As `Absent`, but draws come from `Clusters` of the sample's label; weight 1 / (m q P).

    Without bias: a draw that is a label of the row stands for nothing.
    """

    proposal: Clusters = field(default_factory=Clusters)

    def fitted(self, dataset: Dataset) -> AbsentClusters:
        """With the labels of the training rows, and their clusters."""
        fitted = super().fitted(dataset)
        proposal = self.proposal.fitted(dataset)
        return replace(self, keys=fitted.keys, counts=fitted.counts, proposal=proposal)

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws of each sample by itself; a label of the row has log-weight minus infinity."""
        drawn, log_q = self.proposal.others(rng, rows, y, self.negatives)
        log_weight = -log_q - np.log(self.negatives * self.counts[rows])[:, None]
        return drawn, np.where(self.of_row(rows, drawn), -np.inf, log_weight)
