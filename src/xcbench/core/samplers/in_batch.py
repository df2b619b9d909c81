"""The labels of a minibatch as negatives (Yi et al. 2019; Khrylchenko et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.samplers.sampler import Draw, Sampler


@dataclass(frozen=True)
class InBatch(Sampler):
    """Labels of the other rows of a minibatch of B, and uniform draws that its rows share.

    Those equal to the row's own label are dropped; without uniform draws, a class that has no
    training row is never drawn. A label of another row is class j with
    probability p_j = n_j / (N - n_y), given that it is not y; a uniform draw with 1 / (K - 1). What
    a draw of class j stands for is the correction ``log_q``:

    - ``new``: 1 / (n p_j + u / (K - 1)) for the n labels and u uniform draws that are left.
      Unbiased, where one is left.
    - ``old``: q_y / q_j, q_j = (1 - mix) n_j / N + mix / K, the logQ correction of every score,
      also that of the true class. It estimates about q_y S times the sum over the others, with S
      draws.
    - ``none``: 1. It estimates sums that count a class in proportion to q_j.

    Attributes
    ----------
    negatives : plays no part.
    mix : share of uniform draws, below 1; of S draws, B - 1 are labels.
    counts : (K,) training rows of every class.
    """

    n_classes: int
    negatives: int
    log_q: str = "new"
    mix: float = 0.0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def fitted(self, dataset: Dataset) -> InBatch:
        """The sampler that knows how frequent classes are."""
        return replace(self, counts=np.bincount(dataset.train.y, minlength=self.n_classes))

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Labels of the minibatch but one's own, then uniform draws over all K classes."""
        own, row = y[:, None], np.arange(len(y))[:, None]
        first, column = row // batch_size * batch_size, np.arange(batch_size - 1)
        place = first + column + (column >= row - first)
        labels = np.where(place < len(y), y[np.minimum(place, len(y) - 1)], own)  # short last one
        uniform = round(self.mix / (1 - self.mix) * (batch_size - 1))
        shared = rng.integers(0, self.n_classes, (-(-len(y) // batch_size), uniform))
        drawn = np.hstack([labels, shared[np.arange(len(y)) // batch_size]])
        left = drawn != own
        log_weight = self._log_weight(drawn, own, left, batch_size - 1)
        return drawn, np.where(left, log_weight, -np.inf)

    def _log_weight(
        self, drawn: np.ndarray, y: np.ndarray, left: np.ndarray, labels: int
    ) -> np.ndarray:
        """Of the classes that are left; ``labels`` columns come from other rows."""
        if self.log_q == "none":
            return np.zeros(drawn.shape)
        N, n = self.counts.sum(), self.counts
        if self.log_q == "old":
            share = 1 - labels / drawn.shape[1]
            q = (1 - share) * n / N + share / self.n_classes
            return np.asarray(np.log(q[y]) - np.log(q[drawn]))
        from_rows = left[:, :labels].sum(axis=1, keepdims=True) / np.maximum(N - n[y], 1)
        evenly = left[:, labels:].sum(axis=1, keepdims=True) / (self.n_classes - 1)
        expected = from_rows * n[drawn] + evenly
        return np.asarray(-np.log(np.where(left, expected, 1.0)))
