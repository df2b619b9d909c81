"""Generalised binary cross-entropy: the paper's loss, its optimum, its limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from xcbench.methods import registry
from xcbench.methods.gbce import GeneralisedOptions, beta, method, sampler
from xcbench.methods.one_vs_all import OneVsAllOptions

TS = (0.0, 0.5, 1.0)


def made(digits, t: float, m: int, K: int = 3) -> tuple[GeneralisedOptions, Any, float]:
    """Settings, dataset and the log-weight of a draw."""
    settings, info = GeneralisedOptions(name="gbce", t=t, negatives=m), digits.info
    info = replace(info, classes=K)
    _, log_weight = sampler(settings, info).draw(
        np.random.default_rng(0), np.zeros(1, int), np.zeros(1, int), 1
    )
    return settings, info, log_weight


def of(settings, info, scores: np.ndarray, log_weight: float):
    objective = method.objective(settings, info)
    return objective(scores, log_weight, np.zeros(len(scores)), 0.1, np.ones(len(scores)))


@pytest.mark.parametrize("t", TS)
def test_it_is_the_papers_loss(t: float, digits) -> None:
    """beta / (m + 1) times the value; grad by finite differences."""
    m, K = 4, 30
    settings, info, log_weight = made(digits, t, m, K)
    scores = np.random.default_rng(1).normal(size=(20, 1 + m))
    alpha = m / (K - 1)
    weight = alpha * (t * (1 - 1 / alpha) + 1 / alpha)
    assert beta(settings, info) == pytest.approx(weight)
    value, grad, _ = of(settings, info, scores, log_weight)
    loss = -(
        weight * np.log(expit(scores[:, 0])) + np.log(1 - expit(scores[:, 1:])).sum(axis=1)
    ) / (m + 1)
    np.testing.assert_allclose(weight / (m + 1) * value, loss, rtol=1e-12)
    for column in range(1 + m):
        aside = 1e-6 * (np.arange(1 + m) == column)
        above, below = (of(settings, info, scores + s * aside, log_weight)[0] for s in (1, -1))
        np.testing.assert_allclose(grad[:, column], (above - below) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("t", TS)
@pytest.mark.parametrize("m", [1, 2])
def test_its_optimum_is_the_closed_form(t: float, m: int, digits) -> None:
    """sigma(f) = beta P / (beta P + alpha (1 - P)): the mean grad vanishes there; P for t = 1."""
    K, P = 3, np.array([0.6, 0.3, 0.1])
    settings, info, log_weight = made(digits, t, m)
    alpha, weight = m / (K - 1), beta(settings, info)
    share = weight * P / (weight * P + alpha * (1 - P))
    if t == 1:
        np.testing.assert_allclose(share, P)
    mean = np.zeros(K)
    for y in range(K):
        sets = list(permutations([k for k in range(K) if k != y], m))
        for drawn in sets:
            classes = [y, *drawn]
            grad = of(settings, info, logit(share)[None, classes], log_weight)[1]
            mean[classes] += P[y] / len(sets) * grad[0]
    np.testing.assert_allclose(mean, 0, atol=1e-14)


def test_calibrated_it_is_one_vs_all(digits) -> None:
    """A draw stands for (K - 1) / m classes, as where one-vs-all draws among those of a label."""
    settings, info, log_weight = made(digits, 1.0, 4, 30)
    assert log_weight == pytest.approx(np.log(29 / 4))
    other = registry.builtin()["one_vs_all"].objective(OneVsAllOptions(name="one_vs_all"), info)
    assert method.objective(settings, info) == other


def test_without_calibration_it_is_binary_cross_entropy(digits) -> None:
    assert made(digits, 0.0, 4, 30)[2] == 0.0


def test_stable_at_extreme_scores(digits) -> None:
    settings, info, log_weight = made(digits, 1.0, 1)
    for scores in ([[-1000.0, 1000.0]], [[1000.0, -1000.0]]):
        value, grad, _ = of(settings, info, np.array(scores), log_weight)
        assert np.isfinite(value).all() and np.isfinite(grad).all()
