"""One-vs-each with a group of classes handled exactly (Titsias 2016, Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.objectives import LogOdds, Numbers, Objective, Pairwise
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax

EXACT = LogOdds(softmax, is_bound=True)
ONE_VS_EACH = Pairwise(one_vs_each, is_bound=True)


@dataclass(frozen=True)
class Grouped(Objective):
    """-log softmax_y(f_y, f_C) + sum over the rest of log(1 + e^{f_k - f_y}).

    Minus the value lies between the one-vs-each bound (empty group) and the log-likelihood (all
    classes in the group). One-vs-each replaces the sum 1 + sum a_k by the product prod(1 + a_k),
    which is larger, with a_k = e^{f_k - f_y}; the group keeps the sum. Larger a_k in the group gain
    more. Without features the optimal scores of one-vs-each are log N_k + c (Proposition 2), so the
    most frequent classes have the largest a_k. They form the group, the same for all samples,
    without the true class.

    Proposition 2 does not hold for a group of some classes. A rare class is compared with each of
    them where it is wrong, with their sum where it is true: its optimal score is lower than its
    log N_k + c, by nearly log |C| where the group has most rows and many classes share the others.

    Attributes
    ----------
    group : size of the group, the first columns after the true class; their weights are 1.
    """

    group: int
    is_bound: bool = True

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sum of the two objectives; the true class stands in both."""
        end = 1 + self.group
        value, inside, _ = EXACT(scores[:, :end], 0.0, local, rate, square_norm)
        if scores.shape[1] <= end:
            return value, inside, local
        if isinstance(log_weight, np.ndarray):
            log_weight = log_weight[:, self.group :]
        rest = np.column_stack([scores[:, 0], scores[:, end:]])
        more, outside, _ = ONE_VS_EACH(rest, log_weight, local, rate, square_norm)
        true = inside[:, 0] + outside[:, 0]
        return value + more, np.column_stack([true, inside[:, 1:], outside[:, 1:]]), local
