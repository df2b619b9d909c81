"""Objectives against finite differences, exact values, mpmath and a two-dimensional minimiser."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, logsumexp

from xcbench.core import samplers
from xcbench.core.objectives import LogOdds, Pairwise, ScoredLogOdds
from xcbench.core.objectives.double_sum import double_sum, raman, raman_code
from xcbench.core.objectives.implicit import implicit, implicit_step
from xcbench.core.objectives.nce import nce
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax

OBJECTIVES = {
    "softmax": LogOdds(softmax, is_bound=True),
    "is": LogOdds(softmax, is_bound=False, weighted=False),
    "ove": Pairwise(one_vs_each, is_bound=True),
    "nce": Pairwise(nce, is_bound=False),
    "vanilla": LogOdds(double_sum, is_bound=True, parameter=np.inf),
    "umax": LogOdds(double_sum, is_bound=True, parameter=1.0),
    "vanilla, raman": ScoredLogOdds(raman, is_bound=True, parameter=np.inf),
    "umax, raman": ScoredLogOdds(raman, is_bound=True, parameter=1.0),
}


def call(objective, scores, log_weight=0.0, local=None, rate=0.1, square_norm=None):
    n = len(scores)
    local = np.full(n, 2.0) if local is None else local
    square_norm = np.ones(n) if square_norm is None else square_norm
    return objective(scores, log_weight, local, rate, square_norm)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("log_weight", [0.0, 1.7])
def test_grad_is_the_gradient_of_the_value(name, log_weight):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(7, 5))
    u = np.full(7, 4.0)  # where U-max does not reset it
    _, grad, _ = call(OBJECTIVES[name], scores, log_weight, u)
    step = 1e-6
    for column in range(scores.shape[1]):
        up, down = scores.copy(), scores.copy()
        up[:, column] += step
        down[:, column] -= step
        above = call(OBJECTIVES[name], up, log_weight, u)[0]
        below = call(OBJECTIVES[name], down, log_weight, u)[0]
        central = (above - below) / (2 * step)
        np.testing.assert_allclose(grad[:, column], central, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["vanilla", "umax", "vanilla, raman", "umax, raman"])
def test_u_moves_along_its_gradient(name):
    scores = np.random.default_rng(2).normal(size=(6, 4))
    u, rate, step = np.full(6, 1.9), 1e-3, 1e-6
    moved = call(OBJECTIVES[name], scores, 0.3, u, rate)[2]
    above = call(OBJECTIVES[name], scores, 0.3, u + step)[0]
    below = call(OBJECTIVES[name], scores, 0.3, u - step)[0]
    np.testing.assert_allclose(moved, u - rate * (above - below) / (2 * step), rtol=1e-9)


def test_softmax_over_all_classes_is_exact():
    scores = np.random.default_rng(3).normal(scale=30, size=(9, 6))
    value, grad, _ = call(OBJECTIVES["softmax"], scores)
    np.testing.assert_allclose(value, -log_softmax(scores, axis=1)[:, 0], rtol=1e-12, atol=1e-14)
    expected = np.exp(log_softmax(scores, axis=1))
    expected[:, 0] -= 1
    np.testing.assert_allclose(grad, expected, atol=1e-13)


def test_double_sum_over_all_classes_is_exact_at_the_best_u():
    scores = np.random.default_rng(4).normal(scale=3, size=(9, 6))
    exact = -log_softmax(scores, axis=1)[:, 0]
    for name in ("vanilla", "umax"):
        value = call(OBJECTIVES[name], scores, local=exact)[0]  # u* = log(1 + e^T)
        np.testing.assert_allclose(value, exact, rtol=1e-12, atol=1e-12)


def test_the_double_sum_of_raman_et_al_is_written_as_in_the_paper():
    """Eq. 8 term by term, for either sign of u, and its published step on u."""
    rng = np.random.default_rng(14)
    scores, u, rate = rng.normal(size=(6, 4)), rng.uniform(-3, 3, 6), 0.01
    true, drawn = np.exp(scores[:, 0] - u), 1.5 * np.exp(scores[:, 1:] - u[:, None])
    total = drawn.sum(axis=1)
    objective = OBJECTIVES["vanilla, raman"]
    value, grad, moved = call(objective, scores, np.log(1.5), u, rate)
    np.testing.assert_allclose(value, u - scores[:, 0] + true + total - 1, rtol=1e-12)
    np.testing.assert_allclose(grad, np.column_stack([true - 1, drawn]), rtol=1e-12)
    np.testing.assert_allclose(moved, u - rate * (1 - true - total), rtol=1e-12)
    published = ScoredLogOdds(raman_code, is_bound=True, parameter=np.inf)
    _, same, moved = call(published, scores, np.log(1.5), u, rate)
    np.testing.assert_array_equal(same, grad)
    np.testing.assert_allclose(moved, u - rate * (1 - np.exp(true) - total), rtol=1e-12)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_the_least_of_raman_et_al_over_u_is_the_exact_negative_log_likelihood(scale):
    for row in np.random.default_rng(15).normal(scale=scale, size=(5, 6)) - 2:

        def value(u, row=row):
            return call(OBJECTIVES["vanilla, raman"], row[None], local=np.array([u]))[0][0]

        solution = minimize_scalar(
            value, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9}
        )
        assert solution.x == pytest.approx(logsumexp(row), abs=1e-5)
        assert solution.fun == pytest.approx(-log_softmax(row)[0], rel=1e-9)


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_bounds_lie_below_the_exact_log_likelihood(scale):
    rng = np.random.default_rng(5)
    scores = rng.normal(scale=scale, size=(200, 8))
    exact = log_softmax(scores, axis=1)[:, 0]
    for u in (0.0, 0.5, 3.0, 20.0):
        for name, objective in OBJECTIVES.items():
            if objective.is_bound and name != "softmax":
                bound = -call(objective, scores, local=np.full(200, u))[0]
                assert (bound <= exact + 1e-12).all(), name
    # Two classes: one-vs-each is exact (Titsias 2016, after Eq. 4).
    pair = -call(OBJECTIVES["ove"], scores[:, :2])[0]
    np.testing.assert_allclose(
        pair, log_softmax(scores[:, :2], axis=1)[:, 0], rtol=1e-12, atol=1e-14
    )


def test_nce_is_logistic_regression_of_true_against_noise():
    scores = np.array([[0.3, -1.2, 2.0]])
    log_weight = np.log(7 / 2)
    value = call(OBJECTIVES["nce"], scores, log_weight)[0]
    noise = 2 / 7  # expected count of a class among the draws
    odds = np.exp(scores[0]) / noise
    true, drawn = odds[0] / (1 + odds[0]), 1 / (1 + odds[1:])
    np.testing.assert_allclose(value, -np.log(true) - np.log(drawn).sum(), rtol=1e-12)


def test_importance_sampling_ignores_how_many_a_draw_stands_for():
    scores = np.random.default_rng(6).normal(size=(5, 4))
    value = call(OBJECTIVES["is"], scores, log_weight=3.0)[0]
    np.testing.assert_allclose(value, -log_softmax(scores, axis=1)[:, 0], rtol=1e-12)


def test_a_left_out_class_counts_nothing():
    scores = np.random.default_rng(7).normal(size=(4, 3))
    masked = np.tile([0.5, -np.inf], (4, 1))
    for name in ("softmax", "vanilla", "umax", "umax, raman"):
        whole = call(OBJECTIVES[name], scores, masked)
        short = call(OBJECTIVES[name], scores[:, :2], 0.5)
        np.testing.assert_allclose(whole[0], short[0], rtol=1e-14)
        np.testing.assert_allclose(whole[1][:, :2], short[1], rtol=1e-14)
        np.testing.assert_allclose(whole[2], short[2], rtol=1e-14)
        assert (whole[1][:, 2] == 0).all()
    u = np.full(4, 1.3)
    for name in ("umax", "umax, raman"):
        nothing_left = call(OBJECTIVES[name], scores, np.full((4, 2), -np.inf), u)
        assert (nothing_left[1] == 0).all() and (nothing_left[2] == u).all()
    with np.errstate(invalid="ignore"):
        step = LogOdds(implicit, is_bound=True)
        nothing_left = call(step, scores, np.full((4, 2), -np.inf), u)
    assert (nothing_left[1] == 0).all() and (nothing_left[2] == u).all()


@pytest.mark.parametrize("name", ["softmax", "is", "ove", "nce", "umax", "umax, raman"])
@pytest.mark.parametrize("scores", [[1000.0, -1000.0], [-1000.0, 1000.0], [1000.0, 1000.0]])
def test_stable_at_extreme_scores(name, scores):
    exact = mpmath.log(1 + mpmath.exp(mpmath.mpf(scores[1]) - mpmath.mpf(scores[0])))
    value, grad, local = call(OBJECTIVES[name], np.array([scores]))
    assert np.isfinite(value).all() and np.isfinite(grad).all() and np.isfinite(local).all()
    if name in ("softmax", "is", "ove"):  # exact for two classes
        np.testing.assert_allclose(value, float(exact), rtol=1e-14)


def test_what_cannot_be_represented_is_infinite_not_clipped():
    with np.errstate(over="ignore"):
        value, grad, _ = call(OBJECTIVES["vanilla"], np.array([[-1000.0, 1000.0]]))
    assert np.isposinf(value).all() and np.isposinf(grad[0, 1])
    # Implicit steps solve for the new point, which is representable even there.
    a, u = implicit_step(np.array([2000.0]), np.array([0.0]), 0.1, np.array([1.0]))
    assert np.isfinite(a).all() and np.isfinite(u).all()


def test_umax_resets_u_only_far_below_its_bound():
    scores = np.array([[0.0, 5.0], [0.0, 5.0]])
    floor = np.log1p(np.exp(5.0))
    value = call(OBJECTIVES["umax"], scores, local=np.array([floor - 1.01, floor - 0.99]))[0]
    plain = call(OBJECTIVES["vanilla"], scores, local=np.array([floor, floor - 0.99]))[0]
    np.testing.assert_allclose(value, plain, rtol=1e-14)


def test_umax_resets_u_of_raman_et_al_to_the_sum_over_true_and_drawn():
    scores = np.array([[-3.0, 1.0, 0.5], [-3.0, 1.0, 0.5]])
    floor = np.log(np.exp(scores[0]).sum())  # weights do not count
    u = np.array([floor - 1.01, floor - 0.99])
    value = call(OBJECTIVES["umax, raman"], scores, 0.7, u)[0]
    plain = call(OBJECTIVES["vanilla, raman"], scores, 0.7, np.array([floor, floor - 0.99]))[0]
    np.testing.assert_allclose(value, plain, rtol=1e-14)


def implicit_oracle(T, u_old, rate, q):
    """Root of the paper's Eq. 16 by bisection with 60 digits and Lambert W."""
    with mpmath.workdps(60):
        T, u_old, c, q = (mpmath.mpf(float(v)) for v in (T, u_old, rate, q))

        def a_of(u):
            return mpmath.lambertw(2 * c * q * mpmath.exp(T - u)).real

        def grad(u):
            return 2 * c * (1 - mpmath.exp(-u)) - a_of(u) / q + 2 * (u - u_old)

        if grad(u_old) < 0:
            low, high = u_old, mpmath.log(1 + mpmath.exp(T)) + 1
        else:
            low, high = min(mpmath.mpf(0), T - 2 * c * q) - 1, u_old
        for _ in range(190):
            middle = (low + high) / 2
            low, high = (middle, high) if grad(middle) < 0 else (low, middle)
        return float(a_of(low)), float(low)


