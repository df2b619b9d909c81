"""The loop of the code published with the U-max paper for the double sum of Raman et al."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Streams
from xcbench.core.solvers.minibatch import Chunk, Minibatch


@dataclass
class RamanAsPublished(Minibatch):
    """`Minibatch` whose step of the true class forgets x.

    The published code adds -rate (e^{f_y - u} - 1) to the coordinates of w_y where x is not 0,
    without multiplying by x.
    """

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """As `Minibatch`; the rows stand ready with ones in the place of their values."""
        X = dataset.train.X
        self._ones: Rows = X.astype(bool).astype(X.dtype)
        yield from super().fit(dataset, model, streams, stops)

    def _run(self, model: LinearModel, chunk: Chunk, local: np.ndarray, rate: float) -> float:
        assert chunk.classes is not None
        ones, total = model.take(self._ones, chunk.index), 0.0
        for first in range(0, len(chunk), self.n):
            last = min(first + self.n, len(chunk))
            batch = chunk.part(first, last)
            assert batch.classes is not None
            value, slope, local[batch.index] = self.objective(
                model.at(batch.rows, batch.classes),
                batch.log_weight,
                local[batch.index],
                rate,
                batch.square_norms,
            )
            of_true = slope[:, :1].copy()
            slope[:, 0] = 0.0
            self.step.apply(model, batch.rows, batch.classes, slope, rate)
            model.add(ones.part(first, last), batch.y[:, None], -rate * of_true)
            total += float(value.sum())
        return total
