"""The softplus approximation: bounds, limits, finite differences, means over draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.double_sum import double_sum
from xcbench.core.objectives.lse_softplus import EachDraw, lse_softplus, softened
from xcbench.methods import registry
from xcbench.methods.lse_softplus import SoftplusOptions

RHO = 0.3
ONE = LogOdds(lse_softplus, False, parameter=float(np.log(RHO)))
EACH = EachDraw(ONE, is_bound=False)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def of(objective, scores, u, log_weight=0.4, rate=0.1):
    return objective(scores, log_weight, u, rate, np.ones(len(scores)))


@pytest.mark.parametrize("objective", [ONE, EACH], ids=["one", "each"])
def test_grad_and_the_step_of_u_are_gradients_of_the_value(objective, rng) -> None:
    scores, u = rng.normal(size=(7, 5)), rng.uniform(0.5, 4, 7)
    _, grad, moved = of(objective, scores, u, rate=1e-3)
    for column in range(scores.shape[1]):
        aside = 1e-6 * (np.arange(scores.shape[1]) == column)
        above, below = of(objective, scores + aside, u)[0], of(objective, scores - aside, u)[0]
        np.testing.assert_allclose(grad[:, column], (above - below) / 2e-6, rtol=1e-6, atol=1e-8)
    above, below = of(objective, scores, u + 1e-6)[0], of(objective, scores, u - 1e-6)[0]
    np.testing.assert_allclose(moved, u - 1e-3 * (above - below) / 2e-6, rtol=1e-9)


def test_a_small_rho_is_vanilla_sgd(rng) -> None:
    scores, u = rng.normal(size=(50, 2)), rng.uniform(0.5, 4, 50)
    small = LogOdds(lse_softplus, False, parameter=float(np.log(1e-9)))
    vanilla = LogOdds(double_sum, True, parameter=np.inf)
    for one, other in zip(of(small, scores, u), of(vanilla, scores, u), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.3])
def test_its_least_value_lies_little_below_log_sum_exp(rho: float, rng) -> None:
    """J + log(1 - rho kappa) <= J_rho <= J on five classes, kappa = sum e^{2s} / (sum e^s)²."""
    for _ in range(40):
        s = np.array([0.0, *(np.log(4) + rng.normal(0, 2, 4))])
        share = np.array([1.0, *[0.25] * 4])
        exact = np.log(share @ np.exp(s))
        kappa = share @ np.exp(2 * s) / np.exp(2 * exact)
        if rho * kappa >= 1:
            continue
        scores = np.array([[0.0, *(s[1:] - np.log(4))]])
        objective = EachDraw(LogOdds(lse_softplus, False, parameter=np.log(rho)), is_bound=False)
        best = minimize_scalar(
            lambda u, scores=scores, objective=objective: of(
                objective, scores, np.array([u]), log_weight=0.0
            )[0][0],
            bounds=(-5, 25),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert exact + np.log1p(-rho * kappa) <= best.fun <= exact


def test_the_mean_over_draws_estimates_all_classes_without_bias(rng) -> None:
    """The mean value and grad over every class that one draw may be, and over pairs of them."""
    K = 6
    scores, u = rng.normal(size=(1, K)), np.array([1.2])
    whole, grad, _ = of(EACH, scores, u, log_weight=0.0)
    log_weight = np.log(K - 1)
    singles = [of(ONE, scores[:, [0, k]], u, log_weight) for k in range(1, K)]
    assert np.mean([value for value, _, _ in singles]) == pytest.approx(whole[0])
    of_drawn = [single[0, 1] / (K - 1) for _, single, _ in singles]
    np.testing.assert_allclose(of_drawn, grad[0, 1:], rtol=1e-12)
    pairs = [
        of(EACH, scores[:, [0, k, j]], u, log_weight - np.log(2))[0][0]
        for k in range(1, K)
        for j in range(1, K)
        if j != k
    ]
    assert np.mean(pairs) == pytest.approx(whole[0])


def test_draws_that_are_left_out_count_nothing(rng) -> None:
    scores, u = rng.normal(size=(4, 3)), np.full(4, 1.3)
    masked = of(EACH, scores, u, np.tile([0.5, -np.inf], (4, 1)))
    short = of(ONE, scores[:, :2], u, 0.5)
    np.testing.assert_allclose(masked[0], short[0], rtol=1e-14)
    np.testing.assert_allclose(masked[1][:, :2], short[1], rtol=1e-14)
    np.testing.assert_allclose(masked[2], short[2], rtol=1e-14)
    nothing = of(EACH, scores, u, np.full((4, 2), -np.inf))
    assert (nothing[1] == 0).all() and (nothing[2] == u).all()


def test_a_draw_moves_the_weights_by_one_over_rho_at_most() -> None:
    for scores in ([[-1000.0, 1000.0]], [[1000.0, -1000.0]], [[0.0, 0.0]]):
        value, grad, moved = of(ONE, np.array(scores), np.array([0.0]))
        assert np.isfinite(value).all() and np.isfinite(moved).all()
        assert np.abs(grad).max() <= 1 / RHO + 1e-12


def test_u_does_not_fall_below_its_least_optimum() -> None:
    u = np.array([0.0])
    for _ in range(200):
        u = lse_softplus(-np.inf, -np.inf, u, 0.5, 1.0, np.log(RHO))[2]
    assert u[0] == pytest.approx(np.log1p(-RHO))
    assert softened(-u[0], np.log(RHO))[1] == pytest.approx(1.0)


def test_a_single_draw_runs_compiled(digits) -> None:
    for negatives, sampler, kind in (
        (1, "others", LogOdds),
        (2, "others", EachDraw),
        (1, "all", EachDraw),
    ):
        settings = SoftplusOptions(name="lse_softplus", negatives=negatives, sampler=sampler)
        made = registry.method_of(settings).objective(settings, digits.info)
        assert isinstance(made, kind) and (made.scalar is not None) == (kind is LogOdds)
