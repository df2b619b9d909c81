"""Means over seeds with their intervals, and tests of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

CONFIDENCE = 0.95
EXACT = 12  # tasks, up to which all changes of sign are tried


@dataclass(frozen=True)
class Effect:
    """A mean over seeds and its interval, of Student's t; the ends are nan of one seed."""

    mean: float
    low: float
    high: float
    seeds: int


def effect(values: Sequence[float]) -> Effect:
    """Mean and 95 % interval of independent numbers."""
    numbers = np.asarray(values, float)
    if len(numbers) < 2:
        return Effect(
            float(numbers.mean()) if len(numbers) else np.nan, np.nan, np.nan, len(numbers)
        )
    error = numbers.std(ddof=1) / np.sqrt(len(numbers))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1) * error)
    mean = float(numbers.mean())
    return Effect(mean, mean - half, mean + half, len(numbers))


def p_value(values: Sequence[float], bounds: Sequence[float]) -> float:
    """Largest p of two-sided t-tests of a mean against bounds; nan of one value."""
    if len(values) < 2:
        return np.nan
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    if not error:
        return float(any(bound == np.mean(values) for bound in bounds))
    t = min(abs(np.mean(values) - bound) for bound in bounds) / error
    return float(2 * stats.t.sf(t, len(values) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p of a family of tests; nan, where nothing was tested, does not count."""
    p = pd.Series(p_values, dtype=float).sort_values()
    remaining = p.count() - np.arange(len(p))
    return (p * remaining).clip(upper=1.0).cummax().sort_index().tolist()


def jointly(differences: np.ndarray, groups: Sequence[str] | None = None) -> np.ndarray:
    """Adjusted p of Wilcoxon's signed ranks, allowing for the dependence of the comparisons.

    If no comparison differs, the differences of a task may all change their sign together. The
    largest statistic over such changes gives p without a factor for the number of comparisons,
    in steps from the largest down (Westfall & Young 1993, section 4.1). Zeros keep their ranks
    (Pratt).

    Parameters
    ----------
    differences : of tasks (rows) and comparisons (columns).
    groups : of each task; those of a group change their sign together. All are apart if None.
    """
    names, of_task = np.unique(groups or np.arange(len(differences)), return_inverse=True)
    if len(names) <= EXACT:
        signs = np.array([*product((1, -1), repeat=len(names))])
    else:
        signs = np.random.default_rng(0).choice((1, -1), (2**EXACT, len(names)))
        signs[0] = 1
    signs = signs[:, of_task]
    ranks = np.sign(differences) * stats.rankdata(np.abs(differences), axis=0)
    statistics = np.abs(signs @ ranks)
    order = np.argsort(statistics[0])
    largest = np.maximum.accumulate(statistics[:, order], axis=1)
    p = np.mean(largest >= statistics[0, order], axis=0)
    return np.asarray(np.maximum.accumulate(p[::-1])[::-1][np.argsort(order)])
