"""Train a softmax model on hashed classes, several times (MACH, Medini et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee

import numpy as np

from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.core.models.hashed import HashedModel
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.minibatch import Minibatch


@dataclass
class HashedClasses(Solver):
    """R descents side by side; what is said of progress is that of one, the objective their mean.

    Attributes
    ----------
    descent : makes the solver of a repetition.
    repetitions, buckets : R and B. Every bucket has K/B classes, one more or less.
    """

    descent: Callable[[], Minibatch]
    repetitions: int
    buckets: int

    def over(self, epochs: float) -> HashedClasses:
        """With descents of so many epochs."""
        one = self.descent()
        if one.over(epochs) is one:
            return self
        return replace(self, descent=lambda: self.descent().over(epochs))

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> HashedModel:
        """A model of each repetition, of as many classes as there are buckets."""
        parts = [
            models.make(engine, self.buckets, n_features, bias, dtype)
            for _ in range(self.repetitions)
        ]
        return HashedModel(engine, n_classes, parts)

    def fit(
        self, dataset: Dataset, model: HashedModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Visit the same rows in every repetition, each in its own order, until the last stop."""
        model.bucket = np.stack(
            [
                streams.classes.permutation(model.n_classes) % self.buckets
                for _ in range(self.repetitions)
            ]
        )
        trainings = [
            self.descent().fit(hashed(dataset, bucket, self.buckets), part, of_bucket, ahead)
            for bucket, part, of_bucket, ahead in zip(
                model.bucket,
                model.buckets,
                spawned(streams, self.repetitions),
                tee(stops, self.repetitions),
                strict=True,
            )
        ]
        for steps in zip(*trainings, strict=True):
            mean = float(np.mean([step.objective for step in steps]))
            yield replace(steps[0], objective=mean)


def hashed(dataset: Dataset, bucket: np.ndarray, buckets: int) -> Dataset:
    """The training rows with the bucket of their class."""
    y = bucket[dataset.train.y]
    counts = np.bincount(bucket, dataset.class_counts, buckets).astype(dataset.class_counts.dtype)
    return replace(dataset, train=replace(dataset.train, y=y, sets=None), class_counts=counts)


def spawned(streams: Streams, count: int) -> list[Streams]:
    """Streams of each repetition."""
    every = (streams.order, streams.classes, streams.weights, streams.noise)
    return [Streams(*four) for four in zip(*(rng.spawn(count) for rng in every), strict=True)]
