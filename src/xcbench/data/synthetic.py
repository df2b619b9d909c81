"""Synthetic rows from a planted linear model.

A row of class y has T words drawn from ``theta_y = (1 - signal) p + signal · uniform(own_y)``. Here
p is a power law over all features, and own_y are a few features of the class. For word counts x the
true posterior is a linear softmax: log p(y | x) = x · log theta_y + log p(y) + const.
"""

from __future__ import annotations

import numpy as np
import scipy
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.settings import SyntheticSettings
from xcbench.errors import UserError

VERSION = 2
CLASS_FEATURES = 10
BLOCK = 2**22  # words drawn at once


def make(spec: SyntheticSettings) -> tuple[Raw, Raw]:
    """Training and test rows; every class has at least one training row.

    Raises
    ------
    UserError
        If the numbers contradict each other.
    """
    if spec.train < spec.classes:
        raise UserError(
            f"dataset.synthetic: {spec.classes} classes need at least as many training rows, "
            f"not {spec.train}"
        )
    rng = np.random.default_rng(spec.seed)
    law = power_law(spec.classes, spec.class_exponent)
    class_features = np.array(
        [
            rng.choice(spec.features, min(CLASS_FEATURES, spec.features), replace=False)
            for _ in range(spec.classes)
        ]
    )
    words = words_for(spec, class_features.shape[1])
    y = np.concatenate(
        [np.arange(spec.classes), rng.choice(spec.classes, spec.train - spec.classes, p=law)]
    )
    rng.shuffle(y)
    y_test = rng.choice(spec.classes, spec.test, p=law)
    return (
        Raw.single(_rows(rng, y, class_features, words, spec), y, spec.classes),
        Raw.single(_rows(rng, y_test, class_features, words, spec), y_test, spec.classes),
    )


def power_law(size: int, exponent: float) -> np.ndarray:
    """Probabilities ∝ k^-exponent, k = 1..size."""
    weights = np.arange(1, size + 1, dtype=float) ** -exponent
    return weights / weights.sum()


def words_for(spec: SyntheticSettings, n_of_class: int) -> int:
    """Number of words T that gives a mean number of distinct features."""
    background = (1 - spec.signal) * power_law(spec.features, spec.feature_exponent)
    share = n_of_class / spec.features  # of classes that own a feature

    def distinct(words: float) -> float:
        absent = (1 - share) * np.exp(words * np.log1p(-background))
        absent += share * np.exp(words * np.log1p(-background - spec.signal / n_of_class))
        return float((1 - absent).sum())

    most = 1000.0 * spec.features
    if distinct(most) <= spec.nonzeros:
        raise UserError(
            f"dataset.synthetic.nonzeros={spec.nonzeros:g} is too many for {spec.features} features"
        )
    if distinct(1.0) >= spec.nonzeros:
        return 1
    return max(
        1, round(scipy.optimize.brentq(lambda words: distinct(words) - spec.nonzeros, 1.0, most))
    )


def _rows(
    rng: np.random.Generator,
    y: np.ndarray,
    class_features: np.ndarray,
    words: int,
    spec: SyntheticSettings,
) -> sp.csr_array:
    """Word counts of rows of the given classes."""
    cumulative = np.cumsum(power_law(spec.features, spec.feature_exponent))
    blocks = []
    step = min(4096, max(1, BLOCK // words))
    for start in range(0, len(y), step):
        label = y[start : start + step]
        shape = (len(label), words)
        word = np.searchsorted(cumulative, rng.random(shape) * cumulative[-1])
        feature = np.take_along_axis(
            class_features[label], rng.integers(class_features.shape[1], size=shape), axis=1
        )
        word = np.where(rng.random(shape) < spec.signal, feature, word)
        cell, count = np.unique(
            word + spec.features * np.arange(len(label))[:, None], return_counts=True
        )
        row, column = np.divmod(cell, spec.features)
        blocks.append(
            sp.csr_array(
                (count.astype(np.float32), (row, column)), shape=(len(label), spec.features)
            )
        )
    return sp.csr_array(sp.vstack(blocks, format="csr"))
