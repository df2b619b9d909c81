"""Negatives of the true class's cluster: how often, and what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from xcbench.core import samplers
from xcbench.core.dataset import Dataset, Split

K, DRAWS = 8, 60_000
Y = np.repeat(np.arange(K), 4)
CENTRES = np.eye(2).repeat(4, axis=0)  # classes 0 to 3 are alike, and 4 to 7
X = (CENTRES[Y] + 0.05 * np.random.default_rng(0).normal(size=(len(Y), 2))).astype(np.float32)
SPLIT = Split(X, Y)
DATASET = Dataset(None, SPLIT, SPLIT, np.bincount(Y))


def drawn(y: int, **options: float) -> tuple[np.ndarray, np.ndarray]:
    """Many draws for a class, and how many classes each stands for."""
    sampler = samplers.make("clusters", K, 3, **options).fitted(DATASET)
    rows = np.full(DRAWS // 3, y * 4)
    classes, log_weight = sampler.draw(np.random.default_rng(1), rows, Y[rows], 1)
    assert classes is not None
    return classes, np.exp(log_weight)


@pytest.mark.parametrize("y", [0, 3, 5])
@pytest.mark.parametrize("near", [0.0, 0.5, 0.9])
def test_draws_are_of_the_cluster_as_often_as_the_formula_says(y: int, near: float) -> None:
    classes, weight = drawn(y, size=4, near=near)
    alike, others = np.arange(K) // 4 == y // 4, np.arange(K) != y
    q = np.where(others, near * alike / 3 + (1 - near) / (K - 1), 0.0)
    assert not (classes == y).any()
    np.testing.assert_allclose(weight, 1 / (3 * q[classes]))
    count = np.bincount(classes.ravel(), minlength=K)[others]
    assert chisquare(count, q[others] * count.sum()).pvalue > 1e-4


def test_sums_over_the_other_classes_are_without_bias() -> None:
    term = np.random.default_rng(2).normal(size=K)
    classes, weight = drawn(3, size=4)
    sums = (weight * term[classes]).sum(axis=1)
    error = sums.std() / np.sqrt(len(sums))
    assert abs(sums.mean() - np.delete(term, 3).sum()) < 4 * error


def test_a_class_alone_in_its_cluster_has_uniform_draws() -> None:
    _, weight = drawn(5, size=1)
    np.testing.assert_allclose(weight, (K - 1) / 3)