@pytest.mark.parametrize("K", [10, 895, 18207])
@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e8])
def test_implicit_step_solves_the_papers_equation(K, rate):
    rng = np.random.default_rng(K)
    difference = rng.normal(scale=[0.1, 1, 5, 30], size=(3, 4)).ravel()
    u_old = rng.uniform(0, 1.5 * np.log(K), size=12)
    q = rng.choice([0.05, 1.0, 2.0, 100.0], size=12)
    T = difference + np.log(K - 1)
    a, u = implicit_step(T, u_old, rate, q)
    oracle = np.array(
        [implicit_oracle(*point) for point in zip(T, u_old, [rate] * 12, q, strict=True)]
    )
    np.testing.assert_allclose(a, oracle[:, 0], rtol=1e-9)
    np.testing.assert_allclose(u, oracle[:, 1], rtol=1e-9, atol=1e-12)


def test_implicit_step_minimises_the_proximal_objective():
    T, u_old, c, q = 3.2, 1.1, 0.7, 1.9

    def proximal(point):
        u, a = point
        return 2 * c * (u + np.exp(-u) + np.exp(T - a - u)) + (u - u_old) ** 2 + a**2 / (2 * q)

    solution = minimize(
        proximal,
        [u_old, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000},
    )
    a, u = implicit_step(np.array([T]), np.array([u_old]), c, np.array([q]))
    np.testing.assert_allclose([u[0], a[0]], solution.x, rtol=1e-6)


