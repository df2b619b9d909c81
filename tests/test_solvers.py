"""Solvers: against scikit-learn, against each other, against the optimum they must reach."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from xcbench import config, datasets, metrics, registry, trace
from xcbench.datasets.value import LabelSets, Split
from xcbench.linear import LinearModel
from xcbench.options import check
from xcbench.solvers import Progress, Streams


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    settings = config.Dataset(
        name="digits",
        reader="digits",
        expected=config.Expected(test=360),
        protocol=config.Protocol(divide_by=16),
    )
    where = tmp_path_factory.mktemp("cache")
    info = datasets.prepare(settings, Path("nowhere"), where)
    return datasets.load(info, where)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Sparse: 300 rows, 40 features, 8 classes."""
    spec = config.Synthetic(train=300, test=100, features=40, classes=8, nonzeros=6, signal=0.3)
    settings = config.Dataset(name="small", reader="synthetic", synthetic=spec)
    where = tmp_path_factory.mktemp("cache")
    info = datasets.prepare(settings, Path("nowhere"), where)
    return datasets.load(info, where)


def fit(dataset, settings, epochs=1.0, checkpoints=1, dtype="float64", seed=0):
    check(settings)
    registry.check(settings, dataset.info)
    solver = registry.entry(settings).build(settings, dataset.info)
    model = LinearModel(
        dataset.info.classes, dataset.info.features, settings.bias, solver.precision or dtype
    )
    made = trace.run(
        solver,
        model,
        dataset,
        seed,
        config.Budget(epochs, checkpoints),
        config.Evaluation(),
        settings.ridge,
    )
    return model, made


def test_lbfgs_agrees_with_scikit_learn(digits):
    model, made = fit(digits, config.Softmax(name="softmax", ridge=2.0, bias=False, tolerance=1e-8))
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9, max_iter=5000)
    peer.fit(np.asarray(digits.train.X, float), digits.train.y)
    np.testing.assert_allclose(model.V, peer.coef_, atol=2e-4)
    probability = peer.predict_proba(np.asarray(digits.test.X, float))
    log_loss = -np.log(probability[np.arange(len(digits.test)), digits.test.y]).mean()
    assert made.curve["test_log_loss"].iloc[-1] == pytest.approx(log_loss, rel=1e-4)
    wrong = (probability.argmax(axis=1) != digits.test.y).mean()
    assert made.curve["test_error"].iloc[-1] == pytest.approx(wrong)


def test_ridge_acts_on_weights_and_biases(small):
    """At the optimum the gradient of the summed loss equals -lambda (w, b)."""
    model, _ = fit(small, config.Softmax(name="softmax", ridge=3.0, tolerance=1e-10))
    X, y = small.train.X.toarray().astype(float), small.train.y
    scores = X @ model.V.T + model.b
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    probability[np.arange(len(y)), y] -= 1
    np.testing.assert_allclose(probability.T @ X, -3.0 * model.V, atol=1e-6)
    np.testing.assert_allclose(probability.sum(axis=0), -3.0 * model.b, atol=1e-6)


STOCHASTIC = {
    "softmax": config.Softmax(name="softmax", solver="minibatch", n=20, lr=0.02, decay=0.98),
    "umax": config.Umax(name="umax", lr=0.05, decay=0.985),
    "umax, all classes": config.Umax(name="umax", sampling="all", n=10, lr=0.1, decay=0.98),
    "vanilla": config.DoubleSum(name="vanilla", lr=0.03, decay=0.985),
    "implicit": config.DoubleSum(name="implicit", lr=0.1, decay=0.98),
}


