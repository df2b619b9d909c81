"""Closed forms of the synthetic experiment (Sec. 4.1): what a bound can reach at best.

Observations have no features, N_k are of class k. Maximum likelihood has p_k = N_k / N, where the
one-vs-each bound has its maximum too (Titsias 2016, Sec. 2.1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from xcbench.data import categories
from xcbench.data.settings import CategoriesSettings


def maximum_log_likelihood(counts: np.ndarray) -> float:
    """Sum of N_k log(N_k / N), in nats; classes without observation have no share."""
    n = counts[counts > 0].astype(np.float64)
    return float((n * np.log(n / n.sum())).sum())


def maximum_one_vs_each(counts: np.ndarray) -> float:
    """-sum_k N_k sum_{m != k} log(1 + N_m / N_k), over the classes that occur."""
    n, times = np.unique(counts[counts > 0].astype(np.float64), return_counts=True)
    pairs = (times * np.log1p(n / n[:, None])).sum(axis=1) - np.log(2.0)  # m = k has log 2
    return float(-(times * n * pairs).sum())


MAXIMUM: dict[str, Callable[[np.ndarray], float]] = {
    "ove": maximum_one_vs_each,
    "ar_softmax": maximum_log_likelihood,
}


def counts(row: pd.Series) -> np.ndarray:
    """Training observations of every class, drawn again from the settings in a row of results."""
    names = ("train", "test", "classes", "seed")
    spec = CategoriesSettings(**{name: int(row[f"dataset.categories.{name}"]) for name in names})
    return np.bincount(categories.make(spec)[0].labels, minlength=spec.classes)
