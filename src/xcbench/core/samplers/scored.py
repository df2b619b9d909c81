"""Proposals from the exact scores of every class: what cheaper ones approximate.

`sampler=softmax` has q_k ∝ e^{f_k}, the proposal whose estimate of the gradient of a softmax varies
least; `sampler=kernel` has q_k ∝ alpha (f_k - min b)² + 1 (Blanc and Rendle 2018). A row costs its
scores of all classes, as much as exact softmax does: they show what draws can be worth, not what
they cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import take
from xcbench.core.samplers.proposal import Drawn, Proposal, categorical, in_blocks


@dataclass(frozen=True)
class Scored(Proposal):
    """q_k ∝ weigh(f_k) over the classes other than y.

    Attributes
    ----------
    weigh : scores (B, K) above the lowest bias to weights (B, K), row by row; the true class has
        minus infinity.
    X, model : training rows and the model, as it is when classes are drawn.
    """

    weigh: Callable[[np.ndarray], np.ndarray]
    X: Rows | None = None
    model: LinearModel | None = None

    def fitted(self, dataset: Dataset) -> Scored:
        """With the training rows."""
        return replace(self, X=dataset.train.X)

    def seen(self, model: LinearModel) -> Scored:
        """With the model itself, not a copy: draws are made at once."""
        return replace(self, model=model)

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Draws by the inverse of each row's distribution function."""
        assert self.model is not None and self.X is not None
        model, X = self.model, self.X
        lowest = 0.0 if model.b is None else float(model.b.min() * model.scale)

        def draw(rows: np.ndarray, y: np.ndarray) -> Drawn:
            scores = model.all(take(X, rows, model.dtype)).astype(np.float64)
            scores -= lowest
            true = np.arange(len(y)), y
            scores[true] = -np.inf
            weights = self.weigh(scores)
            weights[true] = 0.0
            return categorical(rng, weights, negatives)

        return in_blocks(draw, rows, y, next(model.parts(len(rows))).stop)


def exponential(scores: np.ndarray) -> np.ndarray:
    """e^f, over the largest of the row."""
    return np.exp(scores - scores.max(axis=1, keepdims=True))
