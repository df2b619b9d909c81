"""Noise-contrastive estimation with uniform noise (Mnih and Teh 2012)."""

from __future__ import annotations

from xcbench import config
from xcbench.method import Method, over_square_norm
from xcbench.objectives import Numbers, Pairs, Triple, sigmoid, softplus


def nce(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-(f_y - log q)) + sum_k softplus(f_k - log q), q the expected count of a class.

    For uniform noise -log q is the log-weight, one number for all classes; each pair carries its
    share of the true class's term. The normaliser is fixed to 1, so minus the value bounds nothing.
    Other noise is refused: the true class's term needs the true class's own q, which log-weights
    of drawn classes do not tell, and noise that never hits the true class has none.
    """
    logit_true, logit_drawn = true + log_weight, drawn + log_weight
    value = share * softplus(-logit_true) + softplus(logit_drawn)
    return value, -share * sigmoid(-logit_true) + 0.0 * drawn, sigmoid(logit_drawn)


method = Method(
    "nce",
    config.Sampled,
    lambda settings, info: Pairs(nce, is_bound=False),
    over_square_norm(0.2),
    samplings=("shared", "others", "all"),
)
