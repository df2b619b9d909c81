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
    classes in the group): in prod(1 + a_k) >= 1 + sum a_k, a_k = e^{f_k - f_y}, the terms of the
    group are summed. The larger its a_k, the more is gained; with scores log N_k + c, the optimum
    without features (Proposition 2), the largest are those of the most frequent classes. They are
    the group, the same for all samples but for their own class.

    Attributes
    ----------
    group : the first so many columns after the true class are the group; its weights are 1.
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
