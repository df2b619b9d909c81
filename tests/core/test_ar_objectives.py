"""Augment and reduce: its bounds against integrals, its gradients against differences."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import gumbel_r, logistic, norm

from xcbench.core import samplers
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.augment_reduce import (
    LOGISTIC,
    PROBIT,
    Latent,
    averaged,
    averaged_after,
)
from xcbench.methods import registry

LINKS = {"probit": (PROBIT, norm), "logistic": (LOGISTIC, logistic)}
SOFTMAX = LogOdds(averaged, is_bound=True, start=np.log(2.0))
NAMES = ("softmax", "probit", "logistic")


def objective(name, noise=0.3, B=1):
    if name == "softmax":
        return SOFTMAX
    return Latent(LINKS[name][0]).with_noise(np.full((B, 2), noise))


def call(name, scores, local, rate, log_weight=0.0, noise=0.3):
    """Value, grad and local state; a rate of 0 leaves the local variables where they are."""
    local = np.atleast_1d(local) if name == "softmax" else np.atleast_2d(local)
    made = objective(name, noise, len(scores))
    with np.errstate(divide="ignore"):
        return made(scores, log_weight, local, rate, np.ones(len(scores)))


def some_local(name, rng):
    return rng.uniform(0, 3) if name == "softmax" else rng.normal(size=2)


@pytest.mark.parametrize("t", [-1e8, -900.0, -30.0, -5.0, -0.1, 0.0, 2.0, 20.0, 300.0])
def test_the_normal_distributions_tails(t):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(130):
        below = (
            mpmath.ncdf(t)
            if t > -1e3
            else mpmath.exp(-(mpmath.mpf(t) ** 2) / 2) / -mpmath.mpf(t) / mpmath.sqrt(2 * mpmath.pi)
        )
        ratio = mpmath.npdf(t) / below
        expected = [float(mpmath.log(below)), float(ratio)]
    result = [PROBIT.log_cdf(t), PROBIT.of_log_cdf(t)]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", LINKS)
def test_densities_distributions_and_their_derivatives_belong_together(name):
    link, peer = LINKS[name]
    x = np.linspace(-6, 6, 25)
    np.testing.assert_allclose(link.log_density(x), peer.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(link.log_cdf(x), peer.logcdf(x), rtol=1e-9)
    assert link.entropy == pytest.approx(float(peer.entropy()), rel=1e-9)
    h = 1e-6
    for f, grad in ((peer.logpdf, link.of_log_density), (peer.logcdf, link.of_log_cdf)):
        np.testing.assert_allclose(grad(x), (f(x + h) - f(x - h)) / (2 * h), rtol=1e-6, atol=1e-8)
    drawn = link.sample(np.random.default_rng(0), (40_000,))
    assert drawn.mean() == pytest.approx(0, abs=0.04)
    assert drawn.std() == pytest.approx(peer.std(), rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_grads_are_gradients_of_values(name):
    rng = np.random.default_rng(1)
    for _ in range(20):
        scores, local = rng.normal(scale=3, size=(1, 5)), some_local(name, rng)
        log_weight, h = rng.normal(size=(1, 4)), 1e-5
        grad = call(name, scores, local, 0.0, log_weight)[1][0]
        for c in range(5):
            aside = h * (np.arange(5) == c)
            up, down = (call(name, scores + d, local, 0.0, log_weight)[0] for d in (aside, -aside))
            np.testing.assert_allclose(grad[c], (up - down) / (2 * h), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("entropy", [True, False])
@pytest.mark.parametrize("name", LINKS)
def test_the_local_step_follows_the_gradient_of_the_bound(name, entropy):
    """Finite differences of the ELBO, or of the ELBO without the entropy, in mu and gamma."""
    rng = np.random.default_rng(2)
    made = replace(objective(name, 0.7), entropy=entropy)
    for _ in range(20):
        scores, local = rng.normal(size=(1, 6)), rng.normal(size=(1, 2))

        def bound(moved, scores=scores):
            entropy_of_q = 0.0 if entropy else np.log(np.logaddexp(0, moved[0, 1]))
            return -made(scores, 0.4, moved, 0.0, np.ones(1))[0][0] - entropy_of_q

        h = 1e-5
        expected = [
            (bound(local + h * np.eye(2)[[i]]) - bound(local - h * np.eye(2)[[i]])) / (2 * h)
            for i in range(2)
        ]
        moved = made(scores, 0.4, local, 1e-3, np.ones(1))[2]
        np.testing.assert_allclose((moved - local)[0] / 1e-3, expected, rtol=1e-5, atol=1e-7)


def log_marginal(peer, gap):
    """Log of the probability that the true class has the largest utility (Eq. 5)."""
    top, _ = quad(lambda e: np.exp(peer.logpdf(e) + peer.logcdf(e + gap).sum()), -30, 40, limit=400)
    return np.log(top)


@pytest.mark.parametrize("name", LINKS)
def test_the_bound_lies_below_the_log_marginal_likelihood(name):
    """Both by quadrature over eps; at its best q the bound is close."""
    link, peer = LINKS[name]
    rng = np.random.default_rng(3)
    for _ in range(4):
        scores = rng.normal(scale=1.5, size=(1, 7))
        exact = log_marginal(peer, scores[0, 0] - scores[0, 1:])
        v = np.linspace(-18, 18, 1201) if name == "logistic" else np.linspace(-9, 9, 601)
        mass = peer.pdf(v) * (v[1] - v[0])
        repeated = np.repeat(scores, len(v), axis=0)
        made = Latent(link).with_noise(np.column_stack([v, v]))

        def bound(local, mass=mass, made=made, repeated=repeated):
            at = np.tile(local, (len(repeated), 1))
            return -float(mass @ made(repeated, 0.0, at, 0.0, np.ones(len(at)))[0])

        for _ in range(5):
            assert bound(rng.normal(scale=1.5, size=2)) < exact
        best = minimize(lambda local, bound=bound: -bound(local), [0.0, 0.5], method="Nelder-Mead")
        assert exact - 0.06 < -best.fun < exact


def test_the_softmax_bound_is_exact_at_its_best_eta_alone():
    rng = np.random.default_rng(4)
    scores = rng.normal(scale=2, size=(30, 6))
    exact = log_softmax(scores, axis=1)
    _, grad, u = call("softmax", scores, rng.uniform(0, 3, 30), 1.0)
    value = call("softmax", scores, u, 0.0)[0]
    np.testing.assert_allclose(u, np.log(np.exp(scores - scores[:, :1]).sum(axis=1)), rtol=1e-12)
    np.testing.assert_allclose(value, -exact[:, 0], rtol=1e-12)
    np.testing.assert_allclose(grad, np.exp(exact) - np.eye(6)[0], rtol=1e-10, atol=1e-12)
    for aside in (-0.3, 0.4, 2.0):
        assert (call("softmax", scores, u + aside, 0.0)[0] > value).all()
    integrated = [log_marginal(gumbel_r, row[0] - row[1:]) for row in scores[:5]]
    np.testing.assert_allclose(integrated, exact[:5, 0], rtol=1e-7)


def test_gumbel_errors_are_softmax_and_their_posterior_is_gumbel():
    """Simulated utilities: who wins, and the error of the winner, Gumbel at log eta*."""
    rng = np.random.default_rng(5)
    psi = np.array([[0.3, -0.5, 1.0, 0.0]])
    errors = rng.gumbel(size=(200_000, 4))
    won = (psi + errors).argmax(axis=1) == 0
    u = call("softmax", psi, 1.0, 1.0)[2]
    assert won.mean() == pytest.approx(np.exp(-call("softmax", psi, u, 0.0)[0][0]), abs=0.004)
    kept = errors[won, 0] - u[0]
    assert kept.mean() == pytest.approx(np.euler_gamma, abs=0.02)
    assert kept.std() == pytest.approx(np.pi / np.sqrt(6), rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_the_reported_bound_does_not_depend_on_the_step_it_precedes(name):
    """Else it would be correlated with the draws, and its mean no bound."""
    rng = np.random.default_rng(7)
    scores, local = rng.normal(size=(1, 6)), some_local(name, rng)
    values = [call(name, scores, local, rate)[0] for rate in (0.0, 0.5)]
    assert values[0] == values[1]


@pytest.mark.parametrize("name", NAMES)
def test_subsampled_grads_have_the_mean_of_all_classes(name):
    """Over every subset that can be drawn; over every class of a frequency proposal."""
    rng = np.random.default_rng(6)
    scores, local = rng.normal(size=(1, 6)), some_local(name, rng)
    value, grad, _ = call(name, scores, local, 0.0)
    _, log_weight = samplers.make("others", 6, 2).draw(rng, np.zeros(1, int), np.zeros(1, int), 1)
    subsets = list(combinations(range(1, 6), 2))
    mean, mean_value = np.zeros(6), 0.0
    for subset in subsets:
        of_value, part, _ = call(name, scores[:, [0, *subset]], local, 0.0, log_weight)
        mean[[0, *subset]] += part[0] / len(subsets)
        mean_value += of_value[0] / len(subsets)
    np.testing.assert_allclose(mean, grad[0], rtol=1e-12)
    assert mean_value == pytest.approx(value[0], rel=1e-12)

    counts = np.array([5, 0, 1, 7, 30, 2])
    data = SimpleNamespace(class_counts=counts)
    proposal = samplers.make("frequency", 6, 1, 0.7).fitted(data)
    drawn, log_weights = proposal.draw(rng, np.zeros(3000, int), np.zeros(3000, int), 1)
    mean = np.zeros(6)
    share = (counts[1:] + 1.0) ** 0.7 / ((counts[1:] + 1.0) ** 0.7).sum()
    for k in range(1, 6):
        weight = log_weights[drawn[:, 0] == k][:1]
        mean[[0, k]] += share[k - 1] * call(name, scores[:, [0, k]], local, 0.0, weight)[1][0]
    np.testing.assert_allclose(mean, grad[0], rtol=1e-12)


def every_draw(K, m):
    """Weights (draws, K - 1) of every choice of m of K - 1 classes, as `Others` has them."""
    chosen = list(combinations(range(K - 1), m))
    weights = np.full((len(chosen), K - 1), -np.inf)
    for row, drawn in enumerate(chosen):
        weights[row, list(drawn)] = np.log((K - 1) / m)
    return weights


@pytest.mark.parametrize("m", [1, 3])
def test_after_its_local_step_the_mean_bound_lies_too_high(m):
    """All draws, alpha 0.5, near the best eta: a bound before the step, above the exact one after.

    By alpha Var(e^T) / eta² to second order.
    """
    rng = np.random.default_rng(6)
    weights = every_draw(7, m)
    for _ in range(5):
        scores = np.repeat(rng.normal(size=(1, 7)), len(weights), axis=0)
        exact = log_softmax(scores[0])[0]
        u, ones = np.full(len(weights), -exact), np.ones(len(weights))
        before, after = (
            -LogOdds(formula, is_bound=True)(scores, weights, u, 0.5, ones)[0].mean()
            for formula in (averaged, averaged_after)
        )
        assert before == pytest.approx(exact, abs=1e-12)  # unbiased, and tight at the best eta
        assert after > exact
        alpha = 1e-4
        odds = np.exp(scores[:, 1:] - scores[:, :1] + weights).sum(axis=1)
        slightly = -LogOdds(averaged_after, is_bound=True)(scores, weights, u, alpha, ones)[0]
        rise = alpha * odds.var() * np.exp(2 * exact)
        assert slightly.mean() - exact == pytest.approx(rise, rel=2e-3)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_complementary_sum_sampling_is_no_bound(m):
    """The mean over all draws lies above the log-likelihood, with all classes drawn it is that."""
    weights = every_draw(8, m)
    made = registry.builtin()["css"].objective(None, None)
    assert not made.is_bound
    for row in np.random.default_rng(7).normal(scale=2, size=(5, 8)):
        scores = np.repeat(row[None], len(weights), axis=0)
        value, grad, _ = made(scores, weights, np.zeros(len(weights)), 0.1, np.ones(len(weights)))
        odds = [7 / m * sum(np.exp(row[1:][list(c)] - row[0])) for c in combinations(range(7), m)]
        np.testing.assert_allclose(value, np.log1p(odds), rtol=1e-12)
        assert -value.mean() > log_softmax(row)[0]
        assert np.abs(grad).sum(axis=1).max() <= 2  # however much a draw stands for
        whole = made(row[None], 0.0, np.zeros(1), 0.1, np.ones(1))[0]
        np.testing.assert_allclose(whole, -log_softmax(row)[0], rtol=1e-12)
