"""One observation and one class at a time: stochastic descent on the double sum.

The same updates as `Minibatch` with n = m = 1, in a loop that spares arrays of one element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xcbench.linear import LinearModel
from xcbench.objectives import Odds
from xcbench.solvers.minibatch import Chunk, Minibatch


@dataclass
class Sequential(Minibatch):
    """`Minibatch` for n = 1 and one drawn class."""

    def _updates(
        self, model: LinearModel, chunk: Chunk, local: np.ndarray, rate: float
    ) -> Iterator[tuple[int, float]]:
        """Update by each observation; gives its value."""
        assert isinstance(self.objective, Odds)
        assert isinstance(chunk.log_weight, float) and chunk.classes is not None
        formula, parameter = self.objective.formula, self.objective.parameter
        log_weight = chunk.log_weight if self.objective.weighted else 0.0
        index, norms = chunk.index.tolist(), chunk.square_norms.tolist()
        pairs = chunk.classes.tolist()
        for (features, values), i, norm, (y, k) in zip(
            chunk.rows, index, norms, pairs, strict=True
        ):
            difference = model.difference(features, values, k, y)
            value, pull, local[i] = formula(
                difference + log_weight, difference, local[i], rate, norm, parameter
            )
            if self.step.ridge:
                model.shrink(self.step.shrinkage(rate, 1))
            model.move(features, values, k, y, -rate * float(pull))
            yield 1, float(value)
