"""SCENT, SOX and ASGD: limits, bounds of u, finite differences, both starts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from xcbench.core.objectives import LogOdds, softplus
from xcbench.core.objectives.augment_reduce import averaged
from xcbench.core.objectives.double_sum import double_sum
from xcbench.core.objectives.scent import asgd, scent, sox
from xcbench.core.objectives.softmax import softmax
from xcbench.methods import registry
from xcbench.methods.scent import ScentOptions

FORMULAS = {"scent": (scent, np.log(0.3)), "sox": (sox, 0.2), "asgd": (asgd, 0.05)}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def numbers(rng: np.random.Generator, size: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds and u."""
    return rng.normal(0, 4, size), rng.exponential(3, size)


def of(objective: LogOdds, scores: np.ndarray, u: np.ndarray, log_weight: float = 0.4):
    return objective(scores, log_weight, u, 0.1, np.ones(len(scores)))


@pytest.mark.parametrize("name", FORMULAS)
def test_grad_is_the_gradient_of_the_value_at_the_u_of_the_step(name: str, rng) -> None:
    """Finite differences of the double sum: at the new u, and for ASGD at the old one."""
    scores, u = rng.normal(size=(7, 5)), rng.uniform(0.5, 4, 7)
    formula, parameter = FORMULAS[name]
    value, grad, moved = of(LogOdds(formula, False, parameter=parameter), scores, u)
    at = u if name == "asgd" else moved
    held = LogOdds(double_sum, True, parameter=np.inf)
    np.testing.assert_allclose(value, of(held, scores, at)[0], rtol=1e-12)
    for column in range(scores.shape[1]):
        aside = 1e-6 * (np.arange(scores.shape[1]) == column)
        above, below = of(held, scores + aside, at)[0], of(held, scores - aside, at)[0]
        np.testing.assert_allclose(grad[:, column], (above - below) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("weighted", [True, False])
def test_large_alpha_forgets_u(weighted: bool, rng) -> None:
    """beta = 1: importance sampling with weights 1, complementary sum sampling with others."""
    scores, u = rng.normal(size=(50, 4)), rng.exponential(3, 50)
    made = partial(LogOdds, is_bound=False, weighted=weighted)
    result = of(made(scent, parameter=40.0), scores, u)
    expected = of(made(softmax), scores, u)
    np.testing.assert_allclose(result[0], expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result[1], expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("formula", "parameter"), [(scent, -60.0), (sox, 1e-18), (asgd, 1e-18)])
def test_no_step_keeps_u(formula, parameter: float, rng) -> None:
    log_odds, u = numbers(rng)
    np.testing.assert_allclose(formula(log_odds, log_odds, u, 0.1, 1.0, parameter)[2], u, rtol=1e-9)


@pytest.mark.parametrize("log_alpha", [-10.0, -1.0, 0.0, 3.0, 20.0])
def test_it_is_the_proximal_step(log_alpha: float, rng) -> None:
    """Against a minimiser of e^{T - v} + e^{-v} + v + D(v, u) / alpha, D of e^{-u}."""
    for T, u in zip(*numbers(rng, 8), strict=True):
        z, alpha = 1 + np.exp(T), np.exp(log_alpha)

        def proximal(v: float, u=u, z=z, alpha=alpha) -> float:
            divergence = np.exp(-v) - np.exp(-u) + np.exp(-u) * (v - u)
            return z * np.exp(-v) + v + divergence / alpha

        ends = sorted((u, np.log(z)))
        best = minimize_scalar(
            proximal, bounds=(ends[0] - 1, ends[1] + 1), method="bounded", options={"xatol": 1e-10}
        )
        assert scent(T, T, u, 0.1, 1.0, log_alpha)[2] == pytest.approx(best.x, abs=2e-5)


def test_it_is_a_moving_average_whose_weight_grows_with_u(rng) -> None:
    T, u = numbers(rng)
    alpha = 0.3
    beta = alpha * np.exp(u) / (1 + alpha * np.exp(u))
    result = scent(T, T, u, 0.1, 1.0, np.log(alpha))
    _, grad, moved = averaged(T, T, u, beta, 1.0, 0.0)
    np.testing.assert_allclose(result[1], grad, rtol=1e-6)
    np.testing.assert_allclose(result[2], moved, rtol=1e-6)


@pytest.mark.parametrize(("formula", "parameter"), [FORMULAS["scent"], FORMULAS["sox"]])
def test_u_stays_within_what_it_has_seen(formula, parameter: float, rng) -> None:
    """Lemma 3.3: between the least and the largest of its start and of the log z so far."""
    u = rng.exponential(3, 50)
    low, high = u.copy(), u.copy()
    for _ in range(30):
        T = rng.normal(0, 6, 50)
        u = formula(T, T, u, 0.1, 1.0, parameter)[2]
        low, high = np.minimum(low, softplus(T)), np.maximum(high, softplus(T))
        assert (low - 1e-12 <= u).all() and (u <= high + 1e-12).all()


@pytest.mark.parametrize("scores", [[1000.0, -1000.0], [-1000.0, 1000.0], [1000.0, 1000.0]])
def test_stable_at_extreme_scores(scores: list[float]) -> None:
    for u in (0.0, 2.0, 700.0):
        result = of(LogOdds(scent, False, parameter=-3.0), np.array([scores]), np.array([u]))
        assert all(np.isfinite(part).all() for part in result)


def test_on_a_fixed_row_u_converges_as_one_over_the_root_of_steps(rng) -> None:
    """A convex problem in u alone: classes of fixed scores, one drawn a step, alpha falling."""
    K, steps, rows = 6, 4000, 300
    scores = np.array([0.0, 1.5, -1.0, 0.3, -2.0, 0.8])
    exact = np.log(np.exp(scores).sum())
    u = np.full(rows, np.log(K))
    means = []
    for t in range(1, steps + 1):
        T = np.log(K - 1) + scores[rng.integers(1, K, rows)]
        u = scent(T, T, u, 0.1, 1.0, -0.5 * np.log(t) - np.log(K))[2]
        if t in (40, 400, 4000):
            means.append(np.sqrt(np.mean((u - exact) ** 2)))
    assert means[0] > 1.3 * means[1] > 1.3**2 * means[2]
    assert means[-1] < 0.1


@pytest.mark.parametrize("dual", ["scent", "sox", "asgd"])
def test_options_make_its_formula(dual: str, digits) -> None:
    settings = ScentOptions(name="scent", dual=dual)
    made = registry.method_of(settings).objective(settings, digits.info)
    assert made.formula is FORMULAS[dual][0] and made.start == pytest.approx(np.log(10))
    assert made.is_bound == (dual == "asgd")


@pytest.mark.parametrize("formula", [scent, sox, asgd])
def test_works_on_numbers_as_on_arrays(formula, rng) -> None:
    T, u = numbers(rng, 20)
    arrays = formula(T, T, u, 0.1, 1.0, 0.2)
    for i in range(20):
        single = [float(v) for v in formula(T[i], T[i], u[i], 0.1, 1.0, 0.2)]
        np.testing.assert_allclose(single, [float(v[i]) for v in arrays], rtol=1e-12)
