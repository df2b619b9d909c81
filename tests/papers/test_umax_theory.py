"""The U-max paper's theory: closed forms, mpmath, enumeration, the gradient flow."""

import itertools

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.special import log_softmax

from xcbench.core.objectives.implicit import NEWTON_STEPS, implicit_step
from xcbench.papers import Measured
from xcbench.papers.umax.theory import (
    bisection,
    composition,
    convergence,
    implicit_steps,
    second_moment,
    step_size,
)

K, U = 1000, np.log(1000)


@pytest.mark.parametrize("rate", [0.01, 1.0, 100.0])
def test_steps_of_vanilla_and_umax_are_the_closed_forms(rate):
    gap = np.array([-10.0, 0.0, 0.9, 5.0, 40.0])
    vanilla = step_size.change("vanilla", gap, U, rate, K)
    np.testing.assert_allclose(vanilla, rate * (K - 1) * np.exp(gap), rtol=1e-12)
    umax = step_size.change("umax", gap, U, rate, K)
    # Reset from gap 5 on: u = log(1 + e^d) leaves (K - 1) sigmoid(d), d = gap + u.
    np.testing.assert_allclose(umax[:3], vanilla[:3], rtol=1e-12)
    np.testing.assert_allclose(umax[3:], rate * (K - 1) / (1 + np.exp(-gap[3:] - U)), rtol=1e-12)


@pytest.mark.parametrize("gap, rate, q", [(-10, 100, 1), (3, 0.01, 1), (40, 1, 1), (700, 5, 3)])
def test_an_implicit_step_is_a_gradient_at_the_new_point(gap, rate, q):
    """The definition, u' = u - rate df/du(u', w'), w' = w - rate df/dw(u', w'), to 40 digits."""
    T = gap + U + np.log(K - 1)
    a, u = (float(v) for v in implicit_step(T, U, rate, q))
    with mpmath.workdps(40):
        # Along w_k = -a x/(2q) the log-odds fall by a.
        pull = [
            lambda a, u: a / (2 * q) - rate * mpmath.exp(T - a - u),
            lambda a, u: u - U + rate * (1 - mpmath.exp(-u) - mpmath.exp(T - a - u)),
        ]
        exact = mpmath.findroot(pull, (a, u))
        np.testing.assert_allclose([a, u], [float(v) for v in exact], rtol=1e-9)


@pytest.mark.parametrize("q", [0.25, 1.0, 9.0])
def test_an_implicit_step_is_linear_in_a_large_gap(q):
    gaps = np.array([1e7, 2e7])
    a = implicit_step(gaps + U, np.full(2, U), 1.0, np.full(2, q))[0]
    length = a / (2 * np.sqrt(q))
    np.testing.assert_allclose(np.diff(length) / 1e7, step_size.implicit_limit(q), rtol=1e-6)


def test_proposition_1_holds_in_u_and_w_but_not_in_w_alone():
    rows = step_size.ratios().set_index(["part", "gap"])
    assert (rows.loc["u and w", "share_larger"] == 0).all()
    assert rows.loc["u and w", "largest"].max() > 0.999  # not for want of long steps
    w = rows.loc["w", "share_larger"]
    assert (w[w.index > 0] == 0).all() and (w[w.index < 0] > 0.1).all()
    # One such state: u far too high falls first, so that the gradient in w is larger there.
    longer = step_size.change("implicit", -12.0, 10.0, 5.0, K)
    assert longer > 2 * 5.0 * np.exp(-12.0) * (K - 1)


def test_proposition_1_holds_with_strong_convexity_and_is_met_by_a_parabola():
    assert 0 < implicit_steps.proposition_1(Measured(pd.DataFrame(), pd.DataFrame()))[0] < 0.1
    parabola = implicit_steps.Logistic(np.zeros(2), np.array([1.0, -2.0]), 0.5)
    end = parabola.after_a_step(np.zeros(2), 2.0)
    np.testing.assert_allclose(end, -2.0 * parabola.gradient(end), atol=1e-6)
    np.testing.assert_allclose(end, [-1.0, 2.0], atol=1e-6)  # -rate c / (1 + rate m)


