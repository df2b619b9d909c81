"""Minibatches that a model runs by itself, against the same updates part by part in NumPy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xcbench.core import models
from xcbench.core.batch import Batch
from xcbench.core.dataset import square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.optimizers import adagrad, augment_reduce, sgd
from xcbench.core.solvers import Streams
from xcbench.core.solvers.l2_on_drawn import L2OnDrawn
from xcbench.core.solvers.minibatch import Descent, Minibatch
from xcbench.methods import registry
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.double_sum import DoubleSumOptions
from xcbench.methods.nce import NCEOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.umax import UmaxOptions

pytest.importorskip("numba", reason="Numba is not installed: compiled minibatches are not tested")

ImportanceOptions: Any = registry.builtin()["is"].schema  # no import names a module `is`
SEVERAL = {"batch_size": 7, "lr": 0.02}  # 7 divides none of the numbers of rows
METHODS = {
    "ove, shared": OneVsEachOptions(name="ove", negatives=3, sampler="shared", **SEVERAL),
    "ove, others": OneVsEachOptions(name="ove", negatives=3, sampler="others", **SEVERAL),
    "ove, frequency": OneVsEachOptions(name="ove", negatives=3, sampler="frequency", **SEVERAL),
    "bouchard": BouchardOptions(name="bouchard", negatives=3, **SEVERAL),
    "nce": NCEOptions(name="nce", negatives=3, sampler="shared", **SEVERAL),
    "is": ImportanceOptions(name="is", negatives=3, **SEVERAL),
    "vanilla": DoubleSumOptions(name="vanilla", step="gradient", negatives=3, **SEVERAL),
    "umax": UmaxOptions(name="umax", step="gradient", negatives=3, **SEVERAL),
    "umax, any": UmaxOptions(name="umax", step="gradient", negatives=4, sampler="any", **SEVERAL),
    "umax, drop_hits": UmaxOptions(
        name="umax", step="gradient", negatives=4, sampler="drop_hits", **SEVERAL
    ),
    "umax, one pair": UmaxOptions(
        name="umax", step="gradient", negatives=1, sampler="any", **SEVERAL
    ),
    "umax, raman": UmaxOptions(
        name="umax", negatives=2, step="gradient", double_sum="raman", **SEVERAL
    ),
}


def solver_of(settings, dataset):
    return registry.method_of(settings).build(settings, dataset.info)


def part_by_part(solver):
    """The same updates without `Descent`."""
    assert type(solver) is Descent
    parts = solver.objective, solver.sampler, solver.optimizer
    return Minibatch(*parts, solver.batch_size, solver.order, solver.passes, solver.init)


def trained(solver, model, dataset, stops):
    result = list(solver.fit(dataset, model, Streams.of(3), stops))
    return model.weights(), [(p.iteration, p.observations, p.objective) for p in result[1:]]


def model_of(engine, dataset, bias=True, dtype="float64"):
    return models.make(engine, dataset.info.classes, dataset.info.features, bias, dtype)


def assert_same(result, expected, tolerance):
    assert result.keys() == expected.keys()
    for name, part in expected.items():
        size = np.abs(part).max()
        np.testing.assert_allclose(result[name], part, rtol=tolerance, atol=tolerance * size)


@pytest.fixture
def alone(monkeypatch):
    """A compiled model that has no other verbs than `descend`."""
    from xcbench.core.models.compiled import CompiledModel

    def never(*arguments):
        raise AssertionError("a minibatch was taken apart")

    for verb in ("at", "add", "shrink"):
        monkeypatch.setattr(CompiledModel, verb, never)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("data", ["small", "digits"])
@pytest.mark.parametrize("name", METHODS)
def test_whole_epochs_are_those_of_numpy(request, name, data):
    """A pass ends with a shorter minibatch; rows drawn anew occur twice in one."""
    dataset = request.getfixturevalue(data)
    for order, bias, l2 in (("shuffled", True, 1.0), ("iid", False, 0.0)):
        solver = solver_of(replace(METHODS[name], order=order, l2=l2, bias=bias), dataset)
        expected = trained(part_by_part(solver), model_of("numpy", dataset, bias), dataset, [1, 3])
        result = trained(solver, model_of("numba", dataset, bias), dataset, [1, 3])
        assert_same(result[0], expected[0], 1e-9)
        np.testing.assert_allclose(result[1], expected[1], rtol=1e-9)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", METHODS)
def test_float32_differs_by_its_rounding(small, name):
    solver = solver_of(METHODS[name], small)
    exact, _ = trained(part_by_part(solver), model_of("numpy", small), small, [0.3])
    result, _ = trained(solver, model_of("numba", small, dtype="float32"), small, [0.3])
    assert result["W"].dtype == np.float32
    assert_same(result, exact, 1e-5)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["ove, others", "umax, drop_hits", "umax, raman"])
def test_few_rows_that_often_occur_twice(small, name):
    """Of a row's two visits in a minibatch the last one leaves its local state."""
    few = small.first(0.05)
    settings = replace(METHODS[name], order="iid", batch_size=10)
    solver = solver_of(settings, few)
    expected = trained(part_by_part(solver), model_of("numpy", few), few, [20])
    result = trained(solver, model_of("numba", few), few, [20])
    assert_same(result[0], expected[0], 1e-9)
    np.testing.assert_allclose(result[1], expected[1], rtol=1e-9)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("batch_size", [1, 7])