@pytest.mark.parametrize("name", STOCHASTIC)
def test_unbiased_methods_reach_the_exact_optimum(small, name):
    """With a ridge the optimum is one point; a decaying rate goes there."""
    best, made = fit(small, config.Softmax(name="softmax", ridge=10.0, tolerance=1e-9))
    settings = replace(STOCHASTIC[name], ridge=10.0)
    model, run = fit(small, settings, epochs=300)
    exact = made.curve["train_log_loss"].iloc[-1] + made.curve["ridge_term"].iloc[-1]
    reached = run.curve["train_log_loss"].iloc[-1] + run.curve["ridge_term"].iloc[-1]
    assert exact - 1e-9 <= reached < exact + 0.02
    assert np.abs(model.scale * model.V - best.V).max() < 0.15


def test_one_vs_each_over_all_classes_maximises_its_own_bound(small):
    """The bound it reports is the one computed from its weights, pair by pair."""
    settings = config.Sampled(name="ove", sampling="all", n=300, lr=0.002, decay=1.0, order="file")
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
    from xcbench.solvers.minibatch import Minibatch
    from xcbench.solvers.sequential import Sequential

    dataset = request.getfixturevalue(data)
    schema = {"umax": config.Umax, "is": config.Sampled}.get(name, config.DoubleSum)
    settings = schema(name=name, n=1, m=1, sampling=sampling, lr=0.02, ridge=1.0)
    solver = registry.entry(settings).build(settings, dataset.info)
    assert isinstance(solver, Sequential)
    general = Minibatch(
        solver.objective, solver.sampler, solver.step, solver.n, solver.order, solver.passes
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
    settings = config.Umax(name="umax", n=2, m=3, lr=0.05, order="file", bias=False)
    solver = registry.entry(settings).build(settings, small.info)
    rng = np.random.default_rng(9)
    model = LinearModel(8, 40, False, "float64")
    start = rng.normal(size=(8, 40))
    model.V[...] = start
    progress = list(solver.fit(small, model, Streams.of(0), [2 / 300]))
    assert progress[-1].observations == 2
    drawn = solver.sampler.draw(Streams.of(0).classes, small.train.y[:300], 2)[0]
    expected = start.copy()
    for i in range(2):
        x, y = small.train.X[[i]].toarray()[0], small.train.y[i]
        gap = (start[drawn[i]] - start[y]) @ x
        u = np.log(8)
        bound = np.log1p(np.exp(gap).sum())
        if u < bound - 1:
            u = bound
        slope = 7 / 3 * np.exp(gap - u)
        for k, s in zip(drawn[i], slope, strict=True):
            expected[k] -= 0.05 * s * x
            expected[y] += 0.05 * s * x
    np.testing.assert_allclose(model.V, expected, rtol=1e-6, atol=1e-7)


def test_passes_and_decay_count_epochs(small):
    settings = config.DoubleSum(name="implicit", lr=0.1, passes=3)
    _, run = fit(small, settings, epochs=2, checkpoints=2)
    assert run.curve["observations"].tolist() == [0, 900, 1800]
    assert run.curve["epoch"].tolist() == [0, 1, 2]
    solver = registry.entry(settings).build(settings, small.info)
    assert [solver.step.rate(e) for e in (0, 1, 2)] == pytest.approx([0.1, 0.09, 0.081])


def test_orders_of_rows(small):
    seen = {}
    for order in ("shuffled", "file", "iid"):
        settings = config.Sampled(name="ove", order=order, lr=0.1)
        solver = registry.entry(settings).build(settings, small.info)
        seen[order] = solver._order(np.random.default_rng(0), 300)
    assert sorted(seen["shuffled"]) == list(range(300)) == seen["file"].tolist()
    assert len(set(seen["iid"].tolist())) < 300


def test_evaluation_stands_outside_the_training_clock(small, monkeypatch):
    import time

    class Sleeper:
        is_bound, precision, interruptible = True, None, True

        def fit(self, dataset, model, streams, stops):
            yield Progress(0, 0, 0.0)
            time.sleep(0.05)
            yield Progress(1, 1, 1.0, 0.0)

    def slow(*arguments):
        time.sleep(0.2)
        return {"log_loss": 1.0, "error": 0.5}

    monkeypatch.setattr(trace, "evaluate", slow)
    model = LinearModel(8, 40, True, "float32")
    made = trace.run(Sleeper(), model, small, 0, config.Budget(), config.Evaluation(), 0.0)
    # Two evaluations of two parts took 0.8 s, one training step 0.05 s.
    assert 0.05 <= made.train_seconds < made.evaluate_seconds / 2


def test_divergence_ends_the_curve(small):
    settings = config.DoubleSum(name="vanilla", lr=1e6)
    _, run = fit(small, settings, epochs=4, checkpoints=4)
    last = run.curve.iloc[-1]
    assert run.status == "diverged" and len(run.curve) < 5
    assert np.isnan(last["train_log_loss"]) and np.isnan(last["bound"])
    assert run.curve["train_log_loss"].iloc[:-1].notna().all()


def test_softmax_twice_is_the_published_baselines_number(digits):
    model, _ = fit(digits, config.Sampled(name="ove", lr=0.05), dtype="float32")
    found = metrics.evaluate(model, digits.test, softmax_twice=True)
    scores = np.asarray(digits.test.X, float) @ model.V.T.astype(float) + model.b
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    true = probability[np.arange(360), digits.test.y]
    expected = np.log(np.exp(probability).sum(axis=1)) - true
    assert found["log_loss_softmax_twice"] == pytest.approx(expected.mean(), rel=1e-6)
    assert found["log_loss"] == pytest.approx(-np.log(true).mean(), rel=1e-5)
    lowest = np.log(9 + np.e) - 1
    assert lowest <= found["log_loss_softmax_twice"] <= lowest + 1


@pytest.mark.parametrize("k", [1, 3, 10])
def test_hits_are_counted_in_the_order_of_the_scores(digits, k):
    model, _ = fit(digits, config.Sampled(name="ove", lr=0.05), dtype="float32")
    model.V[7], model.b[7] = model.V[3], model.b[3]  # two classes that always tie
    found = metrics.evaluate(model, digits.test, top_k=k)
    scores = np.concatenate([block for _, block in model.passes(digits.test.X)])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert found[f"hit_at_{k}"] == (best == digits.test.y[:, None]).any(axis=1).mean()
    if k == 1:
        assert found["hit_at_1"] == pytest.approx(1 - found["error"])
    without = metrics.evaluate(model, digits.test)
    assert without == {name: found[name] for name in ("log_loss", "error")}


@pytest.mark.parametrize("k", [1, 3])
def test_precision_counts_the_labels_among_the_best(k):
    rng = np.random.default_rng(0)
    model = LinearModel.of(rng.normal(size=(6, 4)), rng.normal(size=6))
    own = [set(rng.permutation(6)[: rng.integers(1, 4)].tolist()) for _ in range(50)]
    X = rng.normal(size=(50, 4))
    pairs = [(i, c) for i in range(50) for c in sorted(own[i])]  # a row per label
    sets = LabelSets(
        np.cumsum([0, *(len(own[i]) for i, _ in pairs)]),
        np.concatenate([sorted(own[i]) for i, _ in pairs]),
        np.array([1 / len(own[i]) for i, _ in pairs]),
    )
    split = Split(X[[i for i, _ in pairs]], np.array([c for _, c in pairs]), sets)
    found = metrics.evaluate(model, split, top_k=k)
    scores = X @ model.V.T + model.b
    best = [np.argsort(-row)[:k].tolist() for row in scores]
    expected = np.mean([len(own[i] & set(best[i])) / k for i in range(50)])
    assert found[f"precision_at_{k}"] == pytest.approx(expected)
    assert 1 - found["error"] <= sets.weight.mean()  # the ceiling


@pytest.mark.parametrize("sampling", ["shared", "others"])
def test_baselines_learn(digits, sampling):
    for name in ("ove", "nce", "is"):
        settings = config.Sampled(name=name, sampling=sampling, lr=0.05)
        _, run = fit(digits, settings, epochs=10, dtype="float32")
        assert run.curve["test_error"].iloc[-1] < 0.15, name
