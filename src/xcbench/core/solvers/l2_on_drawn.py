"""An l2 penalty on only the classes of a step, with the projections of U-max's Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset, square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import softplus
from xcbench.core.optimizers import OnVisited
from xcbench.core.solvers import Progress, Streams
from xcbench.core.solvers.minibatch import Minibatch


def visits(class_counts: np.ndarray, m: int) -> np.ndarray:
    """Probability (K,) that a step on a row and m other classes visits a class (after Eq. 6).

    p_j = n_j/N + (1 - n_j/N) m/(K - 1), with n_j the training rows of class j.
    """
    true = class_counts / class_counts.sum()
    return np.asarray(true + (1 - true) * m / (len(class_counts) - 1))


@dataclass(kw_only=True)
class L2OnDrawn(Minibatch):
    """`Minibatch` for n = 1 that shrinks only the visited classes.

    Attributes
    ----------
    negatives : classes drawn among the K - 1 others.
    project : for double sums, whether (w_k, b_k) are projected below B_W and u below B_u, which
        bound the optimum (Fagan and Iyengar 2018, lemmas 1 and 2).
    """

    negatives: int
    project: bool

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """As `Minibatch`, after counting classes and rows."""
        radius = self.highest = np.inf
        if self.project:
            K = model.n_classes
            longest = np.sqrt(square_norms(dataset.train.X).max() + (model.b is not None))
            radius = np.sqrt(2 * np.log(K) / self.optimizer.weight_decay.l2)  # l2 = mu / N
            self.highest = float(softplus(np.log(K - 1) + 2 * longest * radius))
        decay = OnVisited(
            self.optimizer.weight_decay.l2,
            visits(dataset.class_counts, self.negatives),
            float(radius),
        )
        self.optimizer = replace(self.optimizer, weight_decay=decay)
        yield from super().fit(dataset, model, streams, stops)

    def _update(self, model: LinearModel, batch: Batch, local: np.ndarray, rate: float) -> float:
        value = super()._update(model, batch, local, rate)
        local[batch.index] = np.minimum(local[batch.index], self.highest)
        return value
