"""The loop of the code published with the U-max paper for the double sum of Raman et al."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Streams
from xcbench.core.solvers.minibatch import Minibatch


@dataclass
class RamanCode(Minibatch):
    """`Minibatch` with a step of the true class that lacks the factor x.

    The published code adds -rate (e^{f_y - u} - 1) to the coordinates of w_y where x is not 0,
    without multiplying by x.
    """

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """As `Minibatch`, with a copy of the rows in which all values are 1."""
        X = dataset.train.X
        self._ones: Rows = X.astype(bool).astype(X.dtype)
        yield from super().fit(dataset, model, streams, stops)

    def _move(self, model: LinearModel, batch: Batch, grad: np.ndarray, rate: float) -> None:
        """Step of the drawn classes, then of the true one."""
        of_true = grad[:, :1].copy()
        grad[:, 0] = 0.0
        super()._move(model, batch, grad, rate)
        ones = model.take(self._ones, batch.index)
        model.add(ones, batch.y[:, None], -rate * of_true)
