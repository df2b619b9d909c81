"""Negative sampling: a class against noise (Bamler and Mandt 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import Numbers, Objective, sigmoid, softplus


@dataclass(frozen=True)
class BinaryLogistic(Objective):
    """softplus(-z_y) + mean_k softplus(z_k) + lambda (g_y² + mean_k g_k²), k drawn from p_n(.|x).

    z is the logit of "data, not noise", with the optimum log p_D - log p_n; g is the score for
    prediction. Negative sampling learns z = f and predicts by f + log p_n (Eq. 2, 5 and 6).
    Noise-contrastive estimation sets z = f - log p_n and predicts by f. So negative sampling is
    noise-contrastive estimation of the residual log p_D - log p_n.

    Attributes
    ----------
    residual : whether f is z; else f is z + log p_n.
    l2 : lambda.
    raw_scores : whether the penalty is on f, as published if p_n does not depend on x.
    """

    residual: bool
    l2: float
    raw_scores: bool = False
    is_bound: bool = False

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and grad; ``log_weight`` is log p_n (B, 1+S), of the true class too."""
        z = scores if self.residual else scores - log_weight
        g = scores + log_weight if self.residual and not self.raw_scores else scores
        sign, share = np.ones(scores.shape[1]), np.full(scores.shape[1], 1 / (scores.shape[1] - 1))
        sign[0], share[0] = -1.0, 1.0
        value = share * (softplus(sign * z) + self.l2 * g**2)
        grad = share * (sign * sigmoid(sign * z) + 2 * self.l2 * g)
        return value.sum(axis=1), grad, local
