"""Implicit SGD with several observations and classes a step: against the unreduced problem."""

import warnings
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from test_solvers import fit

from xcbench.core import models
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.optimizers import sgd
from xcbench.core.samplers import outside
from xcbench.core.solvers import Streams
from xcbench.core.solvers.minibatch import Descent
from xcbench.core.solvers.proximal import Proximal, ProximalStep, axes, log_ratio, shares_of_l2
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.double_sum import LocalOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.train import training

K, D = 6, 4
Y = np.array([2, 0, 2, 4, 1, 5, 5])  # minibatches of three: a repeated label, none, one row


def problem(dataset, X, y, n_classes):
    """A dataset of these rows."""
    info = replace(dataset.info, classes=n_classes, features=X.shape[1], train=len(y), test=len(y))
    split = Split(X, y)
    counts = np.bincount(y, minlength=n_classes)
    return replace(dataset, info=info, train=split, test=split, class_counts=counts)


def rows(kind):
    X = np.random.default_rng(1).normal(size=(len(Y), D)).astype(np.float32)
    if kind == "duplicates":
        X[2], X[1] = X[0], 2 * X[0]
    if kind == "sparse":
        X[np.abs(X) < 0.7] = 0.0
        X[1] = 0.0
        return sp.csr_array(X)
    return X


def unreduced(x, y, drawn, rate, u_old, w_old, l2):
    """Objective of the step in (u, W), written out term by term; l2 (K,) of each class."""
    labels = set(y.tolist())
    weight = dict.fromkeys(labels, 1.0) | {k: (K - len(labels)) / len(drawn) for k in drawn}

    def objective(point):
        u, W = point[: len(y)], point[len(y) :].reshape(w_old.shape)
        total = ((u - u_old) ** 2).sum() + ((W - w_old) ** 2).sum()
        for i in range(len(y)):
            d = 1.0
            for k in weight:
                if k != y[i]:
                    d += weight[k] * np.exp(x[i] @ (W[k] - W[y[i]]))
            total += 2 * rate * (u[i] + d * np.exp(-u[i]))
        for k in weight:
            total += rate * len(y) * l2[k] * (W[k] @ W[k])
        return total

    return objective


@pytest.mark.parametrize("l2", [0.0, 0.4])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "duplicates"])
@pytest.mark.parametrize("first", [0, 3, 6])
def test_a_step_minimises_the_unreduced_problem(small, l2, bias, kind, first):
    """The last minibatch visited; what SciPy finds over all of u and W, from the old point."""
    n, m, rate, u0 = 3, 2, 0.8, 1.1
    part = slice(first, first + n)
    X, y = rows(kind)[part], Y[part]
    rng = np.random.default_rng(5)
    w_old = rng.normal(size=(K, D + bias))
    model = LinearModel(K, D, bias, "float64")
    model.V[...] = w_old[:, :D]
    if bias:
        model.b[...] = w_old[:, D]
    solver = Proximal(sgd(rate, 1.0, l2), n, m, "file", 1, u0)
    result = list(solver.fit(problem(small, X, y, K), model, Streams.of(0), [1.0]))
    assert result[-1].iteration == 1 and result[-1].observations == len(y)

    x = X.toarray() if sp.issparse(X) else X
    x = np.column_stack([x, np.ones(len(y))])[:, : D + bias].astype(float)
    drawn, _ = outside(Streams.of(0).classes, K, np.unique(y), m)
    assert len(drawn) == m and not set(drawn) & set(y)
    chance = np.full(K, m / (K - len(set(y))))  # to take part, with these rows alone
    chance[y] = 1.0
    objective = unreduced(x, y, drawn, rate, np.full(len(y), u0), w_old, l2 / chance)
    old = np.concatenate([np.full(len(y), u0), w_old.ravel()])
    best = minimize(objective, old, method="BFGS", jac="3-point", options={"gtol": 1e-7})
    weights = model.weights()
    W = np.column_stack([weights["W"], weights["b"]]) if bias else weights["W"]
    np.testing.assert_allclose(W, best.x[len(y) :].reshape(W.shape), atol=1e-5)
    assert objective(np.concatenate([best.x[: len(y)], W.ravel()])) <= best.fun + 1e-8
    # The reported value is the objective of the minibatch at the old point, less the start 1.
    plain = unreduced(x, y, drawn, 0.5, np.full(len(y), u0), w_old, np.zeros(K))
    assert result[-1].objective == pytest.approx(plain(old) / len(y) - 1.0, rel=1e-6)


