"""Samplers: what is drawn, and that estimates are unbiased."""

import itertools

import numpy as np
import pytest

from xcbench.core import samplers

K = 6


def test_floyd_draws_every_subset_equally_often():
    rng = np.random.default_rng(0)
    drawn = np.sort(samplers.distinct(rng, 60_000, 5, 3), axis=1)
    subsets, count = np.unique(drawn, axis=0, return_counts=True)
    assert len(subsets) == 10 and (np.diff(drawn, axis=1) > 0).all()
    chi_square = ((count - 6000) ** 2 / 6000).sum()
    assert chi_square < 27.9  # 0.1 % point with 9 degrees of freedom


@pytest.mark.parametrize(
    "sampling, m", [("others", 1), ("others", 3), ("shared", 2), ("drop_hits", 4)]
)
def test_weighted_sums_are_unbiased(sampling, m):
    """Terms vanish at the true class, as gradients do; their sum over classes is recovered."""
    rng = np.random.default_rng(1)
    g = rng.normal(size=K)
    y = rng.integers(0, K, size=120_000)
    classes, log_weight = samplers.make(sampling, K, m).draw(rng, None, y, batch_size=3)
    term = np.where(classes == y[:, None], 0.0, g[classes])
    estimate = (np.exp(log_weight) * term).sum(axis=1)
    exact = g.sum() - g[y]
    error = (estimate - exact).mean() / ((estimate - exact).std() / np.sqrt(len(y) / 3))
    assert abs(error) < 4


def test_others_never_hit_the_true_class():
    rng = np.random.default_rng(2)
    y = rng.integers(0, K, size=5000)
    classes, log_weight = samplers.make("others", K, K - 1).draw(rng, None, y, batch_size=1)
    assert (classes != y[:, None]).all() and log_weight == 0.0
    assert (np.sort(classes, axis=1)[:, :-1] < np.sort(classes, axis=1)[:, 1:]).all()


def test_shared_draws_once_a_minibatch():
    rng = np.random.default_rng(3)
    classes, _ = samplers.make("shared", K, 2).draw(rng, None, np.zeros(10, int), batch_size=4)
    assert (classes[0:4] == classes[0]).all() and (classes[8:] == classes[8]).all()
    assert not (classes == classes[0]).all()


def test_a_kept_hit_is_what_is_published_not_unbiased():
    rng = np.random.default_rng(4)
    y = np.zeros(10_000, int)
    classes, log_weight = samplers.make("any", K, 1).draw(rng, None, y, batch_size=1)
    assert abs((classes == 0).mean() - 1 / K) < 0.02
    assert log_weight == pytest.approx(np.log(K - 1))


class Listed:
    """A generator whose draws are listed: row i has the i-th possible one."""

    def integers(self, low, high, size):
        rows, m = size
        every = np.stack(np.unravel_index(np.arange(high**m), (high,) * m), axis=1)
        assert rows == len(every)
        return every


@pytest.mark.parametrize("labels", [1, 2, 4])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_bias_of_absent_is_its_formula(labels, m):
    """All K^m draws are as likely: their mean is 1 - (P/K)^m times the sum, over P."""
    from xcbench.core.samplers.absent import Absent

    rows, g = K**m, np.random.default_rng(5).normal(size=K)
    keys = (np.arange(rows)[:, None] * K + np.arange(labels)).ravel()
    sampler = Absent(K, m, keys, np.full(rows, labels))
    classes, log_weight = sampler.draw(Listed(), np.arange(rows), np.zeros(rows, int), 1)
    mean = (np.exp(log_weight) * g[classes]).sum(axis=1).mean()
    assert mean == pytest.approx((1 - (labels / K) ** m) * g[labels:].sum() / labels, rel=1e-12)


@pytest.mark.parametrize(
    "name, m, factor",
    [
        ("drop_hits", 1, 1 - 1 / K),
        ("drop_hits", 2, 1.0),
        ("drop_hits", 3, 1.0),
        ("any", 1, 1 - 1 / K),
        ("any", 3, 1 - 1 / K),
    ],
)
def test_the_bias_of_kept_and_dropped_hits_is_its_formula(name, m, factor, monkeypatch):
    """All subsets of m classes are as likely; terms vanish at the true class, 0."""
    every = np.array(list(itertools.combinations(range(K), m)))
    monkeypatch.setattr(samplers, "distinct", lambda *_: every)
    g = np.random.default_rng(6).normal(size=K) * (np.arange(K) > 0)
    y = np.zeros(len(every), int)
    classes, log_weight = samplers.make(name, K, m).draw(None, None, y, 1)
    mean = (np.exp(log_weight) * g[classes]).sum(axis=1).mean()
    assert mean == pytest.approx(factor * g.sum(), rel=1e-12)


def test_all_draws_leave_out_everything_when_all_are_hits():
    classes, log_weight = samplers.make("drop_hits", 2, 1).draw(
        np.random.default_rng(0), None, np.zeros(50, int), 1
    )
    assert (np.isneginf(log_weight) == (classes == 0)).all()
