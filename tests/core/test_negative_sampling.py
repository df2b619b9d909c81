"""Negative sampling: its objective, the two theorems of its paper, bias removal, Adagrad."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, xlogy

from xcbench.config.settings import Budget, Evaluation
from xcbench.core import metrics, models
from xcbench.core.dataset import Dataset, Split
from xcbench.core.evaluation import Extras
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives.negative_sampling import BinaryLogistic
from xcbench.core.optimizers import adagrad
from xcbench.core.rows import DenseRows
from xcbench.core.solvers import Streams
from xcbench.core.statistics import describe
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.negative_sampling import NegativeSamplingOptions
from xcbench.methods.options import TreeOptions
from xcbench.store.ordering import best_of_each
from xcbench.train import training

P_DATA = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
P_NOISE = np.array([0.1, 0.3, 0.2, 0.2, 0.2])
K = len(P_DATA)


def call(objective, scores, log_p):
    value, grad, _ = objective(scores, log_p, np.zeros(len(scores)), 0.0, np.ones(len(scores)))
    return value, grad


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("raw_scores", [True, False])
def test_grad_is_the_gradient_of_the_value(residual, raw_scores):
    rng, step = np.random.default_rng(0), 1e-6
    scores, log_p = 3 * rng.normal(size=(6, 4)), -rng.exponential(3, size=(6, 4))
    objective = BinaryLogistic(residual, 0.3, raw_scores)
    _, grad = call(objective, scores, log_p)
    for column in range(4):
        aside = step * (np.arange(4) == column)
        above, below = (call(objective, scores + e, log_p)[0] for e in (aside, -aside))
        np.testing.assert_allclose(grad[:, column], (above - below) / (2 * step), rtol=1e-6)


def test_the_value_is_that_of_the_paper():
    """Eq. 6, with two draws of which the mean counts."""
    xi, log_p, l2 = [0.3, -1.2, 2.0], [-1.0, -2.0, -0.5], 0.7
    sigma = [1 / (1 + math.exp(-x)) for x in xi]
    square = [(x + q) ** 2 for x, q in zip(xi, log_p, strict=True)]
    expected = -math.log(sigma[0]) - (math.log(1 - sigma[1]) + math.log(1 - sigma[2])) / 2
    expected += l2 * (square[0] + (square[1] + square[2]) / 2)
    value, _ = call(BinaryLogistic(True, l2), np.array([xi]), np.array([log_p]))
    assert value[0] == pytest.approx(expected, rel=1e-12)


PAIRS = [(y, k) for y in range(K) for k in range(K)]  # every positive with every negative


def expected_gradients(objective, scores, p_noise):
    """Value, gradients (pairs, K) in the class scores and probability of every (y, k)."""
    chance = np.array([P_DATA[y] * p_noise[k] for y, k in PAIRS])
    value, grad = call(objective, scores[np.array(PAIRS)], np.log(p_noise)[np.array(PAIRS)])
    gradients = np.zeros((len(PAIRS), K))
    for row, (y, k) in enumerate(PAIRS):
        gradients[row, y] += grad[row, 0]
        gradients[row, k] += grad[row, 1]
    return chance @ value, gradients, chance


@pytest.mark.parametrize("residual", [True, False])
def test_theorem_1(residual):
    """With free scores, the best ones are log p_D - log p_n; log p_D for NCE."""

    def loss(scores):
        value, gradients, chance = expected_gradients(
            BinaryLogistic(residual, 0.0), scores, P_NOISE
        )
        return value, chance @ gradients

    solution = minimize(loss, np.zeros(K), jac=True, tol=1e-12).x
    known = np.log(P_NOISE) if residual else 0.0
    np.testing.assert_allclose(solution + known, np.log(P_DATA), atol=1e-5)


def signal_to_noise(p_noise):
    """Eta of Eq. 12 for one x, from the objective's own gradients at its optimum."""
    best, step = np.log(P_DATA / p_noise), 1e-5
    hessian = np.zeros((K, K))
    for j in range(K):
        aside = step * (np.arange(K) == j)
        above, below = (
            chance @ gradients
            for _, gradients, chance in (
                expected_gradients(BinaryLogistic(True, 0.0), best + e, p_noise)
                for e in (aside, -aside)
            )
        )
        hessian[:, j] = (above - below) / (2 * step)
    _, gradients, chance = expected_gradients(BinaryLogistic(True, 0.0), best, p_noise)
    assert np.abs(chance @ gradients).max() < 1e-12
    covariance = (gradients.T * chance) @ gradients
    return 1 / np.trace(covariance @ np.linalg.inv(hessian))


@pytest.mark.parametrize("p_noise", [P_NOISE, np.full(K, 1 / K), P_DATA])
def test_theorem_2(p_noise):
    """Eq. 13 to 16: eta = 1 / (K - 2 sum_y p_D p_n / (p_D + p_n)) for one x; best is p_n = p_D."""
    overlap = (P_DATA * p_noise / (P_DATA + p_noise)).sum()
    assert signal_to_noise(p_noise) == pytest.approx(1 / (K - 2 * overlap), rel=1e-6)
    assert signal_to_noise(p_noise) <= 1 / (K - 1) + 1e-9
    assert signal_to_noise(P_DATA) == pytest.approx(1 / (K - 1), rel=1e-6)