def test_stochastic_composition_comes_to_the_optimum_and_its_factors_are_bounded():
    nothing = Measured(pd.DataFrame(), pd.DataFrame())
    assert 0 < composition.distance_left(nothing)[0] < 0.05
    # v is at least share (K - 1) odds when it is used: odds / (1 + v) < 1 / ((K - 1) share).
    share = (1 + (composition.STEPS - 1) / composition.DECAY) ** -0.5
    assert 1 < composition.largest_factor(nothing)[0] < 1 / (3 * share)


@pytest.fixture(scope="module")
def states():
    rng = np.random.default_rng(4)
    others = np.floor(10 ** rng.uniform(0, 5, 300))
    difference = rng.normal(scale=20, size=300)
    rate, q = 10 ** rng.uniform(-4, 3, 300), 10 ** rng.uniform(-1, 1, 300)
    return difference + np.log(others), rng.uniform(0, 10, 300), rate, q


def test_slope_and_bracket_are_the_papers(states):
    low, high = bisection.bracket(*states)
    assert (bisection.derivative(low, *states) <= 0).all()
    assert (bisection.derivative(high, *states) >= 0).all()
    for T, u_old, rate, q in itertools.islice(zip(*states, strict=True), 20):
        u = mpmath.mpf(u_old) + 0.5
        a = mpmath.lambertw(2 * rate * q * mpmath.exp(T - u)).real
        exact = 2 * rate * (1 - mpmath.exp(-u)) - a / q + 2 * (u - u_old)
        result = bisection.derivative(u_old + 0.5, T, u_old, rate, q)
        np.testing.assert_allclose(float(result), float(exact), rtol=1e-10, atol=1e-10)


def test_the_three_solvers_agree_and_bisection_counts_its_halvings(states):
    low, high = bisection.bracket(*states)
    u, evaluations = bisection.bisect(*states)
    np.testing.assert_allclose(
        evaluations, 1 + np.maximum(0, np.ceil(np.log2((high - low) / 2e-9))), atol=1
    )
    for solve in (bisection.brent, bisection.newton):
        np.testing.assert_allclose(solve(*states)[0], u, rtol=1e-9, atol=2e-9)


def test_newton_steps_are_those_of_single_states(states, monkeypatch):
    """With as many steps as counted, and only with them, the step is the final one."""
    _, steps = bisection.newton(*states)
    assert 1 < steps.max() < NEWTON_STEPS
    whole = implicit_step(*states)[1]
    for cap in (3, 6):
        monkeypatch.setattr("xcbench.core.objectives.implicit.NEWTON_STEPS", cap)
        short = np.abs(implicit_step(*states)[1] - whole) / (1 + whole)
        assert (short[steps <= cap] < 1e-8).all()
        assert np.median(short[steps > cap + 1]) > 1e-8


def test_proposition_4_loses_a_log_2():
    """K = 2, w = 0, u = 0, a low rate: the interval is log 2 wide, the bound's width is 2cq."""
    T, u_old, rate, q = (np.array([v]) for v in (0.0, 0.0, 1e-3, 1.0))
    _, evaluations = bisection.bisect(T, u_old, rate, q)
    printed = bisection.bound(T, u_old, rate, q, np.zeros(1))
    assert printed[0] == np.ceil(np.log2(2e-3 / 1e-9)) < evaluations[0]
    assert evaluations[0] <= bisection.bound(T, u_old, rate, q, np.log([2.0]))[0]


@pytest.fixture
def tiny():
    return convergence.Problem.tiny(1.0)


def brute_force(problem, u, W):
    """Eq. 5, term by term."""
    total = problem.mu / 2 * np.sum(W**2)
    for i, (x, y) in enumerate(zip(problem.X, problem.y, strict=True)):
        total += u[i] + np.exp(-u[i])
        total += sum(np.exp(x @ (W[k] - W[y]) - u[i]) for k in range(problem.classes) if k != y)
    return total


def term(problem, i, k, u, W):
    """Eq. 6."""
    n, y, beta = len(problem.y), problem.y[i], problem.beta
    pair = (problem.classes - 1) * np.exp(problem.X[i] @ (W[k] - W[y]) - u[i])
    l2 = beta[y] * W[y] @ W[y] + beta[k] * W[k] @ W[k]
    return n * (u[i] + np.exp(-u[i]) + pair) + problem.mu / 2 * l2


