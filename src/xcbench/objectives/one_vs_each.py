"""One-vs-each (Titsias 2016)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from xcbench.objectives import Numbers


def one_vs_each(
    true: np.ndarray, drawn: np.ndarray, log_weight: Numbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum over classes of log(1 + e^{f_k - f_y}), the negative of the bound in Eq. 4.

    prod_k sigma(f_y - f_k) <= softmax_y(f), so minus the value is a lower bound of the
    log-likelihood.
    """
    weight = np.exp(log_weight)
    slope = weight * expit(drawn - true)
    value = (weight * np.logaddexp(0.0, drawn - true)).sum(axis=1)
    return value, -slope.sum(axis=1, keepdims=True), slope
