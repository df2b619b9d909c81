"""The double sum of the U-max paper (Fagan and Iyengar 2018), Eq. 6: vanilla SGD and U-max."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.objectives import Numbers, Odds


@dataclass(frozen=True)
class DoubleSum(Odds):
    """u + e^{-u} + e^{T - u} - 1, with a gradient step on u (Eq. 6 and 7).

    Its minimum over u is the exact negative log-likelihood, at u* = log(1 + e^T); so minus the
    value is a lower bound of the log-likelihood for every u.

    Attributes
    ----------
    u0 : start of u: ``log_classes``, the optimum at W = 0 (Algorithm 1), or ``zero`` (published
        code).
    delta : U-max's threshold: u is reset to log(1 + sum over drawn k of e^{f_k - f_y}) where it
        lies more than this below (Algorithm 1). Infinity never resets: vanilla SGD.
    """

    u0: str = "log_classes"
    delta: float = np.inf
    is_bound: bool = True

    def start(self, n_classes: int) -> float:
        """Start of u."""
        return float(np.log(n_classes)) if self.u0 == "log_classes" else 0.0

    def formula(
        self,
        log_odds: Numbers,
        log_drawn: Numbers,
        local: Numbers,
        rate: float,
        square_norm: Numbers,
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Value, e^{T - u} and the next u >= 0; all of them at the same u."""
        u = local
        if self.delta < np.inf:
            floor = np.logaddexp(0.0, log_drawn)
            u = u + (u < floor - self.delta) * (floor - u)
        excess = np.exp(log_odds - u)
        shrunk = np.exp(-u)
        u_next = np.maximum(0.0, u - rate * (1.0 - shrunk - excess))
        return u + shrunk + excess - 1.0, excess, u_next