def pairs(problem):
    return [(i, k) for i, y in enumerate(problem.y) for k in range(problem.classes) if k != y]


def test_the_double_sum_is_the_mean_of_its_terms(tiny):
    rng = np.random.default_rng(1)
    u, W = rng.uniform(0, 3, 20), rng.normal(size=(4, 3))
    expected = brute_force(tiny, u, W)
    np.testing.assert_allclose(tiny.double_sum(u, W), expected, rtol=1e-12)
    mean = np.mean([term(tiny, i, k, u, W) for i, k in pairs(tiny)])
    np.testing.assert_allclose(mean, expected, rtol=1e-12)


def test_the_optimum_is_that_of_softmax_regression(tiny):
    W, least = tiny.best()

    def loss(w):
        scores = tiny.X @ w.reshape(4, 3).T
        return -log_softmax(scores, axis=1)[np.arange(20), tiny.y].sum() + w @ w / 2

    solution = minimize(loss, np.zeros(12), method="Powell", options={"xtol": 1e-9, "ftol": 1e-14})
    np.testing.assert_allclose(least, solution.fun + 20, rtol=1e-9)
    bounds = convergence.Bounds.of(tiny)
    assert np.linalg.norm(W) < bounds.W
    assert np.logaddexp(0, tiny.log_odds(W)).max() < bounds.u


def gradient(problem, i, k, u, W, step=1e-6):
    """Of Eq. 6, by central differences."""
    point = np.concatenate([u, W.ravel()])

    def value(v):
        return term(problem, i, k, v[:20], v[20:].reshape(W.shape))

    return np.array([(value(point + e) - value(point - e)) / (2 * step)
                     for e in step * np.eye(point.size)])  # fmt: skip


def test_a_step_is_algorithm_1(tiny):
    """From the start, no reset and no projection: the step is minus eta times a term's gradient."""
    u, W = np.full(20, np.log(4)), np.zeros((4, 3))
    eta = 1e-3
    runs = convergence.umax(tiny, lambda t: eta, 1.0, 6)
    next(runs)
    first = [array.copy() for array in next(runs)]
    steps = {(i, k): -eta * gradient(tiny, i, k, u, W) for i, k in pairs(tiny)}
    for run in range(6):
        change = np.concatenate([first[0][run] - u, first[1][run].ravel()])
        assert min(np.abs(change - step).max() for step in steps.values()) < 1e-9
    # After many steps, the l2 penalty acts too.
    for _ in range(500):
        u, W = (array[0].copy() for array in next(runs))
    moved = [array[0] for array in next(runs)]
    change = np.concatenate([moved[0] - u, (moved[1] - W).ravel()])
    assert min(np.abs(change + eta * gradient(tiny, i, k, u, W)).max() for i, k in pairs(tiny)) < (
        1e-8
    )


def test_gradients_stay_below_their_bound(tiny):
    problem = convergence.Problem.tiny(100.0)
    bounds, rng = convergence.Bounds.of(problem), np.random.default_rng(2)
    assert pytest.approx(np.sqrt(2 * 20 * np.log(4) / 100)) == bounds.W
    assert bounds.u == pytest.approx(np.log(1 + 3 * np.exp(2 * bounds.W)))
    for _ in range(20):
        W = rng.normal(size=(4, 3))
        W *= bounds.W / np.linalg.norm(W)
        u = rng.uniform(0, 0.1, 20)
        i, k = pairs(problem)[rng.integers(60)]
        assert np.linalg.norm(gradient(problem, i, k, u, W)) < bounds.gradient
    rates = [convergence.Bounds.of(convergence.Problem.tiny(mu)).rate for mu in (0.1, 1, 10, 100)]
    assert rates == sorted(rates) and rates[0] < 1e-40 and rates[-1] < 1e-6