def test_a_row_without_features_still_moves_u():
    a, u = implicit_step(np.array([1.0]), np.array([2.0]), 0.5, np.array([0.0]))
    # min_u 2c(u + e^-u + e^{T-u}) + (u - u_old)²
    grad = 2 * 0.5 * (1 - np.exp(-u) - np.exp(1.0 - u)) + 2 * (u - 2.0)
    np.testing.assert_allclose(grad, 0, atol=1e-10)
    assert a[0] < 1e-25


@pytest.mark.parametrize(
    "formula, parameter",
    [(softmax, 0.0), (double_sum, 1.0), (double_sum, np.inf), (implicit, 0.0)],
)
def test_formulas_work_on_numbers_as_on_arrays(formula, parameter):
    rng = np.random.default_rng(8)
    T, u, q = rng.normal(size=20), rng.uniform(0, 3, 20), rng.uniform(0.5, 2, 20)
    arrays = formula(T + 1, T, u, 0.3, q, parameter)
    for i in range(20):
        single = formula(T[i] + 1, T[i], u[i], 0.3, q[i], parameter)
        np.testing.assert_allclose(
            [float(v) for v in single], [float(v[i]) for v in arrays], rtol=1e-12
        )


@pytest.mark.parametrize("formula", [raman, raman_code])
@pytest.mark.parametrize("delta", [1.0, np.inf])
def test_scored_formulas_work_on_numbers_as_on_arrays(formula, delta):
    rng = np.random.default_rng(9)
    true, T, u = rng.normal(size=20), rng.normal(size=20), rng.uniform(-3, 3, 20)
    arrays = formula(true, T + 1, T, u, 0.3, delta)
    for i in range(20):
        single = formula(true[i], T[i] + 1, T[i], u[i], 0.3, delta)
        np.testing.assert_allclose(
            [float(v) for v in single], [float(v[i]) for v in arrays], rtol=1e-12
        )