def test_u_is_the_minimiser_too(small):
    """A second step on the same rows starts from the u of the first: both together by SciPy."""
    x, y, rate = rows("dense")[:3], Y[:3], 0.8
    model = LinearModel(K, D, False, "float64")
    solver = Proximal(sgd(rate, 1.0), 3, 3, "file", 1, 1.1)
    list(solver.fit(problem(small, x, y, K), model, Streams.of(0), [2.0]))
    rng, u, W = Streams.of(0).classes, np.full(3, 1.1), np.zeros((K, D))
    for _ in range(2):
        drawn, _ = outside(rng, K, np.unique(y), 3)
        objective = unreduced(x.astype(float), y, drawn, rate, u, W, np.zeros(K))
        start = np.concatenate([u, W.ravel()])
        best = minimize(objective, start, method="BFGS", jac="3-point", options={"gtol": 1e-7}).x
        u, W = best[:3], best[3:].reshape(K, D)
    np.testing.assert_allclose(model.V, W, atol=1e-5)


@pytest.mark.parametrize("rate", [0.05, 1.0, 30.0])
def test_one_observation_and_one_class_is_the_single_step(small, rate):
    """With two classes both must draw the same."""
    data = problem(small, small.train.X, small.train.y % 2, 2)
    settings = LocalOptions(name="implicit", lr=rate, lr_decay=1.0, order="file", init="zero")
    single = registry.method_of(settings).build(settings, data.info)
    assert isinstance(single, Descent)
    several = Proximal(sgd(rate, 1.0), 1, 1, "file", 1, float(np.log(2)))
    weights, values = [], []
    for solver in (single, several):
        model = LinearModel(2, 40, True, "float64")
        values.append(list(solver.fit(data, model, Streams.of(0), [0.1]))[-1].objective)
        weights.append(model.weights()["W"])
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-6 * np.abs(weights[0]).max())
    assert values[1] == pytest.approx(values[0], rel=1e-6)


@pytest.mark.parametrize("m, loss, weights", [(7, 3e-3, 0.08), (2, 6e-3, 0.1)])
def test_it_reaches_the_exact_optimum(small, m, loss, weights):
    """All classes drawn, and few of them; with an l2 penalty the optimum is one point."""
    data = problem(small, small.train.X[:60], small.train.y[:60], 8)
    best, trace = fit(data, SoftmaxOptions(name="softmax", l2=2.0, tolerance=1e-9))
    settings = LocalOptions(
        name="implicit", batch_size=4, negatives=m, lr=0.3, lr_decay=0.93, l2=2.0, init="zero"
    )
    model, run = fit(data, settings, epochs=40)
    exact, reached = (
        trained.curve["train_log_loss"].iloc[-1] + trained.curve["l2_term"].iloc[-1]
        for trained in (trace, run)
    )
    assert exact - 1e-9 <= reached < exact + loss
    assert np.abs(model.V - best.V).max() < weights


@pytest.mark.parametrize("rate", [1e-6, 1e-2, 1.0, 1e2, 1e6])
def test_u_is_lamberts_function(rate):
    T = np.array([-30.0, -3.0, -1e-3, 0.0, 1e-6, 0.4, 20.0, 3e3])
    with mpmath.workdps(80):
        c = mpmath.mpf(rate)
        exact = [mpmath.lambertw(c * mpmath.exp(c + mpmath.mpf(float(t)))).real for t in T]
        rise = [float(P - c) for P in exact]
    q = log_ratio(T, rate)
    np.testing.assert_allclose(rate * np.exp(q), [float(P) for P in exact], rtol=1e-12)
    np.testing.assert_allclose(rate * np.expm1(q), rise, rtol=1e-9, atol=1e-300)


def drawn_step(rng, n, C, rate, size):
    basis = rng.normal(size=(n, n))
    true, u = rng.integers(0, n, n), rng.uniform(0, 3, n)
    damping = rng.uniform(1, 1.2, C)
    return ProximalStep(
        rng.normal(size=(n, C)) * size, rng.uniform(0, 3, C), true, basis, u, rate, damping
    )


@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("size", [1.0, 1e2, 1e4])
def test_extreme_rates_and_scores_are_solved_without_overflow(rate, size):
    step = drawn_step(np.random.default_rng(3), 4, 7, rate, size)
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        A = step.solve()
        value, gradient = step.value_and_gradient(A.ravel())
        rise = step.terms(A)[0]
    assert np.isfinite(A).all() and np.all(step.u + rise >= 0)
    largest = np.abs(step.value_and_gradient(np.zeros(A.size))[1]).max()
    assert np.abs(gradient).max() < 1e-6 * largest + 1e-9
    for direction in np.random.default_rng(4).normal(size=(5, A.size)):
        assert value <= step.value_and_gradient(A.ravel() + 1e-3 * direction)[0]


def test_the_start_lets_no_exponent_be_positive():
    rng = np.random.default_rng(6)
    for size in (0.1, 3.0, 50.0):
        step = drawn_step(rng, 5, 9, 1.0, size)
        scores = step.scores + step.basis @ step.start().T
        exponents = scores - scores[np.arange(5), step.true][:, None] - step.u[:, None]
        assert exponents.max() < 1e-6
    harmless = replace(step, u=np.full(5, 1e3))
    assert not harmless.start().any()


