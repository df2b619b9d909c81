"""The loop of augment and reduce: local variables with a separate step size, and noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Streams
from xcbench.core.solvers.minibatch import Minibatch, Triple


@dataclass(kw_only=True)
class AugmentReduce(Minibatch):
    """`Minibatch` with the local step size alpha = local_lr (1 + t)^-0.9 (Ruiz et al. 2018).

    Attributes
    ----------
    clock : unit of t, from 1: ``iterations`` (the paper) or ``epochs`` (the published code).
    """

    local_lr: float
    clock: str
    t: int = field(default=0, init=False)
    visited: int = field(default=0, init=False)
    per_epoch: int = field(default=1, init=False)

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """As `Minibatch`, with t starting again."""
        self.t, self.visited, self.per_epoch = 0, 0, self.passes * len(dataset.train)
        yield from super().fit(dataset, model, streams, stops)

    def _evaluate(self, scores: np.ndarray, batch: Batch, local: np.ndarray, rate: float) -> Triple:
        """Value and grad at the new local variables, which do not move by the weights' rate."""
        self.t += 1
        time = self.t if self.clock == "iterations" else 1 + self.visited // self.per_epoch
        self.visited += len(batch)
        alpha = self.local_lr * (1 + time) ** -0.9
        objective = self.objective.with_noise(batch.noise)
        return objective(scores, batch.log_weight, local, alpha, batch.square_norms)
