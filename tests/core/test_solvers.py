"""Solvers: against scikit-learn, against each other, against the optimum they must reach."""

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from xcbench.config.settings import Budget, Evaluation
from xcbench.core import models
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.double_sum import DoubleSumOptions, LocalOptions
from xcbench.methods.nce import NCEOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.ove_grouped import GroupedOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.methods.umax import UmaxOptions
from xcbench.options import check
from xcbench.train import evaluator, training

ImportanceOptions: Any = registry.builtin()["is"].schema  # no import names a module `is`


def fit(dataset, settings, epochs=1.0, checkpoints=1, dtype="float64", seed=0):
    check(settings)
    registry.check(registry.method_of(settings), settings, dataset.info)
    solver = registry.method_of(settings).build(settings, dataset.info)
    model = LinearModel(
        dataset.info.classes, dataset.info.features, settings.bias, solver.precision or dtype
    )
    model.link = registry.method_of(settings).link
    lanes = [training.Lane(solver, model, settings.l2)]
    (trace,) = training.run(lanes, dataset, seed, Budget(epochs, checkpoints), Evaluation())
    return model, trace


def test_lbfgs_agrees_with_scikit_learn(digits):
    model, trace = fit(digits, SoftmaxOptions(name="softmax", l2=2.0, bias=False, tolerance=1e-8))
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9, max_iter=5000)
    peer.fit(np.asarray(digits.train.X, float), digits.train.y)
    np.testing.assert_allclose(model.V, peer.coef_, atol=2e-4)
    probability = peer.predict_proba(np.asarray(digits.test.X, float))
    log_loss = -np.log(probability[np.arange(len(digits.test)), digits.test.y]).mean()
    assert trace.curve["test_log_loss"].iloc[-1] == pytest.approx(log_loss, rel=1e-4)
    wrong = (probability.argmax(axis=1) != digits.test.y).mean()
    assert trace.curve["test_error"].iloc[-1] == pytest.approx(wrong)


def test_ridge_acts_on_weights_and_biases(small):
    """At the optimum the gradient of the summed loss equals -lambda (w, b).

    A line search by values ends where they no longer fall: at a mean gradient near the root of
    the machine's precision, 1e-8, on 300 rows.
    """
    model, _ = fit(small, SoftmaxOptions(name="softmax", l2=3.0, tolerance=3e-8))
    X, y = small.train.X.toarray().astype(float), small.train.y
    scores = X @ model.V.T + model.b
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    probability[np.arange(len(y)), y] -= 1
    np.testing.assert_allclose(probability.T @ X, -3.0 * model.V, atol=1e-5)
    np.testing.assert_allclose(probability.sum(axis=0), -3.0 * model.b, atol=1e-5)


STOCHASTIC = {
    "softmax": SoftmaxOptions(
        name="softmax", solver="minibatch", batch_size=20, lr=0.02, lr_decay=0.98
    ),
    "umax": UmaxOptions(name="umax", lr=0.05, lr_decay=0.985, step="gradient"),
    "umax, all classes": UmaxOptions(
        name="umax", sampler="all", batch_size=10, lr=0.1, lr_decay=0.98
    ),
    "vanilla": DoubleSumOptions(name="vanilla", lr=0.03, lr_decay=0.985),
    "implicit": LocalOptions(name="implicit", lr=0.1, lr_decay=0.98),
    "umax, raman": UmaxOptions(
        name="umax", lr=0.05, lr_decay=0.985, step="gradient", double_sum="raman"
    ),
    "umax, l2 on drawn": UmaxOptions(
        name="umax", lr=0.05, lr_decay=0.985, negatives=2, l2_on="drawn"
    ),
}


SLOW = ("umax, raman", "umax, l2 on drawn", "vanilla")


@pytest.mark.parametrize(
    "name",
    [pytest.param(it, marks=[pytest.mark.slow] if it in SLOW else []) for it in STOCHASTIC],
)
def test_unbiased_methods_reach_the_exact_optimum(small, name):
    """With an l2 penalty the optimum is one point; a decaying rate goes there."""
    best, trace = fit(small, SoftmaxOptions(name="softmax", l2=10.0, tolerance=1e-9))
    settings = replace(STOCHASTIC[name], l2=10.0, init="zero")
    model, run = fit(small, settings, epochs=300)
    exact = trace.curve["train_log_loss"].iloc[-1] + trace.curve["l2_term"].iloc[-1]
    reached = run.curve["train_log_loss"].iloc[-1] + run.curve["l2_term"].iloc[-1]
    assert exact - 1e-9 <= reached < exact + 0.02
    assert np.abs(model.scale * model.V - best.V).max() < 0.15


def test_one_vs_each_over_all_classes_maximises_its_own_bound(small):
    """The bound it reports is the one computed from its weights, pair by pair."""
    settings = OneVsEachOptions(
        name="ove", sampler="all", batch_size=300, lr=0.002, lr_decay=1.0, order="file"
    )
    _, run = fit(small, settings, epochs=2, checkpoints=2)
    _, before = fit(small, settings, epochs=1)
    weights, _ = fit(small, settings, epochs=1)
    scores = small.train.X.toarray() @ weights.V.T + weights.b
    true = scores[np.arange(300), small.train.y][:, None]
    pairs = np.logaddexp(0, scores - true).sum(axis=1) - np.log(2)
    assert run.curve["bound"].iloc[-1] == pytest.approx(-pairs.mean(), rel=1e-9)
    assert run.curve["bound"].iloc[-1] > before.curve["bound"].iloc[-1]


