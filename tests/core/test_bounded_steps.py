"""Steps that no rate makes too long: of the double sum, and of the local variables of A&R."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import lambertw
from scipy.stats import logistic, norm

import xcbench
from xcbench.core.objectives.augment_reduce import LOGISTIC, PROBIT, Latent
from xcbench.core.objectives.double_sum import bounded, double_sum, lambert

LINKS = {"probit": (PROBIT, norm), "logistic": (LOGISTIC, logistic)}
RATES = (1e-3, 0.1, 10.0, 1e4)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def numbers(rng, size=200):
    """Log-odds, u, |x|²."""
    return rng.normal(0, 4, size), rng.exponential(3, size), rng.exponential(2, size) + 0.01


@pytest.mark.parametrize("log_z", [-700.0, -20.0, -1.0, 0.0, 1.0, 3.0, 30.0, 600.0])
def test_lambert(log_z):
    assert lambert(log_z) == pytest.approx(lambertw(np.exp(log_z)).real, rel=1e-12)


@pytest.mark.parametrize("rate", RATES)
def test_weights_take_the_proximal_step(rng, rate):
    log_odds, u, square_norm = numbers(rng, 20)
    _, grad, _ = bounded(log_odds, log_odds, u, rate, square_norm, np.inf)
    for T, v, q, fall in zip(log_odds, u, square_norm, 2 * rate * square_norm * grad, strict=True):
        best = minimize_scalar(
            lambda a, T=T, v=v, q=q: np.log(rate * np.exp(T - a - v) + a * a / (4 * q)),
            bounds=(0, 2 * rate * q * np.exp(T - v) + 1),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert fall == pytest.approx(best.x, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("delta", [1.0, np.inf])
def test_u_stays_between_where_it_was_and_its_optimum(rng, rate, delta):
    log_odds, u, square_norm = numbers(rng)
    log_drawn = log_odds - np.log(100.0)
    optimum = np.logaddexp(0.0, log_odds)
    _, _, after = bounded(log_odds, log_drawn, u, rate, square_norm, delta)
    _, _, free = double_sum(log_odds, log_drawn, u, rate, square_norm, delta)
    from_u = np.where(u < np.logaddexp(0, log_drawn) - delta, np.logaddexp(0, log_drawn), u)
    assert np.all(after >= np.minimum(from_u, optimum))
    assert np.all(after <= np.maximum(from_u, optimum))
    inside = (free >= np.minimum(from_u, optimum)) & (free <= np.maximum(from_u, optimum))
    np.testing.assert_allclose(after[inside], free[inside], rtol=1e-12)


def test_small_rates_take_the_papers_steps(rng):
    log_odds, u, square_norm = numbers(rng)
    both = [
        formula(log_odds, log_odds, u, 1e-9, square_norm, 1.0) for formula in (bounded, double_sum)
    ]
    for one, other in zip(*both, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3)


@pytest.mark.parametrize("name", ["umax", "vanilla"])
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_every_rate_learns(name, engine):
    dataset = xcbench.load_dataset("digits")
    error = {}
    for lr in (0.1, 10.0, 1000.0):
        estimator = xcbench.SampledSoftmaxClassifier(
            name, lr=lr, epochs=3, engine=engine, step="bounded", random_state=0
        )
        fitted = estimator.fit(dataset.train.X, dataset.train.y)
        error[lr] = 1 - fitted.score(dataset.test.X, dataset.test.y)
    assert max(error.values()) < 0.3, error


@pytest.mark.parametrize("name", LINKS)
def test_second_derivatives(name):
    link, _ = LINKS[name]
    t, h = np.linspace(-12, 12, 49), 1e-5
    for slope, bend in (
        (link.of_log_density, link.bend_of_log_density),
        (link.of_log_cdf, link.bend_of_log_cdf),
    ):
        differences = (slope(t - h) - slope(t + h)) / (2 * h)
        np.testing.assert_allclose(bend(t), differences, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", LINKS)
def test_local_variables_take_no_more_than_newtons_step(name, rng):
    link, _ = LINKS[name]
    scores, weight = rng.normal(0, 3, (50, 4)), np.log(1e5)
    local = rng.normal(size=(50, 2))
    free = Latent(link, noise=rng.normal(size=(50, 2)))
    capped = replace(free, bounded=True)

    def step(objective, rate):
        return objective(scores, weight, local, rate, np.ones(50))[2] - local

    def towards(rate):
        return np.abs(step(capped, rate))

    np.testing.assert_allclose(step(capped, 1e-12), step(free, 1e-12), rtol=1e-3)
    assert np.all(towards(1e3) >= towards(1e-3))
    h = 1e-4  # Newton's step of mu, by differences of the gradient
    slopes, mu_only = [], np.array([1.0, 0.0])
    for moved in (local - h * mu_only, local + h * mu_only):
        after = free(scores, weight, moved, 1e-6, np.ones(50))[2]
        slopes.append((after - moved)[:, 0] / 1e-6)
    now = step(free, 1e-6)[:, 0] / 1e-6
    newton = np.abs(now / ((slopes[0] - slopes[1]) / (2 * h)))
    np.testing.assert_allclose(towards(1e9)[:, 0], newton, rtol=1e-2)
