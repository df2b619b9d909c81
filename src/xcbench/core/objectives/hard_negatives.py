"""Only the hardest of the drawn classes count (Reddi et al. 2018: stochastic negative mining)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import Numbers, Objective


@dataclass(frozen=True)
class Hardest(Objective):
    """An objective of the true class and the ``top`` drawn ones of the highest scores.

    Each has weight 1, whatever its probability: this ranks classes and estimates no likelihood.

    Attributes
    ----------
    inner : objective of the classes that are kept, without a local state.
    top : drawn classes that are kept; all of them, if there are fewer.
    """

    inner: Objective
    top: int
    is_bound: bool = False

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and grad of the inner objective; the grad of the other classes is 0."""
        drawn = np.where(np.isneginf(log_weight), -np.inf, scores[:, 1:])
        top = min(self.top, drawn.shape[1])
        hardest = np.argpartition(-drawn, top - 1, axis=1)[:, :top]
        columns = np.column_stack([np.zeros(len(scores), np.int64), 1 + hardest])
        left_out = np.isneginf(np.take_along_axis(drawn, hardest, axis=1))
        value, of_kept, _ = self.inner(
            np.take_along_axis(scores, columns, axis=1),
            np.where(left_out, -np.inf, 0.0),
            local,
            rate,
            square_norm,
        )
        grad = np.zeros_like(scores)
        np.put_along_axis(grad, columns, of_kept, axis=1)
        return value, grad, local