@pytest.mark.parametrize(
    "name, sampling",
    [
        *(
            (name, sampling)
            for name in ("umax", "vanilla", "implicit")
            for sampling in ("others", "any")
        ),
        ("is", "others"),
    ],
)
@pytest.mark.parametrize("data", ["small", "digits"])
def test_the_loop_over_single_rows_is_the_minibatch_loop(request, name, sampling, data):
    from xcbench.core.solvers.minibatch import Descent, Minibatch

    dataset = request.getfixturevalue(data)
    schema = {"umax": UmaxOptions, "is": ImportanceOptions}.get(name, DoubleSumOptions)
    settings = schema(
        name=name, batch_size=1, negatives=1, sampler=sampling, lr=0.02, l2=1.0, init="zero"
    )
    solver = registry.method_of(settings).build(settings, dataset.info)
    assert isinstance(solver, Descent)
    general = Minibatch(
        solver.objective,
        solver.sampler,
        solver.optimizer,
        solver.batch_size,
        solver.order,
        solver.passes,
    )
    weights = []
    for loop in (solver, general):
        model = LinearModel(dataset.info.classes, dataset.info.features, True, "float64")
        for _ in loop.fit(dataset, model, Streams.of(3), [0.3]):
            pass
        weights.append(model.scale * model.V)
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-7, atol=1e-10)


def test_a_minibatch_step_is_the_papers_formula(small):
    """U-max, n = 2, m = 3, one step from given weights, written out pair by pair (Eq. 7)."""
    settings = UmaxOptions(
        name="umax",
        batch_size=2,
        negatives=3,
        lr=0.05,
        order="file",
        bias=False,
        step="gradient",
        init="zero",
    )
    solver = registry.method_of(settings).build(settings, small.info)
    rng = np.random.default_rng(9)
    model = LinearModel(8, 40, False, "float64")
    start = rng.normal(size=(8, 40))
    model.V[...] = start
    progress = list(solver.fit(small, model, Streams.of(0), [2 / 300]))
    assert progress[-1].observations == 2
    drawn = solver.sampler.draw(Streams.of(0).classes, np.arange(300), small.train.y[:300], 2)[0]
    expected = start.copy()
    for i in range(2):
        x, y = small.train.X[[i]].toarray()[0], small.train.y[i]
        gap = (start[drawn[i]] - start[y]) @ x
        u = np.log(8)
        bound = np.log1p(np.exp(gap).sum())
        if u < bound - 1:
            u = bound
        grad = 7 / 3 * np.exp(gap - u)
        for k, s in zip(drawn[i], grad, strict=True):
            expected[k] -= 0.05 * s * x
            expected[y] += 0.05 * s * x
    np.testing.assert_allclose(model.V, expected, rtol=1e-6, atol=1e-7)


def test_a_step_of_the_published_raman_is_its_formula(small):
    """One step from given weights, both mistakes written out, one of the features a 0."""
    settings = UmaxOptions(
        name="umax",
        negatives=5,
        sampler="drop_hits",
        lr=0.05,
        order="file",
        step="gradient",
        init="zero",
        double_sum="raman_code",
    )
    X = small.train.X.copy()
    X.data[...] = np.random.default_rng(8).normal(size=X.nnz)
    X.data[0] = 0.0
    dataset = replace(small, train=Split(X, small.train.y))
    solver = registry.method_of(settings).build(settings, small.info)
    drawn = solver.sampler.draw(Streams.of(0).classes, np.arange(300), small.train.y[:300], 1)[0]
    for engine in ("numpy", "numba") if find_spec("numba") else ("numpy",):
        model = models.make(engine, 8, 40, True, "float64")
        start, b = np.random.default_rng(9).normal(size=(8, 40)), np.linspace(-1, 1, 8)
        model.V[...], model.b[...] = start, b
        list(solver.fit(dataset, model, Streams.of(0), [1 / 300]))
        x, y, u = X[[0]].toarray()[0], small.train.y[0], np.log(8)
        scores = start @ x + b
        kept = [k for k in drawn[0] if k != y]
        bound = np.log(np.exp(scores[y]) + np.exp(scores[kept]).sum())
        u = bound if u < bound - 1 else u
        excess = 7 / len(kept) * np.exp(scores - u)
        expected, expected_b = start.copy(), b.copy()
        for k in kept:
            expected[k] -= 0.05 * excess[k] * x
            expected_b[k] -= 0.05 * excess[k]
        expected[y, x != 0] += 0.05 * (1 - np.exp(scores[y] - u))
        expected_b[y] += 0.05 * (1 - np.exp(scores[y] - u))
        np.testing.assert_allclose(model.V, expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.b, expected_b, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "settings, remedy",
    [
        (OneVsEachOptions(name="ove", l2_on="drawn", sampler="others"), "method.batch_size=1"),
        (
            OneVsEachOptions(name="ove", l2_on="drawn", batch_size=1, sampler="shared"),
            "method.sampler=others",
        ),
        (UmaxOptions(name="umax", l2_on="drawn", sampler="any"), "method.sampler=others"),
        (
            UmaxOptions(name="umax", l2_on="drawn", step="gradient", double_sum="raman"),
            "double_sum=proposed",
        ),
        (UmaxOptions(name="umax", l2_on="drawn", sampler="frequency"), "method.sampler="),
        (
            OneVsEachOptions(name="ove", l2_on="drawn", solver="lbfgs"),
            "method.solver=minibatch",
        ),
        (GroupedOptions(name="ove_grouped", l2_on="drawn", batch_size=1), "l2_on.*set it to all"),
        (GroupedOptions(name="ove_grouped", sampler="frequency"), "choose one of others, all"),
        (NCEOptions(name="nce", sampler="any"), "choose one of shared, others, all, uniform"),
        (ImportanceOptions(name="is", sampler="frequency"), "choose one of shared, others, all"),
        (BouchardOptions(name="bouchard", sampler="shared"), "choose one of others, all"),
        (
            UmaxOptions(name="umax", sampler="all", step="gradient", double_sum="raman_code"),
            "method.sampler to others",
        ),
    ],
)
def test_what_the_formulas_do_not_cover_is_refused(small, settings, remedy):
    with pytest.raises(UserError, match=remedy):
        registry.check(registry.method_of(settings), settings, small.info)


