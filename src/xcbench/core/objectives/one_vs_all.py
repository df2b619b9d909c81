"""One logistic loss for each class; sampled classes stand for those that a row lacks."""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple, sigmoid, softplus


def one_vs_all(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-f_y) + sum_k omega_k softplus(f_k), k drawn among the classes the row lacks.

    A row with P labels gives P samples. With omega = (K - P) / (m P), the expected sum of their
    values is the sum of the logistic losses of all K classes.
    """
    omega = np.exp(log_weight)
    value = share * softplus(-true) + omega * softplus(drawn)
    return value, -share * sigmoid(-true) + 0.0 * drawn, omega * sigmoid(drawn)
