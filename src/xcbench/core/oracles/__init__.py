"""Margin oracles: find the class with the highest score other than the true one, or nearly.

``moved(model, classes)`` tells an oracle which weights changed. ``rivals(model, X, y)`` gives a
class (B,) for each row, among those with weights, or -1 if there is none but y. Oracles ignore the
common scale of the weights: it is positive and does not change the order of scores.

`quality` measures how often an oracle finds the highest score, and how inexact its margins are.
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
    by_score : whether it compares scores. With Hamming distances, published MEMOIR prefers a class
        without weights to any rival, because minus a distance is never positive.
    """

    by_score: bool

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Record that the weights of distinct classes (C,) changed."""
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
    """Recall of an oracle, and the (epsilon, delta) of its margins.

    The true margin is m = f_y - max_{r != y} f_r. The inexact one, f_y - f_r for the oracle's r, is
    never smaller. It is (epsilon, delta)-inexact if the two differ by at most epsilon with
    probability at least 1 - delta. MEMOIR prints the difference with the opposite sign, which is
    never positive.

    Parameters
    ----------
    X, y : rows (B, D) and their true classes (B,).
    deltas : values of delta.

    Returns
    -------
    dict
        ``recall``: share of rows for which the oracle's class has the highest score among other
        classes with weights. ``epsilon_at_<delta>``: the (1 - delta)-quantile of the difference,
        infinite if the oracle finds no class.
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