def test_low_rates_follow_the_gradient_flow(tiny):
    """Time until half of the suboptimality, from the ordinary differential equation."""
    least = tiny.best()[1]
    start = np.concatenate([np.full(20, np.log(4)), np.zeros(12)])

    def f(v):
        return float(tiny.double_sum(v[:20], v[20:].reshape(4, 3)))

    def flow(t, v):
        return np.array([-(f(v + e) - f(v - e)) / 2e-6 for e in 1e-6 * np.eye(32)])

    def half(t, v):
        return f(v) - least - (f(start) - least) / 2

    half.terminal = True
    time = solve_ivp(flow, (0, 1), start, events=half, rtol=1e-6).t_events[0][0]
    rows = convergence.halving(1.0)
    np.testing.assert_allclose(rows["time"], time, rtol=0.05)
    last = rows.iloc[-1]
    assert last["theorem"] and not last["measured"] and last["steps"] > 1e16


def test_umax_converges_at_a_practical_rate(tiny):
    least = tiny.best()[1]
    gaps = {}
    runs = convergence.umax(tiny, lambda t: 0.1 / 20 / (1 + t / 200), 1.0, 5)
    for t, (u, W) in enumerate(runs):
        if t in (0, 500, 8000):
            gaps[t] = np.mean(tiny.double_sum(u, W)) - least
        if t == 8000:
            break
    assert 0 < gaps[8000] < 0.2 * gaps[500] < 0.1 * gaps[0]


def test_second_moments_are_those_of_every_single_gradient():
    rng = np.random.default_rng(5)
    X, W, y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), np.array([0, 1, 2, 3, 1])
    u = {"Eq. 6": rng.uniform(0, 2, 5), "Eq. 8": rng.uniform(0, 2, 5)}

    def terms(i, k, w):
        """Eq. 6 and Eq. 8 over N, without the l2 penalty."""
        f, v, r = X[i] @ w.reshape(4, 3).T, u["Eq. 6"][i], u["Eq. 8"][i]
        own = v + np.exp(-v) + 3 * np.exp(f[k] - f[y[i]] - v)
        return np.array([own, r - f[y[i]] + np.exp(f[y[i]] - r) + 3 * np.exp(f[k] - r)])

    w, squares = W.ravel(), []
    for i, k in itertools.product(range(5), range(4)):
        if k != y[i]:
            ends = [(terms(i, k, w + e), terms(i, k, w - e)) for e in 1e-6 * np.eye(12)]
            grads = np.array([(up - down) / 2e-6 for up, down in ends])
            squares.append(np.sum(grads**2, axis=0))
    result = second_moment.second_moments(X @ W.T, y, np.sum(X**2, axis=1), u)
    np.testing.assert_allclose(list(result.values()), np.mean(squares, axis=0), rtol=1e-7)


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_at_the_best_u_the_papers_gradients_are_not_the_smaller_ones(scale):
    scores = np.random.default_rng(6).normal(scale=scale, size=(50, 9))
    y = np.arange(50) % 9
    moments = second_moment.second_moments(scores, y, np.ones(50), second_moment.best_u(scores, y))
    assert 1 <= moments["Eq. 6"] / moments["Eq. 8"] <= 2
    p = np.exp(log_softmax(scores, axis=1))
    p[np.arange(50), y] = 0
    np.testing.assert_allclose(moments["Eq. 6"], 2 * 8 * np.mean(np.sum(p**2, axis=1)), rtol=1e-12)


def test_results_state_their_numbers(monkeypatch, tmp_path):
    monkeypatch.setattr(convergence, "STEPS", 300)
    monkeypatch.setattr(convergence, "CHECKPOINTS", np.array([10, 30, 100, 300]))
    monkeypatch.setattr(convergence, "STRENGTHS", np.array([0.1, 10.0]))
    monkeypatch.setattr(convergence, "FIXED", (1e-3,))
    monkeypatch.setattr(bisection, "STATES", 200)
    for part in (step_size, bisection, convergence, second_moment):
        section = part.DEMONSTRATION.section(tmp_path)
        assert section.figures[0].png == tmp_path / f"{part.__name__.split('.')[-1]}.png"
        assert "nan" not in section.text[0] and "inf" not in section.text[0].split()
        if part is bisection:
            by_solver = pd.read_csv(tmp_path / "bisection.csv").set_index("solver")
            longest = by_solver.loc["bisection", "largest"]
            assert f"and {longest:.0f} at most" in section.text[0]
    assert not any(pd.read_csv(path).empty for path in tmp_path.glob("*.csv"))