def test_passes_and_decay_count_epochs(small):
    settings = LocalOptions(name="implicit", lr=0.1, passes=3)
    _, run = fit(small, settings, epochs=2, checkpoints=2)
    assert run.curve["observations"].tolist() == [0, 900, 1800]
    assert run.curve["epoch"].tolist() == [0, 1, 2]
    solver = registry.method_of(settings).build(settings, small.info)
    assert [solver.optimizer.rate(e) for e in (0, 1, 2)] == pytest.approx([0.1, 0.09, 0.081])


def test_orders_of_rows(small):
    seen = {}
    for order in ("shuffled", "file", "iid"):
        settings = OneVsEachOptions(name="ove", order=order, lr=0.1)
        solver = registry.method_of(settings).build(settings, small.info)
        seen[order] = solver._order(np.random.default_rng(0), 300)
    assert sorted(seen["shuffled"]) == list(range(300)) == seen["file"].tolist()
    assert len(set(seen["iid"].tolist())) < 300


def test_evaluation_stands_outside_the_training_clock(small, monkeypatch):
    import time

    class Sleeper(Solver):
        is_bound = True

        def fit(self, dataset, model, streams, stops):
            yield Progress(0, 0, 0.0)
            time.sleep(0.05)
            yield Progress(1, 1, 1.0, 0.0)

    def slow(*arguments, **options):
        time.sleep(0.2)
        return {"log_loss": 1.0, "error": 0.5}

    monkeypatch.setattr(evaluator, "evaluate", slow)
    model = LinearModel(8, 40, True, "float32")
    (trace,) = training.run([training.Lane(Sleeper(), model)], small, 0, Budget(), Evaluation())
    # Two evaluations of two parts took 0.8 s, one training step 0.05 s.
    assert 0.05 <= trace.train_seconds < trace.evaluate_seconds / 2


@pytest.mark.parametrize(
    "settings",
    [
        DoubleSumOptions(name="vanilla", lr=1e6, step="gradient"),
        DoubleSumOptions(
            name="vanilla", lr=1e6, negatives=5, step="gradient", double_sum="raman_code"
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_divergence_ends_the_curve(small, settings):
    _, run = fit(small, settings, epochs=4, checkpoints=4)
    last = run.curve.iloc[-1]
    assert run.status == "diverged" and len(run.curve) < 5
    assert np.isnan(last["train_log_loss"]) and np.isnan(last["bound"])
    assert run.curve["train_log_loss"].iloc[:-1].notna().all()


def test_importance_sampling_of_one_class_is_one_vs_each_at_another_rate(small):
    """softplus(f_k - f_y) against (K - 1) softplus(f_k - f_y)."""
    one = {"batch_size": 1, "negatives": 1, "sampler": "others"}
    single, _ = fit(small, ImportanceOptions(name="is", lr=0.14, **one))
    weighted, _ = fit(small, OneVsEachOptions(name="ove", lr=0.02, **one))
    np.testing.assert_allclose(single.V, weighted.V, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "n, m, sampling", [(100, 5, "shared"), (100, 5, "others"), (1, 1, "others")]
)
def test_baselines_learn(digits, n, m, sampling):
    schemas = {"ove": OneVsEachOptions, "nce": NCEOptions, "is": ImportanceOptions}
    for name, schema in schemas.items():
        settings = schema(name=name, batch_size=n, negatives=m, sampler=sampling, lr=0.05)
        _, run = fit(digits, settings, epochs=10, dtype="float32")
        assert run.curve["test_error"].iloc[-1] < 0.15, name
