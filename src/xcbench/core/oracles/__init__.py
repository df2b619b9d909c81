"""Margin oracles: which class besides the true one has, exactly or nearly, the highest score.

``moved(model, classes)`` tells an oracle which weights changed; ``rivals(model, X, y)`` asks it for
a class (B,) of each row, among those that have weights, or -1 where there is none but y. Oracles
ignore the common scale of the weights, which is positive and leaves the order of scores alone.

`quality` makes the theory of MEMOIR visible: how often an oracle finds the highest score, and how
inexact the margins are that it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.sparse import SparseModel
from xcbench.core.oracles.exact import Exact
from xcbench.core.oracles.graph import Graph
from xcbench.core.oracles.random_class import RandomClass
from xcbench.core.oracles.simple_lsh import SimpleLSH

__all__ = ["Exact", "Graph", "Oracle", "RandomClass", "SimpleLSH", "quality"]


class Oracle(Protocol):
    """Contract of an oracle.

    Attributes
    ----------
    by_score : whether it looks at scores; published MEMOIR prefers a class without weights to any
        rival that was found by Hamming distances, minus which is never positive.
    """

    by_score: bool

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Note that the weights of distinct classes (C,) changed."""
        ...

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """A class (B,) other than y, of those with weights; -1 where there is none."""
        ...


def quality(
    oracle: Oracle,
    model: SparseModel,
    X: sp.csr_array,
    y: np.ndarray,
    deltas: Sequence[float] = (0.5, 0.1, 0.05, 0.01),
) -> dict[str, float]:
    """Recall of an oracle, and the (epsilon, delta) of the margins that it induces.

    The true margin is m = f_y - max_{r != y} f_r, the inexact one is f_y - f_r of the oracle's r,
    never smaller. It is (epsilon, delta)-inexact if they differ by at most epsilon with a
    probability of at least 1 - delta (MEMOIR prints the difference with the other sign, which is
    never positive).

    Parameters
    ----------
    X, y : rows (B, D) to ask for, and their true classes (B,).
    deltas : for which epsilon is wanted.

    Returns
    -------
    dict
        ``recall``: share of rows for which the oracle's class has the highest score of all others
        with weights; ``epsilon_at_<delta>``: the (1 - delta)-quantile of the difference, infinite
        where the oracle finds no class.
    """
    exact, inexact = Exact().rivals(model, X, y), oracle.rivals(model, X, y)
    some = exact >= 0
    if not some.any():
        return {}
    exact, inexact = exact[some], inexact[some]
    scores = model.at(X[some], np.column_stack([exact, np.maximum(inexact, 0)]))
    difference = np.where(inexact < 0, np.inf, scores[:, 0] - scores[:, 1])
    return {
        "recall": float(np.mean((difference <= 0) | (exact == inexact))),
        **{
            f"epsilon_at_{delta:g}": float(
                np.quantile(difference, 1 - delta, method="inverted_cdf")
            )
            for delta in deltas
        },
    }
