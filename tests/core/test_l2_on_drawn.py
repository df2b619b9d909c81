"""The l2 penalty that only visited classes feel, and the projections of U-max's Algorithm 1."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from test_solvers import fit

from xcbench.core.models.linear import LinearModel
from xcbench.core.optimizers import OnVisited, Optimizer, Schedule
from xcbench.core.rows import DenseRows
from xcbench.core.solvers import Streams
from xcbench.core.solvers.l2_on_drawn import visits
from xcbench.methods import registry
from xcbench.methods.double_sum import DoubleSumOptions
from xcbench.methods.umax import UmaxOptions


@pytest.mark.parametrize("m, sampling", [(1, "others"), (2, "others"), (1, "all")])
def test_the_l2_on_drawn_classes_is_the_ridge_on_average(small, m, sampling):
    """The steps of every row and every draw, added up; the last class has no row."""
    y, K = np.minimum(small.train.y[:40], 5), 7
    counts = np.bincount(y, minlength=K)
    rng = np.random.default_rng(3)
    W, b, rate, l2 = rng.normal(size=(K, 4)), rng.normal(size=K), 1e-7, 0.3
    counted = visits(counts, K - 1 if sampling == "all" else m)
    step = Optimizer(Schedule(1.0), OnVisited(l2, counted))
    mean, steps = np.zeros((K, 5)), 0
    for true in y:
        others = [k for k in range(K) if k != true]
        for drawn in combinations(others, m) if sampling == "others" else [None]:
            model = LinearModel.of(W.copy(), b.copy())
            classes = None if drawn is None else np.array([[true, *drawn]])
            grad = np.zeros((1, K if drawn is None else 1 + m))
            step.apply(model, DenseRows(np.ones((1, 4))), classes, grad, rate)
            after = model.weights()
            mean += np.column_stack([W - after["W"], b - after["b"]]) / rate
            steps += 1
    np.testing.assert_allclose(mean / steps, l2 * np.column_stack([W, b]), rtol=1e-5)


def test_projection_brings_visited_classes_back_into_their_ball():
    rng = np.random.default_rng(4)
    W, b = rng.normal(size=(5, 3)), rng.normal(size=5)
    model = LinearModel.of(W.copy(), b.copy())
    lengths = np.linalg.norm(np.column_stack([W, b]), axis=1)
    radius = np.median(lengths[:4])
    step = Optimizer(Schedule(1.0), OnVisited(0.0, np.ones(5), radius))
    rows, classes = DenseRows(np.ones((1, 3))), np.array([[0, 1, 2, 3]])
    step.apply(model, rows, classes, np.zeros((1, 4)), 1.0)
    expected = np.minimum(lengths, radius)
    expected[4] = lengths[4]  # not visited
    np.testing.assert_allclose(model.lengths(np.arange(5)), expected, rtol=1e-12)
    cosine = np.sum(model.V * W, axis=1) + model.b * b
    np.testing.assert_allclose(cosine, expected * lengths, rtol=1e-12)


@pytest.mark.parametrize("l2", [1.0, 1e5])
def test_the_bounds_of_algorithm_1_hold_at_a_rate_that_would_break_them(small, l2):
    settings = DoubleSumOptions(
        name="vanilla",
        lr=100.0,
        l2=l2,
        l2_on="drawn",
        u0="zero",
        order="file",
        step="gradient",
        init="zero",
    )
    solver = registry.method_of(settings).build(settings, small.info)
    model = LinearModel(8, 40, True, "float64")
    next(solver.fit(small, model, Streams.of(0), [1.0]))
    longest = np.sqrt(np.square(small.train.X.toarray()).sum(axis=1).max() + 1)
    radius = np.sqrt(2 * 300 * np.log(8) / l2)
    highest = float(mpmath.log(1 + 7 * mpmath.exp(2 * longest * radius)))
    local = np.zeros(300)
    with np.errstate(over="ignore"):
        solver._run(model, next(solver._chunks(small, model, Streams.of(0))), local, 100.0)
    lengths = model.lengths(np.arange(8))
    assert lengths.max() == pytest.approx(radius) and (lengths <= radius * (1 + 1e-12)).all()
    assert local.max() == pytest.approx(highest) and (local >= 0).all()


def test_without_a_ridge_it_does_not_matter_which_classes_feel_it(small):
    models = [
        fit(small, UmaxOptions(name="umax", lr=0.05, l2_on=l2_on))[0] for l2_on in ("all", "drawn")
    ]
    np.testing.assert_array_equal(models[0].V, models[1].V)
