"""Penalties of MEMOIR on sparse weights: what a step does besides its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcbench.core.models.sparse import SparseModel


@dataclass(frozen=True)
class L2:
    """strength/2 ||W||²: shrink before the step, scale back into the ball after it (Algorithm 1).

    The optimum lies in the ball of radius 1 / sqrt(strength) (Pegasos, Lemma 1).
    """

    strength: float
    limit: ClassVar[float] = 0.0

    def before(self, model: SparseModel, rate: float) -> None:
        """W <- (1 - strength · rate) W."""
        model.shrink(1 - self.strength * rate)

    def threshold(self, rate: float, n_classes: int, touched: int) -> float:
        """Truncate nothing."""
        return 0.0

    def after(self, model: SparseModel) -> None:
        """W <- W min(1, 1 / (sqrt(strength) ||W||))."""
        length = np.sqrt(self.strength * model.square_norm())
        if length > 1:
            model.shrink(1 / length)


@dataclass(frozen=True)
class L1:
    """strength ||W||_1: soft-threshold the classes of a step (Algorithm 2, Eq. 13).

    K over the number of these classes makes up for the steps in which a class is not touched.
    Eq. 11 has strength/2; the threshold of Eq. 13 is twice the sub-gradient step of Eq. 12.

    Attributes
    ----------
    limit : change of a class, over its length, above which it is not truncated; 0: none.
    """

    strength: float
    limit: float = 0.0

    def before(self, model: SparseModel, rate: float) -> None:
        """Shrink nothing."""

    def threshold(self, rate: float, n_classes: int, touched: int) -> float:
        """Theta = strength · rate · K / |R|."""
        return self.strength * rate * n_classes / touched

    def after(self, model: SparseModel) -> None:
        """Project nothing."""