@pytest.mark.parametrize("n, sampling", [(1, "others"), (4, "others"), (4, "shared")])
def test_one_vs_each_estimates_its_sum_without_bias(n, sampling):
    """The mean grad over every class that can be drawn is the grad over all classes."""
    K, y = 6, np.full(n, 2)
    scores = np.random.default_rng(16).normal(size=(n, K))
    possible = [k for k in range(K) if sampling == "shared" or k != 2]
    log_weight = samplers.make(sampling, K, 1).draw(np.random.default_rng(0), y, y, n)[1]
    mean = np.zeros((n, K))
    for k in possible:
        grad = call(OBJECTIVES["ove"], scores[:, [2, k]], log_weight)[1] / len(possible)
        mean[:, 2] += grad[:, 0]
        mean[:, k] += grad[:, 1]
    others = [k for k in range(K) if k != 2]
    exact = expit(scores[:, others] - scores[:, [2]])
    np.testing.assert_allclose(mean[:, others], exact, rtol=1e-12)
    np.testing.assert_allclose(mean[:, 2], -exact.sum(axis=1), rtol=1e-12)


def test_baselines_with_one_drawn_class():
    """K = 6, one class drawn among the others: its expected count is 1/5."""
    true, drawn = scores = np.array([0.4, -1.1])
    log_weight = samplers.make("others", 6, 1).draw(
        np.random.default_rng(0), np.zeros(1, int), np.zeros(1, int), 1
    )[1]
    gap = drawn - true
    expected = {
        "ove": (5 * np.log1p(np.exp(gap)), [-5 * expit(gap), 5 * expit(gap)]),
        "is": (np.log1p(np.exp(gap)), [-expit(gap), expit(gap)]),
        "nce": (
            -np.log(expit(true + np.log(5)) * expit(-drawn - np.log(5))),
            [expit(true + np.log(5)) - 1, expit(drawn + np.log(5))],
        ),
    }
    for name, (value, grad) in expected.items():
        result = call(OBJECTIVES[name], scores[None], log_weight)
        np.testing.assert_allclose(result[0], value, rtol=1e-12)
        np.testing.assert_allclose(result[1], [grad], rtol=1e-12)