# ---------------------------------------------------------------- whole runs
def blobs(n: int = 1500, classes: int = 12) -> Dataset:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(classes, 4))
    parts = []
    for _ in range(2):
        y = np.minimum(rng.geometric(0.2, n) - 1, classes - 1)
        parts.append(Split((centres[y] + rng.normal(size=(n, 4))).astype(np.float32), y))
    info = describe("blobs", "", True, *parts, classes)
    return Dataset(info, *parts, np.bincount(parts[0].y, minlength=classes))


def run(dataset, method, epochs=5, engine="numpy", validation=0.0, **options):
    entry = registry.builtin()[method]
    settings = entry.schema(name=method, **{"lr": 0.1, **options})
    model = models.make(engine, dataset.info.classes, dataset.info.features, True, "float64")
    (trace,) = training.run(
        [training.Lane(entry.build(settings, dataset.info), model)],
        dataset,
        0,
        Budget(epochs=epochs, checkpoints=1),
        Evaluation(validation=validation),
    )
    assert trace.status == "done", trace.message
    return model, trace.curve.iloc[-1]


@pytest.mark.parametrize("step", ["paper", "code"])
def test_with_weights_of_0_the_tree_alone_predicts(step):
    """What the report's table of trees takes from a cell: its first checkpoint."""
    dataset = blobs(classes=40)
    wanted = TreeOptions(dimensions=4, pca="plain", discrete_step=step)
    settings = NegativeSamplingOptions("negative_sampling", 0.1, init="zero", tree=wanted)
    solver = registry.builtin()["negative_sampling"].build(settings, dataset.info)
    model = models.make("numpy", 40, 4, True, "float64")
    budget, asked = Budget(epochs=1, checkpoints=1), Evaluation()
    (trace,) = training.run([training.Lane(solver, model)], dataset, 0, budget, asked)
    first = trace.curve.iloc[0]
    tree, z = solver.sampler.noise.tree, solver.sampler.noise.projection(dataset.test.X)
    own = -tree.log_p(z, dataset.test.y).mean()
    assert first["test_log_loss"] == pytest.approx(own, rel=1e-5)
    assert first["tree_nodes_fell"] == tree.fell
    assert first["train_seconds"] > 0


def test_removing_the_bias_does_nothing_with_uniform_noise():
    _, last = run(blobs(), "negative_sampling", sampler="uniform")
    for name in ("train_log_loss", "test_log_loss", "train_error", "test_error"):
        assert last[name] == pytest.approx(last[f"{name}_uncorrected"], abs=1e-9)


@pytest.mark.parametrize("sampling", ["frequency", "tree"])
def test_removing_the_bias_helps_with_other_noise(sampling):
    _, last = run(blobs(), "negative_sampling", sampler=sampling)
    assert last["test_log_loss"] < last["test_log_loss_uncorrected"] - 0.1


def test_noise_contrastive_estimation_predicts_by_its_own_scores():
    _, last = run(blobs(), "nce", sampler="tree", optimizer="adagrad", lr_decay=1.0, lr=1.0)
    assert not [name for name in last.index if name.endswith("_uncorrected")]
    assert last["test_log_loss"] < 0.8 * np.log(12)


@pytest.mark.parametrize("sampling", ["uniform", "frequency"])
def test_without_features_the_corrected_model_is_the_data(sampling):
    """The nonparametric limit, trained: the log loss is the entropy of the classes."""
    y = np.repeat(np.arange(4), [800, 400, 200, 200])
    split = Split(np.empty((len(y), 0), np.float32), y)
    info = SimpleNamespace(
        name="y", train=len(y), features=0, classes=4, sparse=False, mean_square_norm=0.0
    )
    dataset = Dataset(info, split, split, np.bincount(y))  # type: ignore[arg-type]
    _, last = run(dataset, "negative_sampling", epochs=30, sampler=sampling, negatives=5, lr=0.3)
    share = np.bincount(y) / len(y)
    assert last["train_log_loss"] == pytest.approx(-xlogy(share, share).sum(), abs=0.003)
    assert last["train_l1_error"] < 0.06


def test_a_validation_part_is_set_aside_from_the_test_rows():
    data = blobs()
    kept, rest = data.test.divided(0.2)
    assert len(kept) == 300 and len(rest) == 1200
    together = np.concatenate([kept.X, rest.X])
    assert sorted(map(tuple, together)) == sorted(map(tuple, data.test.X))
    model, last = run(data, "negative_sampling", sampler="uniform", validation=0.2)
    for role, part in (("validation", kept), ("test", rest)):
        expected = -log_softmax(part.X @ model.V.T + model.b, axis=1)[range(len(part)), part.y]
        assert last[f"{role}_log_loss"] == pytest.approx(expected.mean(), rel=1e-6)


