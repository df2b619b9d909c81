"""One logistic loss a class, the classes that a sample does not have by drawn ones."""

from __future__ import annotations

import numpy as np

from xcbench.core.objectives import Numbers, Triple, sigmoid, softplus


def one_vs_all(true: Numbers, drawn: Numbers, log_weight: Numbers, share: float) -> Triple:
    """softplus(-f_y) + sum_k omega_k softplus(f_k), k drawn among the classes the row lacks.

    A row of P labels is P samples: with omega = (K - P) / (m P) their values add up, on average, to
    the logistic losses of all K classes.
    """
    omega = np.exp(log_weight)
    value = share * softplus(-true) + omega * softplus(drawn)
    return value, -share * sigmoid(-true) + 0.0 * drawn, omega * sigmoid(drawn)
