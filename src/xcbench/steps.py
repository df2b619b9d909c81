"""Steps: the only mutators of weights. Schedules are functions of the epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.linear import DenseRows, LinearModel, SparseRows


@dataclass(frozen=True)
class SGD:
    """W -= rate · gradient of the minibatch's summed objective, ridge included.

    Attributes
    ----------
    lr, decay : the rate in epoch e is ``lr · decay^e``.
    ridge : lambda / N, the share of one observation in lambda/2 ||(w, b)||²; its step is taken
        implicitly, W / (1 + rate · B · ridge), which never overshoots.
    """

    lr: float
    decay: float
    ridge: float = 0.0

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
        return self.lr * self.decay**epoch

    def shrinkage(self, rate: float, observations: int) -> float:
        """Factor of all weights and biases in the ridge's share of a step."""
        return 1 / (1 + rate * observations * self.ridge)

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """Move the drawn classes (``None``: all of them) of every observation."""
        if self.ridge:
            model.shrink(self.shrinkage(rate, len(rows)))
        if classes is None:
            model.add_all(rows, -rate * slope)
        else:
            model.add(rows, classes, -rate * slope)
