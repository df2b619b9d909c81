"""Weight decay: of all weights, of the classes of a step, or in the gradient."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from xcbench.core.models.linear import LinearModel


@dataclass(frozen=True)
class WeightDecay:
    """lambda/2 ||(w, b)||², taken implicitly: W / (1 + rate · B · lambda/N) never overshoots.

    Attributes
    ----------
    l2 : lambda / N, the share of one sample.
    """

    l2: float = 0.0
    uniform: ClassVar[bool] = True  # all weights have one factor

    def shrinkage(self, rate: float, samples: int) -> float:
        """Factor on all weights and biases in a step."""
        return 1 / (1 + rate * samples * self.l2)

    def in_gradient(self, samples: int) -> float:
        """Factor of the weights that is added to nonzero gradients."""
        return 0.0

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink the weights before a step on B samples and their classes (``None``: all)."""
        if self.l2:
            model.shrink(self.shrinkage(rate, size))

    def after(self, model: LinearModel, batch: np.ndarray | None) -> None:
        """Do nothing after the step."""


@dataclass(frozen=True)
class OnVisited(WeightDecay):
    """`WeightDecay` of only the classes of a step, with one sample a step (Eq. 6 and 7 of U-max).

    Class j shrinks by 1 / (1 + rate · l2 / p_j): on average over steps as much as under
    `WeightDecay`. The step is implicit as there, because 1 / p_j may be as large as K - 1.

    Attributes
    ----------
    visits : (K,) probability p_j that a step visits class j.
    radius : (w_j, b_j) is scaled back to this length where it is longer (Algorithm 1).
    """

    visits: np.ndarray = field(default_factory=lambda: np.ones(1))
    radius: float = np.inf
    uniform: ClassVar[bool] = False

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink the true class and the drawn ones; of every class p is 1."""
        if batch is None:
            super().before(model, rate, batch, size)
        else:
            classes = batch[0]
            model.scale_at(classes, 1 / (1 + rate * self.l2 / self.visits[classes]))

    def after(self, model: LinearModel, batch: np.ndarray | None) -> None:
        """Project them."""
        if self.radius < np.inf:
            classes = np.arange(model.n_classes) if batch is None else batch[0]
            length = np.maximum(model.lengths(classes), self.radius)
            model.scale_at(classes, self.radius / length)


@dataclass(frozen=True)
class InGradient(WeightDecay):
    """lambda · w added to nonzero gradients; rarer with drawn classes or sparse rows.

    Attributes
    ----------
    l2 : lambda / N for the summed gradient of a minibatch, lambda for the whole objective.
    once : whether the gradient is that of the whole objective.
    """

    once: bool = False
    uniform: ClassVar[bool] = False

    def in_gradient(self, samples: int) -> float:
        """Its factor."""
        return self.l2 if self.once else samples * self.l2

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink nothing."""
