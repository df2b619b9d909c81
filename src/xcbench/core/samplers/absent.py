"""Negatives for multi-label rows: classes other than the row's labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.samplers.sampler import Draw, Sampler


@dataclass(frozen=True)
class Absent(Sampler):
    """m uniform draws with replacement; draws of the row's labels are dropped.

    The remaining draws have weight (K - P) / (P · their number), where P is the number of labels of
    the row. A row gives one sample for each label, and its samples share the classes that it lacks.
    If a row has all classes, nothing is drawn. Where all m draws are labels of the row, nothing is
    left: the estimate is 1 - (P/K)^m times the sum over the classes that the row lacks, over P.

    Attributes
    ----------
    keys : row · K + class of all labels, ascending.
    counts : (N,) number of labels of every row.
    """

    n_classes: int
    negatives: int
    keys: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    counts: np.ndarray = field(default_factory=lambda: np.ones(1, np.int64))

    def fitted(self, dataset: Dataset) -> Absent:
        """The sampler that knows the labels of the training rows."""
        train = dataset.train
        if train.sets is None:
            counts, classes = np.ones(len(train), np.int64), train.y
        else:
            counts, classes = np.diff(train.sets.start), train.sets.classes
        row = np.repeat(np.arange(len(train)), counts)
        return replace(self, keys=np.sort(row * self.n_classes + classes), counts=counts)

    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Draws among all K classes; a label of the row has log-weight minus infinity."""
        drawn = rng.integers(0, self.n_classes, (len(rows), self.negatives))
        hit = self.of_row(rows, drawn)
        left, labels = (~hit).sum(axis=1, keepdims=True), self.counts[rows][:, None]
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.n_classes - labels) - np.log(np.maximum(left, 1) * labels)
        return drawn, np.where(hit, -np.inf, log_weight)

    def of_row(self, rows: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Whether classes (B, m) are labels of their rows."""
        key = rows[:, None] * self.n_classes + classes
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.asarray(self.keys[place] == key)
