"""Data without features: closed forms, evaluation from one set of scores, the toy datasets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2_contingency, kstest, norm
from sklearn.metrics import log_loss
from test_engines import METHODS, trained
from test_solvers import fit

from xcbench import data
from xcbench.core.dataset import LabelSets, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import evaluate
from xcbench.core.models import make
from xcbench.core.models.linear import LinearModel
from xcbench.data import blobs, categories
from xcbench.data.settings import BlobsSettings, CategoriesSettings, DatasetSettings, Protocol
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.nce import NCEOptions
from xcbench.methods.options import SampledOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.options import check

DECLARED = Protocol(classes="declared")


@pytest.fixture(scope="module")
def prepare(tmp_path_factory):
    def prepare(train, classes, seed=0, protocol=DECLARED):
        spec = CategoriesSettings(train=train, test=50, classes=classes, seed=seed)
        settings = DatasetSettings(
            name="values", reader="categories", categories=spec, protocol=protocol
        )
        check(settings)
        where = tmp_path_factory.mktemp("cache")
        return data.load(data.prepare(settings, Path("nowhere"), where), where)

    return prepare


@pytest.fixture(scope="module")
def values(prepare):
    return prepare(400, 8, seed=3)


def softmax(b):
    return np.exp(b) / np.exp(b).sum()


# ---------------------------------------------------------------- the makers
def test_frequencies_of_values():
    spec = CategoriesSettings(train=4_000_000, test=1_000_000, classes=500, seed=1)
    counts = [np.bincount(raw.labels, minlength=500) for raw in categories.make(spec)]
    assert chi2_contingency(np.array(counts)[:, counts[0] > 100]).pvalue > 1e-3
    # N_k / N is about u_k² / (K / 3), the mean of u² being 1/3.
    assert kstest(np.sqrt(counts[0] / 4e6 * 500 / 3), "uniform").pvalue > 1e-3
    other = categories.make(replace(spec, seed=2))[0]
    assert chi2_contingency([counts[0], np.bincount(other.labels, minlength=500)]).pvalue < 1e-9


def test_blobs_are_gaussian_around_a_circle():
    spec = BlobsSettings(train=30_000, test=30_000, classes=3, radius=2.0, spread=0.7)
    for raw in blobs.make(spec):
        assert np.bincount(raw.labels).tolist() == [10_000] * 3
        for k, centre in enumerate([(2, 0), (-1, np.sqrt(3)), (-1, -np.sqrt(3))]):
            for column, mean in zip(raw.X[raw.labels == k].T, centre, strict=True):
                assert kstest(column, norm(mean, 0.7).cdf).pvalue > 1e-4


def test_declared_classes_need_no_row(prepare):
    dataset = prepare(60, 40)
    assert dataset.info.classes == 40 and (dataset.class_counts == 0).any()
    dropped = prepare(60, 40, protocol=Protocol(classes="train"))
    assert dropped.info.classes == (dataset.class_counts > 0).sum()
    assert dropped.info.test < dataset.info.test == 50


def test_there_is_something_to_fit(values):
    settings = NCEOptions(name="nce", bias=False)
    with pytest.raises(UserError, match="has no features"):
        registry.check(registry.method_of(settings), settings, values.info)


# ---------------------------------------------------------------- evaluation
@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("labels", ["one", "several"])
def test_evaluation_is_that_of_a_feature_of_zeros(engine, labels):
    if engine == "numba":
        pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 200)
    sets = None
    if labels == "several":
        further = rng.integers(0, 30, 200)
        sets = LabelSets(np.arange(0, 401, 2), np.column_stack([y, further]).ravel(), np.ones(200))
    result = []
    for width in (0, 1):
        model = make(engine, 30, width, True, "float32")
        model.b[:] = np.random.default_rng(1).normal(0, 3, 30)
        model.shrink(0.5)
        split = Split(np.zeros((200, width), np.float32), y, sets)
        result.append(evaluate(model, split, Extras(softmax_twice=True, top_k=4)))
    assert result[0].pop("l1_error") > 0 and result[0].pop("relative_error") > 0
    assert result[0] == pytest.approx(result[1], rel=1e-5)
    assert ("precision_at_4" in result[0]) == (labels == "several")


def test_losses_and_l1_error():
    b = np.log([0.5, 0.25, 0.25])
    y = np.array([0, 0, 0, 1])
    measures = evaluate(LinearModel.of(np.empty((3, 0)), b + 7), Split(np.empty((4, 0)), y))
    assert measures["l1_error"] == pytest.approx(0.25 + 0 + 0.25)
    assert measures["relative_error"] == pytest.approx(
        (0.25 / 0.75 + 0) / 2
    )  # of two classes that occur
    assert measures["error"] == 0.25
    assert measures["log_loss"] == pytest.approx(
        log_loss(y, [[0.5, 0.25, 0.25]] * 4, labels=[0, 1, 2])
    )


def test_scores_far_apart():
    model = LinearModel.of(np.empty((2, 0)), np.array([0.0, -2000.0]))
    assert evaluate(model, Split(np.empty((1, 0)), np.array([1])))["log_loss"] == 2000.0


# ---------------------------------------------------------------- closed forms
@pytest.mark.parametrize("name", ["softmax", "ove"])
def test_optimum_is_the_frequencies(values, name):
    schema = registry.find(name).thing.schema
    settings = schema(name=name, solver="lbfgs", tolerance=1e-9, init="zero")
    model, trace = fit(values, settings)
    expected = values.class_counts / 400
    np.testing.assert_allclose(softmax(model.b), expected, rtol=1e-6)
    assert trace.curve["train_l1_error"].iloc[-1] < 1e-6
    assert trace.curve["train_l1_error"].iloc[0] == pytest.approx(np.abs(expected - 1 / 8).sum())
    entropy = -(expected * np.log(expected)).sum()
    assert trace.curve["train_log_loss"].iloc[-1] == pytest.approx(entropy)
    # What is left of one-vs-each is a sum over pairs: N_k log(1 + N_m / N_k).
    pairs = np.log1p(values.class_counts / values.class_counts[:, None])
    bound = -(expected * (pairs.sum(axis=1) - np.log(2))).sum()
    assert trace.curve["bound"].iloc[-1] == pytest.approx(-entropy if name == "softmax" else bound)


def test_bouchard_of_two_values_doubles_the_logarithms(prepare):
    dataset = prepare(300, 2, seed=1)
    settings = BouchardOptions(name="bouchard", solver="lbfgs", tolerance=1e-9)
    model, _ = fit(dataset, settings)
    difference = 2 * np.diff(np.log(dataset.class_counts))
    np.testing.assert_allclose(np.diff(model.b), difference, rtol=1e-6)


def test_bouchard_of_more_values(values):
    """All observations of a value share their alpha, and so do all values: one alpha for all."""
    N_k = values.class_counts

    def negative_bound(theta):
        f, alpha = theta[:-1], theta[-1]
        return N_k @ (alpha - f + np.logaddexp(0, f - alpha).sum())

    expected = minimize(negative_bound, np.zeros(9), options={"gtol": 1e-8})
    settings = BouchardOptions(name="bouchard", solver="lbfgs", tolerance=1e-9)
    model, trace = fit(values, settings)
    np.testing.assert_allclose(softmax(model.b), softmax(expected.x[:-1]), atol=1e-5)
    assert -400 * trace.curve["bound"].iloc[-1] == pytest.approx(expected.fun, rel=1e-6)
    largest = N_k.argmax()
    assert softmax(model.b)[largest] > N_k[largest] / 400


def test_complementary_sums_have_another_optimum_than_the_frequencies(values):
    """With one draw the expected objective is a sum over pairs; its optimum is not the entropy."""
    p, others = values.class_counts / 400, 7

    def expected(b):
        odds = b - b[:, None] + np.log(others)
        np.fill_diagonal(odds, -np.inf)
        return (p[:, None] * np.logaddexp(0, odds)).sum() / others

    best = minimize(expected, np.log(p), options={"gtol": 1e-9}).x
    settings = SampledOptions(name="css", negatives=1, batch_size=1, lr=0.01, lr_schedule="linear")
    model, trace = fit(values, settings, epochs=400)
    np.testing.assert_allclose(softmax(model.b), softmax(best), atol=0.02)
    entropy = -(p * np.log(p)).sum()
    at_best = -(p * np.log(softmax(best))).sum()
    assert at_best > entropy + 0.1
    assert trace.curve["train_log_loss"].iloc[-1] == pytest.approx(at_best, abs=0.05)


def test_stochastic_one_vs_each_approaches_the_frequencies(values):
    settings = OneVsEachOptions(
        name="ove", batch_size=10, negatives=2, sampler="others", lr=0.01, init="zero"
    )
    errors = [fit(values, settings, 40, seed=seed)[1].curve["train_l1_error"] for seed in range(3)]
    assert all(error.iloc[0] > 0.4 and error.iloc[-1] < 0.05 for error in errors)


# ---------------------------------------------------------------- engines
@pytest.mark.parametrize("name", METHODS)
def test_both_engines_fit_biases_alone(values, name):
    pytest.importorskip("numba")
    numpy, numba = (trained(values, METHODS[name], e, "float64", 0.5) for e in ("numpy", "numba"))
    np.testing.assert_allclose(numba[0]["b"], numpy[0]["b"], rtol=1e-6, atol=1e-9)
    assert np.abs(numpy[0]["b"]).max() > 1e-3
    assert numba[1][-1].objective == pytest.approx(numpy[1][-1].objective, rel=1e-6)
    assert numpy[0]["W"].shape == (8, 0)


def test_launch_of_a_categories_cell(workspace):
    words = ("dataset=categories", "dataset.categories.train=5000", "dataset.categories.classes=20")
    words = (*words, "method=ove", "method.sampler=others", "method.init=zero", "mlflow=false")
    words = (*words, "save_weights=true")
    done = workspace.run(*words, "budget.epochs=2", "budget.checkpoints=2")
    assert done.code == 0, done.text
    curve = workspace.frame("--curves", "--format", "csv")
    assert curve["train_l1_error"].iloc[-1] < 0.3 < curve["train_l1_error"].iloc[0]
    assert curve["dataset.categories.classes"].unique() == [20]
    shown = workspace.xcbench("show", curve["cell"].iloc[0])
    assert "0 features, 20 classes" in shown.out
    again = shown.out.splitlines()[-1].split()
    done = workspace.run(*again[2:])
    assert done.code == 0, done.text
    assert len(workspace.cells()) == 1
