"""One observation a step, in a loop that spares arrays of one element.

The same updates as `Minibatch` with n = 1. Compiled where the model is; in NumPy for one drawn
class and an objective of the log-odds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import Odds, Pairs, ScoredOdds
from xcbench.core.optimizers import SGD
from xcbench.core.solvers.minibatch import Chunk, Minibatch


@dataclass
class Sequential(Minibatch):
    """`Minibatch` for n = 1 and drawn classes."""

    step: SGD

    def _run(self, model: LinearModel, chunk: Chunk, local: np.ndarray, rate: float) -> float:
        assert chunk.classes is not None
        shrinkage = self.step.shrinkage(rate, 1)
        if model.engine == "numba" and isinstance(self.objective, Odds | ScoredOdds | Pairs):
            from xcbench.core.models.compiled import CompiledModel, compiles, descend

            assert isinstance(model, CompiledModel)
            if compiles(self.objective):
                return descend(
                    model,
                    chunk.rows,
                    chunk.index,
                    chunk.classes,
                    chunk.log_weight,
                    local,
                    chunk.square_norms,
                    rate,
                    shrinkage,
                    self.objective,
                )
        one_pair = chunk.classes.shape[1] == 2 and isinstance(chunk.log_weight, float)
        if model.engine == "numpy" and one_pair and isinstance(self.objective, Odds):
            return _descend(model, chunk, local, rate, shrinkage, self.objective)
        return super()._run(model, chunk, local, rate)


def _descend(
    model: LinearModel,
    chunk: Chunk,
    local: np.ndarray,
    rate: float,
    shrinkage: float,
    objective: Odds,
) -> float:
    """One observation and one class after the other; gives the sum of their values."""
    assert isinstance(chunk.log_weight, float) and chunk.classes is not None
    formula, parameter = objective.formula, objective.parameter
    log_weight = chunk.log_weight if objective.weighted else 0.0
    index, norms = chunk.index.tolist(), chunk.square_norms.tolist()
    pairs, total = chunk.classes.tolist(), 0.0
    for (features, values), i, norm, (y, k) in zip(chunk.rows, index, norms, pairs, strict=True):
        difference = model.difference(features, values, k, y)
        value, pull, local[i] = formula(
            difference + log_weight, difference, local[i], rate, norm, parameter
        )
        if shrinkage != 1.0:
            model.shrink(shrinkage)
        model.move(features, values, k, y, -rate * float(pull))
        total += float(value)
    return total
