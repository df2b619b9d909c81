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

    With weights 1 for the drawn classes it is IS of the U-max paper, -log softmax over the true
    class and the drawn ones: every score is corrected by the same -log q of a uniform proposal,
    the true class's too, which cancels; the drawn classes do not stand for those that were not
    drawn, and nothing is bounded.

    With unbiased weights it is complementary sum sampling (Botev et al. 2017): the true class as it
    is, the others by an estimate of their sum. A log of an estimate: the mean over the draws lies
    below -log softmax_y.
    """
    return softplus(log_odds), sigmoid(log_odds), local
