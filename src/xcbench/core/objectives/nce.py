"""Noise-contrastive estimation (Mnih and Teh 2012; Gutmann and Hyvärinen 2010)."""

from __future__ import annotations

from xcbench.core.objectives import Numbers, Triple, sigmoid, softplus


def nce(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-(f_y - log q)) + sum_k softplus(f_k - log q), q the expected count of a class.

    For uniform noise -log q is the log-weight, one number for all classes; each pair carries its
    share of the true class's term. The normaliser is fixed to 1, so minus the value bounds nothing.
    Samplers that exclude the true class, or that weight classes, have no such q. Noise that knows q
    of the true class (`uniform`, `frequency`, `tree`) uses `BinaryLogistic`.
    """
    logit_true, logit_drawn = true + log_weight, drawn + log_weight
    value = share * softplus(-logit_true) + softplus(logit_drawn)
    return value, -share * sigmoid(-logit_true) + 0.0 * drawn, sigmoid(logit_drawn)