@pytest.mark.parametrize("name", ["ove, shared", "umax"])
def test_stops_change_no_digit(small, name, batch_size):
    solver = solver_of(replace(METHODS[name], batch_size=batch_size, l2=1.0), small)
    once, _ = trained(solver, model_of("numba", small), small, [2])
    often, progress = trained(solver, model_of("numba", small), small, [0.01, 0.3, 0.31, 1, 1.9, 2])
    assert len(progress) == 6
    for part, values in once.items():
        np.testing.assert_array_equal(often[part], values)


@pytest.mark.usefixtures("alone")
def test_the_order_of_the_pairs_changes_no_digit(small, monkeypatch):
    """Class after class, as in weights that fit no cache, or sample after sample."""
    from xcbench.core.models.compiled import CompiledModel

    solver = solver_of(METHODS["ove, shared"], small)
    weights = []
    for by_class in (False, True):
        monkeypatch.setattr(CompiledModel, "_by_class", lambda self, pairs, by=by_class: by)
        weights.append(trained(solver, model_of("numba", small), small, [2])[0])
    for part, values in weights[0].items():
        np.testing.assert_array_equal(weights[1][part], values)


@pytest.mark.parametrize("n_classes", [3, 50, 5000], ids=["few", "as many", "more than pairs"])
def test_pairs_class_after_class_keep_their_order(n_classes):
    """A stable sort, whichever way it is done; the classes themselves come in any order."""
    from xcbench.core import kernels

    classes = np.random.default_rng(0).integers(0, n_classes, (31, 7))
    head, tail = np.full(n_classes, -1), np.empty(n_classes, np.int64)
    flat, order = classes.ravel(), kernels.by_class(classes, head, tail)
    assert (head == -1).all()
    _, first = np.unique(flat[order], return_index=True)
    assert len(np.flatnonzero(np.diff(flat[order]))) == len(first) - 1  # each in one piece
    stable = np.argsort(flat, kind="stable")
    np.testing.assert_array_equal(order[np.argsort(flat[order], kind="stable")], stable)


@pytest.mark.usefixtures("alone")
def test_weight_decay_that_folds_its_scale(small):
    """The weights shrink by 1 / (1 + 7 rate l2) each time, the scale far below 1e-6."""
    settings = replace(METHODS["ove, others"], l2=1e5)
    solver = solver_of(settings, small)
    expected, _ = trained(part_by_part(solver), model_of("numpy", small), small, [1])
    result, _ = trained(solver, model_of("numba", small), small, [1])
    assert_same(result, expected, 1e-9)


def test_one_minibatch_written_out(small):
    """One-vs-each with weights of their own, a row twice, and a hit of its true class."""
    X, rate, shrinkage = small.train.X, 0.1, 0.9
    index = np.array([4, 2, 4])
    y = small.train.y[index]
    drawn = np.array([[k for k in range(8) if k != c][:2] for c in y])
    drawn[1, 0] = y[1]
    log_weight = np.log([[1.0, 2.0], [3.0, 0.5], [7.0, 1.5]])
    solver = solver_of(METHODS["ove, others"], small)
    model = model_of("numba", small)
    start, b = np.random.default_rng(0).normal(size=(8, 40)), np.linspace(-1, 1, 8)
    model.V[...], model.b[...] = start, b
    batch = Batch(
        rows=model.take(X, index),
        index=index,
        square_norms=square_norms(X)[index] + 1,
        y=y,
        classes=np.column_stack([y, drawn]),
        log_weight=log_weight,
    )
    local = np.zeros(300)
    value = model.descend(batch, 3, local, rate, shrinkage, solver.objective)
    W, biases, total = shrinkage * start, shrinkage * b, 0.0
    for i, c, others, weights in zip(index, y, drawn, np.exp(log_weight), strict=True):
        x = X[[i]].toarray()[0]
        scores = start @ x + b
        for k, weight in zip(others, weights, strict=True):
            total += weight * np.log1p(np.exp(scores[k] - scores[c]))
            grad = weight / (1 + np.exp(scores[c] - scores[k]))
            for sign, m in ((1, k), (-1, c)):
                W[m] -= rate * sign * grad * x
                biases[m] -= rate * sign * grad
    assert value == pytest.approx(total, rel=1e-12)
    result = model.weights()
    np.testing.assert_allclose(result["W"], W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result["b"], biases, rtol=1e-9, atol=1e-12)


def test_one_sample_needs_no_code_of_its_own(small):
    """A first look at the clock, or the end of a pass, leaves a single one in a minibatch."""
    import numba

    from xcbench.core.models.compiled import record_of

    solver = solver_of(replace(METHODS["umax, one pair"], batch_size=1), small)
    model, scalar = model_of("numba", small), solver.objective.scalar
    chunk = next(solver._chunks(small, model, Streams.of(0)))
    one, many = (record_of(chunk.part(0, n), scalar, np.zeros(300)) for n in (1, 7))
    assert numba.typeof(one) == numba.typeof(many)


def test_only_plain_steps_are_left_to_the_model(small):
    assert sgd(0.1, 0.9, 1e-3).is_plain
    assert not adagrad(0.1, 0.9, 0.0, 0.0).is_plain
    assert not augment_reduce(0.1, 0.9, 0.0, 300, False).is_plain
    on_drawn = solver_of(
        UmaxOptions(name="umax", step="gradient", lr=0.02, l2=1.0, l2_on="drawn"), small
    )
    assert isinstance(on_drawn, L2OnDrawn)
    list(on_drawn.fit(small, LinearModel(8, 40, True, "float64"), Streams.of(0), [0.01]))
    assert not on_drawn.optimizer.is_plain
