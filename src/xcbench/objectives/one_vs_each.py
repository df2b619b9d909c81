"""One-vs-each (Titsias 2016)."""

from __future__ import annotations

import numpy as np

from xcbench import config
from xcbench.method import Method, over_drawn
from xcbench.objectives import Numbers, Pairs, Triple, sigmoid, softplus


def one_vs_each(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """log(1 + e^{f_k - f_y}) of a pair; their sum is the negative of the bound in Eq. 4.

    prod_k sigma(f_y - f_k) <= softmax_y(f), so minus the sum is a lower bound of the
    log-likelihood.
    """
    weight = np.exp(log_weight)
    slope = weight * sigmoid(drawn - true)
    return weight * softplus(drawn - true), -slope, slope


default_rate = over_drawn(4.0)

method = Method(
    "ove",
    config.OneVsEach,
    lambda settings, info: Pairs(one_vs_each, is_bound=True),
    default_rate,
    samplings=("shared", "others", "all", "frequency", "tree"),
)
