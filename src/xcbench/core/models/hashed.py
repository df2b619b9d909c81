"""Softmax models of few buckets, into which classes are hashed (Medini et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from xcbench.core.dataset import Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import Model


class HashedModel(Model):
    """The score of a class is an estimate of its probability, without bias over the hashes.

    A bucket has the probability of all its classes: P(h(k)) is p_k plus what others of the bucket
    have, on average (1 - p_k) c, where c is the chance that another class shares the bucket. So
    (mean_r P_r(h_r(k)) - c) / (1 - c) estimates p_k. It may be below 0.

    Attributes
    ----------
    buckets : a softmax model of B buckets for each repetition.
    bucket : (R, K) bucket of every class.
    """

    link = None

    def __init__(self, engine: str, n_classes: int, buckets: Sequence[LinearModel]) -> None:
        self.engine, self.dtype, self.buckets = engine, buckets[0].dtype, buckets
        self.bucket = np.zeros((len(buckets), n_classes), np.int64)

    @property
    def n_classes(self) -> int:
        """K."""
        return self.bucket.shape[1]

    @property
    def untrained(self) -> bool:
        """Whether every score is the same."""
        return all(part.untrained for part in self.buckets)

    @property
    def nonzeros(self) -> int | None:
        """Of all repetitions."""
        counts = [part.nonzeros for part in self.buckets]
        return None if None in counts else sum(filter(None, counts))

    @property
    def nbytes(self) -> int:
        """Of all repetitions, and the hashes."""
        return sum(part.nbytes for part in self.buckets) + self.bucket.nbytes

    @property
    def shared(self) -> float:
        """Chance that two classes are in one bucket."""
        sizes = np.bincount(self.bucket[0]).astype(float)
        return float((sizes * (sizes - 1)).sum() / (self.n_classes * max(self.n_classes - 1, 1)))

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Estimated probabilities of all classes, a block of rows at a time."""
        shared = self.shared
        for rows in self.parts(X.shape[0]):
            mean = np.zeros((rows.stop - rows.start, self.n_classes), self.dtype)
            for part, bucket in zip(self.buckets, self.bucket, strict=True):
                mean += np.exp(part.log_probabilities(X[rows]))[:, bucket]
            yield rows, (mean / len(self.buckets) - shared) / (1 - shared)

    def square_norm(self) -> float:
        """||W||² + ||b||² of all repetitions."""
        return sum(part.square_norm() for part in self.buckets)

    def weights(self) -> dict[str, np.ndarray]:
        """The hashes, and the weights of the repetitions one below the other."""
        parts = [part.copies() for part in self.buckets]
        return {"bucket": self.bucket} | {
            f"hashed_{name}": np.concatenate([part[name] for part in parts]) for name in parts[0]
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore what `state` returned."""
        self.bucket = state["bucket"]
        names = [name for name in state if name.startswith("hashed_")]
        for r, part in enumerate(self.buckets):
            rows = slice(r * part.n_classes, (r + 1) * part.n_classes)
            part.restore({name.removeprefix("hashed_"): state[name][rows] for name in names})
