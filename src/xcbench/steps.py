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
        move(model, rows, classes, -rate * slope)


@dataclass(frozen=True, kw_only=True)
class VisitedRidge(SGD):
    """`SGD` whose ridge acts on the classes of a step alone, one observation a step (Eq. 6 and 7).

    Class j shrinks by 1 / (1 + rate · ridge / p_j): on average over the steps as much as under
    `SGD`. Implicit as there: 1 / p_j may be as large as K - 1, and a plain step would overshoot.

    Attributes
    ----------
    visits : (K,) probability p_j that a step visits class j.
    radius : (w_j, b_j) is scaled back to this length where it is longer (Algorithm 1).
    """

    visits: np.ndarray
    radius: float = np.inf

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """Shrink, move and project the true class and the drawn ones."""
        visited = np.arange(model.n_classes) if classes is None else classes[0]
        model.scale_at(visited, 1 / (1 + rate * self.ridge / self.visits[visited]))
        move(model, rows, classes, -rate * slope)
        if self.radius < np.inf:
            length = np.maximum(model.lengths(visited), self.radius)
            model.scale_at(visited, self.radius / length)


def move(
    model: LinearModel,
    rows: SparseRows | DenseRows,
    classes: np.ndarray | None,
    numbers: np.ndarray,
) -> None:
    """Add numbers · x to the drawn classes, or to all of them (``None``)."""
    if classes is None:
        model.add_all(rows, numbers)
    else:
        model.add(rows, classes, numbers)
