"""Samples that are processed together, with their random draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

EngineRows = Any  # rows as a model takes them: `SparseRows`, `DenseRows` or `RowView`


@dataclass
class Batch:
    """Consecutive samples of one pass: one minibatch or several.

    Attributes
    ----------
    rows, index, square_norms : the samples, their row numbers, their |x|² (with the constant 1 of a
        bias).
    classes : (C, 1+S), the true class first; or None for every class.
    y, log_weight : true classes; log-weights of the drawn classes.
    noise : (C, 2) random numbers, if the objective needs them.
    """

    rows: EngineRows
    index: np.ndarray
    square_norms: np.ndarray
    y: np.ndarray
    classes: np.ndarray | None
    log_weight: np.ndarray | float
    noise: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.index)

    def part(self, first: int, last: int) -> Batch:
        """Samples first..last-1."""
        part, log_weight = slice(first, last), self.log_weight
        return Batch(
            rows=self.rows.part(first, last),
            index=self.index[part],
            square_norms=self.square_norms[part],
            y=self.y[part],
            classes=None if self.classes is None else self.classes[part],
            log_weight=log_weight[part] if isinstance(log_weight, np.ndarray) else log_weight,
            noise=None if self.noise is None else self.noise[part],
        )
