"""One-vs-each (Titsias 2016)."""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple, sigmoid, softplus


def one_vs_each(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """log(1 + e^{f_k - f_y}) of a pair; their sum is the negative of the bound in Eq. 4.

    prod_k sigma(f_y - f_k) <= softmax_y(f), so minus the sum is a lower bound of the
    log-likelihood.
    """
    weight = np.exp(log_weight)
    grad = weight * sigmoid(drawn - true)
    return weight * softplus(drawn - true), -grad, grad