def test_the_start_is_the_smallest_change():
    """One row, x = b: the only positive exponent g needs |a_k - a_y| = g / b, no more."""
    step = ProximalStep(
        np.array([[1.0, 0.5, 4.0]]),
        np.zeros(3),
        np.array([0]),
        np.array([[2.0]]),
        np.array([1.2]),
        1.0,
        np.ones(3),
    )
    A = step.start()[:, 0]
    assert np.abs(A).sum() == pytest.approx((4.0 - 1.0 - 1.2) / 2.0)
    assert A[0] - A[2] == pytest.approx(0.9) and A[1] == pytest.approx(0.0)


def test_axes_are_an_orthonormal_basis_of_the_rows():
    X = rows("duplicates")[:4].astype(float)
    lengths, coefficients = axes(X @ X.T)
    assert len(lengths) == np.linalg.matrix_rank(X) == 2
    V = X.T @ coefficients / lengths
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(coefficients * lengths @ V.T, X, atol=1e-10)


def test_classes_are_drawn_outside_the_labels():
    rng, labels = np.random.default_rng(0), np.array([1, 4, 5])
    count = np.zeros(9)
    for _ in range(6000):
        drawn, log_weight = outside(rng, 9, labels, 2)
        assert len(set(drawn)) == 2 and np.exp(log_weight) == pytest.approx(3.0)
        count[drawn] += 1
    assert not count[labels].any()
    np.testing.assert_allclose(np.delete(count, labels), 2000, atol=5 * np.sqrt(2000))
    drawn, log_weight = outside(rng, 9, labels, 8)  # all that are left
    assert sorted(drawn) == [0, 2, 3, 6, 7, 8] and log_weight == 0.0
    assert outside(rng, 3, np.arange(3), 2)[0].size == 0


def test_the_ridge_of_a_class_is_unbiased():
    """The chance to take part, counted over many steps."""
    rng = np.random.default_rng(2)
    batches = np.split(np.arange(len(Y)), [3, 6])
    counts, steps = np.zeros(K), 40000
    for j in rng.choice(3, steps, p=[3 / 7, 3 / 7, 1 / 7]):
        labels = np.unique(Y[batches[j]])
        counts[np.concatenate([labels, outside(rng, K, labels, 2)[0]])] += 1
    np.testing.assert_allclose(shares_of_l2(Y, batches, K, 2), steps / counts, rtol=0.03)


@pytest.mark.parametrize("order", ["shuffled", "file", "iid"])
def test_minibatches_are_fixed(order):
    solver = Proximal(sgd(1.0, 1.0), 4, 1, order, 1, 0.0)
    rng = np.random.default_rng(0)
    batches = solver._partition(rng, 10)
    assert sorted(np.concatenate(batches)) == list(range(10))
    assert sorted(map(len, batches)) == [2, 4, 4]
    visits = solver._visits(rng, batches)
    passes = [[next(visits).tobytes() for _ in batches] for _ in range(20)]
    known = [index.tobytes() for index in batches]
    if order == "file":
        assert batches[0].tolist() == [0, 1, 2, 3] and all(result == known for result in passes)
    elif order == "shuffled":
        assert all(sorted(result) == sorted(known) for result in passes)
        assert len(set(map(tuple, passes))) > 1
    else:
        assert any(len(set(result)) < 3 for result in passes)
        assert {visit for result in passes for visit in result} == set(known)


@pytest.mark.parametrize("sampling", ["any", "drop_hits"])
def test_other_ways_of_drawing_are_refused(small, sampling):
    for shape in ({"batch_size": 5}, {"negatives": 3}):
        settings = LocalOptions(name="implicit", sampler=sampling, **shape)
        with pytest.raises(UserError, match=r"set method\.sampler=others"):
            registry.check(registry.method_of(settings), settings, small.info)
    single = LocalOptions(name="implicit", sampler=sampling)
    registry.check(registry.method_of(single), single, small.info)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_it_warms_up_on_fewer_rows_than_a_minibatch(small, engine):
    if engine == "numba":
        pytest.importorskip("numba")
    settings = LocalOptions(name="implicit", batch_size=10, negatives=5, lr=1.0, l2=1.0)
    solver = registry.method_of(settings).build(settings, small.info)
    model = models.make(engine, 8, 40, True, "float32")
    training.warm_up(solver, model, small)
    assert not model.V.any()


def test_it_runs_from_the_command_line(workspace):
    words = (
        "mlflow=false",
        "method=implicit",
        "method.batch_size=5",
        "method.negatives=5",
        "budget.epochs=2",
    )
    assert workspace.run(*words, "dataset=digits").code == 0
    sparse = ("dataset=zipf", "dataset.synthetic.train=300", "dataset.synthetic.classes=20")
    assert workspace.run(*words, *sparse, "method.l2=1").code == 0
    frame = workspace.frame("status=done").set_index("dataset")
    assert frame.loc["digits", "test_error"] < 0.2
    assert frame.loc["digits", "train_log_loss"] < 0.3
    assert frame.loc["zipf", "train_log_loss"] < np.log(20)
