"""Training that starts from the class prior: probabilities and bounds in closed form."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, log_softmax, logsumexp

from xcbench import OneVsAllClassifier, SampledSoftmaxClassifier, SoftmaxClassifier
from xcbench.core import models, statistics
from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.likelihoods import log_likelihood
from xcbench.core.prior import Prior, solved
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.method import default_rate

COUNTS = np.array([1, 30, 7, 0, 7, 2])
N, K = COUNTS.sum(), len(COUNTS)
P = (COUNTS + 1) / (N + K)
SAMPLED = [
    *("is", "css", "nce", "ove", "ove_grouped", "bouchard", "vanilla", "umax", "implicit"),
    *("ar_softmax", "ar_probit", "ar_logistic", "softmax", "scent", "lse_softplus"),
]


def problem() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(K), COUNTS)
    train, test = (Split(rng.normal(size=(len(y), 4)).astype("float32"), y) for _ in range(2))
    return Dataset(statistics.describe("some", "", False, train, test, K), train, test, COUNTS)


def begun(name: str, engine: str = "numpy", **settings):
    """Model and solver of a method before the first step."""
    dataset, method = problem(), registry.find(name).thing
    if name == "softmax":
        settings["solver"] = "minibatch"
    options = method.schema(name=name, init="prior", **settings)
    options.lr = default_rate(method, options, dataset.info)
    solver = method.build(options, dataset.info)
    model = solver.make_model(engine, K, 4, True, "float64")
    model.link = method.link
    next(solver.fit(dataset, model, Streams.of(0), iter([1.0])))
    return model, solver, dataset


@pytest.mark.parametrize("name", SAMPLED)
def test_before_the_first_step_the_model_predicts_the_class_prior(name: str) -> None:
    model, _, dataset = begun(name)
    (_, scores), *_ = model.passes(dataset.train.X[:1])
    scores = np.asarray(scores, float).repeat(K, axis=0)
    if model.link == "softmax":
        log_p = log_softmax(scores[0])
    else:  # an independent integral, of every class
        log_p = log_likelihood(model.link, scores, np.arange(K))
    assert np.allclose(log_p, np.log(P), atol=1e-7)


@pytest.mark.parametrize("sampler", ["uniform", "frequency"])
def test_with_the_noise_that_prediction_adds_it_is_the_class_prior_too(sampler: str) -> None:
    model, _, dataset = begun("negative_sampling", sampler=sampler)
    scores = model.b + model.correction(dataset.train.X[:1])
    assert np.allclose(log_softmax(scores), np.log(P))


def test_a_tree_that_sees_the_row_is_the_start_where_prediction_adds_it() -> None:
    model, _, _ = begun("negative_sampling", sampler="tree")
    assert not model.b.any()


@pytest.mark.parametrize("name", ["umax", "vanilla", "implicit", "ar_softmax", "scent"])
def test_local_states_start_where_the_double_sum_is_the_exact_loss(name: str) -> None:
    """u* = log(1 + e^T) = -log p_y, at which the value with all classes drawn is u* itself."""
    _, solver, dataset = begun(name)
    local = solver.local(dataset)
    assert np.allclose(local, -np.log(P[dataset.train.y]))
    b = np.log(P)
    scores = np.array([[b[y], *np.delete(b, y)] for y in dataset.train.y])
    rate, norms = 0.1, np.ones(len(scores))
    value, _, _ = solver.objective(scores, 0.0, local.copy(), rate, norms)
    assert np.allclose(value, -np.log(P[dataset.train.y]))


@pytest.mark.parametrize("double_sum", ["raman"])
def test_under_ramans_double_sum_u_is_the_log_of_the_whole_sum(double_sum: str) -> None:
    _, solver, dataset = begun("umax", double_sum=double_sum)
    assert np.allclose(solver.local(dataset), logsumexp(np.log(P)))


@pytest.mark.parametrize("name", ["ar_probit", "ar_logistic"])
def test_the_error_of_an_observed_class_has_the_posteriors_moments(name: str) -> None:
    """Against draws: of all utilities b + eps those where the class is the largest."""
    model, solver, dataset = begun(name)
    rng = np.random.default_rng(1)
    law = rng.standard_normal if name == "ar_probit" else lambda size: rng.logistic(size=size)
    eps = law((400_000, K))
    largest = (model.b + eps).argmax(axis=1)
    mu, gamma = solver.local(dataset).T
    for y in (1, 2, 5):
        drawn = eps[largest == y, y]
        row = np.flatnonzero(dataset.train.y == y)[0]
        error = 5 * drawn.std() / np.sqrt(len(drawn))
        assert abs(mu[row] - drawn.mean()) < error
        scale = np.log1p(np.exp(gamma[row])) * law((100_000,)).std()
        assert scale == pytest.approx(drawn.std(), rel=0.03)


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_biases_reach_every_frequency_of_many_classes(link: str) -> None:
    counts = np.random.default_rng(0).zipf(1.5, 2000).clip(0, 10_000)
    log_p = np.log((counts + 1) / (counts.sum() + len(counts)))
    b = solved(link, log_p)
    some = np.argsort(log_p)[:: len(log_p) // 7]
    found = log_likelihood(link, np.tile(b, (len(some), 1)), some)
    assert np.allclose(found, log_p[some], atol=1e-6)
    assert all(low <= high for low, high in pairwise(b[np.argsort(log_p)]))


def test_every_label_of_a_row_is_a_logistic_regression_at_its_own_share() -> None:
    sets = LabelSets(np.array([0, 2, 3, 3 + 2]), np.array([0, 1, 1, 0, 1]), np.array([0.5, 1, 0.5]))
    X = np.ones((3, 1), "float32")
    train = Split(X, np.array([0, 1, 0]), sets)
    counts = np.array([2, 3, 0])
    info = statistics.describe("some", "", False, train, train, 3)
    prior = Prior.of(Dataset(info, train, train, counts), None)
    assert np.allclose(expit(prior.scores), (counts + 1) / (2 + 3))


def test_both_engines_and_lockstep_start_alike() -> None:
    for engine in ("numpy", "numba"):
        model, solver, dataset = begun("umax", engine)
        assert np.allclose(model.b, np.log(P))
        assert np.allclose(solver.local(dataset), -np.log(P[dataset.train.y]))


def test_without_biases_weights_start_at_zero() -> None:
    dataset, method = problem(), registry.find("umax").thing
    options = method.schema(name="umax", init="prior", bias=False, lr=0.1)
    solver = method.build(options, dataset.info)
    model = models.make("numpy", K, 4, False, "float64")
    next(solver.fit(dataset, model, Streams.of(0), iter([1.0])))
    assert model.untrained and np.allclose(solver.local(dataset), np.log(K))


def test_classifiers_take_it() -> None:
    X, y = problem().train.X, problem().train.y
    for model in (
        SampledSoftmaxClassifier("nce", init="prior", epochs=2, random_state=0),
        SoftmaxClassifier(l2=1.0, init="prior"),
        OneVsAllClassifier(init="prior", epochs=2, random_state=0),
    ):
        assert np.isfinite(model.fit(X, y).decision_function(X)).all()
