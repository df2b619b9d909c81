"""Compiled models with weights side by side, trained on the same minibatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from xcbench.core import kernels
from xcbench.core.batch import Batch
from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.models.compiled import CompiledModel, record_of
from xcbench.core.models.panels import aligned
from xcbench.core.objectives import Objective

PART_BYTES = 1 << 18  # of lanes that are copied at a time, to stay near the processor


class Lanes:
    """Weights (K, D, SIDE_BY_SIDE), where lane r belongs to model r; biases and scales likewise."""

    def __init__(self, models: Sequence[CompiledModel]) -> None:
        self.models = models
        first = models[0]
        numbers = aligned(first.V.size * SIDE_BY_SIDE, first.dtype)  # a feature's on one line
        numbers[:] = 0
        self.V = numbers.reshape(*first.V.shape, SIDE_BY_SIDE)
        self.b = np.zeros((0 if first.b is None else len(first.V), SIDE_BY_SIDE), first.dtype)
        self.scale = np.ones(len(models))
        self.gather()

    def gather(self) -> None:
        """Copy the models' weights into the lanes."""
        for part in self._parts():
            for r, model in enumerate(self.models):
                self.V[part, :, r] = model.V[part]
        for r, model in enumerate(self.models):
            self.scale[r] = model.scale
            if model.b is not None:
                self.b[:, r] = model.b

    def spread(self) -> None:
        """Copy the lanes back to the models."""
        for part in self._parts():
            for r, model in enumerate(self.models):
                model.V[part] = self.V[part, :, r]
        for r, model in enumerate(self.models):
            model.scale = float(self.scale[r])
            if model.b is not None:
                model.b[...] = self.b[:, r]

    def renew(self) -> None:
        """As `gather`, after an evaluation: it may have folded a scale into its weights."""
        if any(model.scale != scale for model, scale in zip(self.models, self.scale, strict=True)):
            self.gather()

    def _parts(self) -> Iterator[slice]:
        """Classes that are copied together."""
        classes, size = len(self.V), max(1, PART_BYTES // max(1, self.V[:1].nbytes))
        return (slice(first, first + size) for first in range(0, classes, size))

    def descend(
        self,
        batch: Batch,
        size: int,
        local: np.ndarray,
        rates: np.ndarray,
        shrinkages: np.ndarray,
        objective: Objective,
    ) -> np.ndarray:
        """`CompiledModel.descend` of all models at once, with constants of each; values (R,).

        Single samples with several drawn classes are summed in another order, so those models step
        one by one.
        """
        scalar = objective.scalar
        assert scalar is not None and batch.classes is not None
        if size == 1 and batch.classes.shape[1] != 2:
            self.spread()
            numbers = zip(self.models, local, rates, shrinkages, strict=True)
            values = [
                model.descend(batch, size, row_state, rate, shrinkage, objective)
                for model, row_state, rate, shrinkage in numbers
            ]
            self.gather()
            return np.array(values)
        step = kernels.Step(size, False, rates, shrinkages)
        weights = kernels.Scaled(self.V, self.b, self.scale)
        return kernels.lockstep(
            weights, batch.rows.record, record_of(batch, scalar, local), step, scalar
        )