def test_early_stopping_takes_the_best_checkpoint_of_every_cell():
    losses = [3, 1, 2, 5, np.nan]
    columns = {"cell": ["a"] * 3 + ["b"] * 2, "train_log_loss": losses, "epoch": range(5)}
    best = best_of_each(pd.DataFrame(columns), "train_log_loss", "cell")
    assert list(best.epoch) == [1, 3]


def test_corrected_scores():
    rng = np.random.default_rng(2)
    W, X, term = rng.normal(size=(5, 3)), rng.normal(size=(40, 3)), rng.normal(size=(40, 5))
    y = rng.integers(0, 5, 40)
    learnt = LinearModel.of(W)
    learnt.correction = lambda rows: term
    model = learnt.corrected
    every = log_softmax(X @ W.T + term, axis=1)
    np.testing.assert_allclose(learnt.log_probabilities(X), every, rtol=1e-12)
    expected = -every[np.arange(40), y]
    measures = metrics.evaluate(model, Split(X, y), Extras(top_k=2))
    assert measures["log_loss"] == pytest.approx(expected.mean(), rel=1e-12)
    best = (X @ W.T + term).argmax(axis=1)
    assert measures["error"] == pytest.approx((best != y).mean())


@pytest.mark.parametrize("sampling", ["frequency", "tree"])
@pytest.mark.parametrize("n", [1, 20])
def test_both_engines_agree(sampling, n):
    pytest.importorskip("numba")
    data = blobs(300)
    for method in ("negative_sampling", "nce"):
        options = {"sampler": sampling, "batch_size": n, "epochs": 1, "optimizer": "adagrad"}
        models = [run(data, method, engine=e, **options)[0] for e in ("numpy", "numba")]
        np.testing.assert_allclose(models[0].V, models[1].V, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- Adagrad and its surroundings
@pytest.mark.parametrize("root", [0.0, 2.0])
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_adagrad(engine, root):
    """One weight at a time, in plain numbers; a class that is hit twice has one gradient."""
    if engine == "numba":
        pytest.importorskip("numba")
    X = np.array([[1.0, 0.0], [2.0, -1.0]])
    model = models.make(engine, 3, 2, True, "float64")
    step = adagrad(0.1, 0.5, root, 0.0).begun(model)
    rows, classes = model.take(X, np.arange(2)), np.array([[0, 1], [0, 0]])
    grads = [np.array([[0.3, -0.2], [0.1, 0.4]]), np.array([[-1.0, 0.0], [0.5, 0.5]])]
    w, G = np.zeros((3, 3)), np.full((3, 3), 1e-8)
    for t, grad in enumerate(grads):
        step.apply(model, rows, classes, grad, step.rate(1))
        for k in range(3):
            for j in range(3):
                g = 0.0
                for i in range(2):
                    x = [*X[i], 1.0][j]
                    g += sum(grad[i, c] * x for c in range(2) if classes[i, c] == k)
                if g:
                    G[k, j] += g * g
                    factor = math.sqrt(root / (t + root)) if root else 1.0
                    w[k, j] -= 0.05 * factor * g / math.sqrt(G[k, j])
    np.testing.assert_allclose(np.column_stack([model.V, model.b]), w, rtol=1e-12)
    assert (model.V[2] == 0).all()


def test_starts_of_the_weights():
    K, D = 60, 40
    model = models.make("numpy", K, D, True, "float64")
    model.draw(Streams.of(0).weights, "glorot")
    limit = math.sqrt(6 / (K + D))
    assert np.abs(model.V).max() < limit and np.abs(model.b).max() < math.sqrt(3 / K)
    assert model.V.var() == pytest.approx(limit**2 / 3, rel=0.05)
    model = models.make("numpy", K, D, True, "float64")
    model.draw(Streams.of(0).weights, "normalised")
    assert np.exp(model.all(DenseRows(np.ones((1, D))))).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "method, options, words",
    [
        ("nce", {"score_l2": 0.1}, "method.score_l2=0.1 needs noise"),
        ("nce", {"lr_root_decay": 5.0}, "is for method.optimizer=adagrad"),
        ("negative_sampling", {"sampler": "others"}, "choose one of uniform, frequency, tree"),
        ("is", {"sampler": "tree"}, "method.sampler=tree is not possible for is"),
    ],
)
def test_impossible_settings(method, options, words):
    entry = registry.builtin()[method]
    with pytest.raises(UserError, match=words):
        registry.check(entry, entry.schema(name=method, **options), blobs(50).info)


def test_a_tree_needs_features():
    entry = registry.builtin()["negative_sampling"]
    info = replace(blobs(50).info, features=0)
    with pytest.raises(UserError, match="draws classes by features"):
        registry.check(entry, entry.schema(name="negative_sampling"), info)
    other = replace(entry.schema(name="negative_sampling"), sampler="frequency")
    registry.check(registry.method_of(other), other, info)
