"""Noise-contrastive estimation with uniform noise (Mnih and Teh 2012)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from xcbench.objectives import Numbers


def nce(
    true: np.ndarray, drawn: np.ndarray, log_weight: Numbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """softplus(-(f_y - log q)) + sum_k softplus(f_k - log q), q the expected count of a class.

    For uniform noise -log q is the log-weight, one number for all classes. The normaliser is fixed
    to 1, so minus the value bounds nothing.
    """
    value = np.logaddexp(0.0, -(true + log_weight)).sum(axis=1)
    value += np.logaddexp(0.0, drawn + log_weight).sum(axis=1)
    return value, -expit(-(true + log_weight)), expit(drawn + log_weight)
