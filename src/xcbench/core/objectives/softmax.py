"""Exact softmax, sampled softmax over the true and the drawn classes, and a sampled partition."""

from __future__ import annotations

from xcbench.core.objectives import Numbers, Triple, sigmoid, softplus


def softmax(
    log_odds: Numbers,
    log_drawn: Numbers,
    local: Numbers,
    rate: float,
    square_norm: Numbers,
    parameter: float,
) -> Triple:
    """-log softmax_y = log(1 + e^T); exact when every class is drawn (one-vs-each paper, Eq. 1).

    With weights 1 for the drawn classes it is IS of the U-max paper: -log softmax over the true
    class and the drawn ones. Every score, also that of the true class, has the same correction -log
    q of a uniform proposal, which cancels. The drawn classes do not stand for the others, and the
    value is no bound.

    With unbiased weights it is complementary sum sampling (Botev et al. 2017): the true class is
    exact, the sum over the others is estimated. As the log of an estimate, its mean over the draws
    is below -log softmax_y.
    """
    return softplus(log_odds), sigmoid(log_odds), local
