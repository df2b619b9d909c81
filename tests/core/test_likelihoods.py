"""Likelihoods of multinomial probit and logistic against integrals and closed forms; evaluation."""

import tracemalloc
import warnings

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_expit, log_ndtr
from scipy.stats import logistic, multivariate_normal, norm

from xcbench.config.settings import Budget, Evaluation
from xcbench.core import likelihoods
from xcbench.core.dataset import LabelSets, Split
from xcbench.core.evaluation import Extras
from xcbench.core.likelihoods import log_likelihood, with_importance
from xcbench.core.metrics import evaluate
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.sparse import SparseModel
from xcbench.core.solvers import Progress, Solver
from xcbench.errors import UserError
from xcbench.train.evaluator import Evaluator
from xcbench.train.training import Lane, run

LAWS = {"probit": (norm.logpdf, log_ndtr), "logistic": (logistic.logpdf, log_expit)}
LINKS = tuple(LAWS)


def log_integrand(link, scores, y, e):
    """Log phi(e) + sum_{k != y} log Phi(e + f_y - f_k), (B, S) of points e (B, S)."""
    density, distribution = LAWS[link]
    total = density(e)
    for k in range(scores.shape[1]):
        others = np.where(k == y, 0.0, 1.0)[:, None]
        own = scores[np.arange(len(y)), y]
        total = total + others * distribution(e + (own - scores[:, k])[:, None])
    return total


def integral(link, scores, y):
    """The log likelihood of one row by SciPy's adaptive quadrature."""
    top = max(0.0, scores.max() - scores[y])
    grid = np.linspace(-50, top + 50, 20_001)
    result = log_integrand(link, scores[None], np.array([y]), grid[None])[0]
    highest, inside = result.max(), grid[result > result.max() - 45]

    def integrand(e):
        return np.exp(
            log_integrand(link, scores[None], np.array([y]), np.full((1, 1), e)) - highest
        )[0, 0]

    options = {"points": [grid[result.argmax()]], "limit": 500, "epsabs": 0, "epsrel": 1e-10}
    return highest + np.log(quad(integrand, inside[0], inside[-1], **options)[0])


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("K", "spread"), [(2, 1), (3, 8), (6, 0.1), (5, 40), (40, 2)])
def test_quadrature(link, K, spread):
    rng = np.random.default_rng(K)
    scores, y = spread * rng.normal(size=(3, K)), rng.integers(0, K, 3)
    y[0] = scores[0].argmin()
    expected = [integral(link, *row) for row in zip(scores, y, strict=True)]
    np.testing.assert_allclose(log_likelihood(link, scores, y), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("K", "spread"), [(600, 0.1), (1500, 1), (3000, 4)])
def test_quadrature_with_classes_that_share_cells(link, K, spread):
    """The true class the lowest, the highest, and any; some classes far above the others."""
    rng = np.random.default_rng(K)
    scores = spread * rng.normal(size=(3, K))
    scores[1:, :9] += 7
    y = np.array([scores[0].argmin(), scores[1].argmax(), K // 2])
    merged, _ = likelihoods.merged(scores, np.ones_like(scores))
    assert merged.shape[1] < K / 2
    expected = [integral(link, *row) for row in zip(scores, y, strict=True)]
    np.testing.assert_allclose(log_likelihood(link, scores, y), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("gap", [0.0, 45.0, 80.0, 900.0])
def test_a_true_class_far_above_the_others_is_certain(link, gap):
    """Its cell has no other class, and the cells of another row reach higher."""
    scores = np.random.default_rng(0).normal(size=(8, 40_000)).astype(np.float32)
    y = np.arange(8)
    scores[np.arange(8), y] += gap
    scores[3, 9] += gap / 2
    result = log_likelihood(link, scores, y)
    assert np.isfinite(result).all() and (result <= 1e-12).all()
    if gap:
        np.testing.assert_allclose(result, 0.0, atol=1e-8)
    else:
        one_by_one = [
            log_likelihood(link, row[None], y[i : i + 1])[0] for i, row in enumerate(scores)
        ]
        np.testing.assert_allclose(result, one_by_one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_of_all_classes_hold_one_block_of_scores(link):
    scores = np.random.default_rng(1).normal(size=(20, 600))
    every = np.tile(np.arange(600), (20, 1))
    tracemalloc.start()
    result = likelihoods.log_probabilities(link, scores, every)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(np.exp(result).sum(axis=1), 1.0, atol=1e-7)
    assert peak < 10 * scores.nbytes + 2**22  # 600 copies of the scores would be 600 times


def test_merged_classes_have_the_same_sums():
    """Of functions as smooth as log Phi; scores far apart or not finite stay as they are."""
    rng = np.random.default_rng(0)
    scores, count = rng.normal(size=(4, 2000)), rng.integers(0, 2, (4, 2000)).astype(float)
    nodes, counts = likelihoods.merged(scores, count)
    for function in (np.ones_like, np.cos, log_ndtr, log_expit, lambda d: log_ndtr(4.0 - d)):
        expected = (count * function(scores)).sum(axis=1)
        np.testing.assert_allclose((counts * function(nodes)).sum(axis=1), expected, 1e-9)
    for apart in (1e6, np.inf, np.nan):
        scores[0, 0] = apart
        assert likelihoods.merged(scores, count)[0] is scores


def test_two_classes_have_closed_forms():
    """Probit: Phi(d / sqrt 2). Logistic: 1 / (1 - e^-d) - d e^-d / (1 - e^-d)^2; far out too."""
    d = np.array([-700.0, -60.0, -3.0, -1e-3, 0.5, 4.0, 50.0])
    scores, y = np.column_stack([d, np.zeros(len(d))]), np.zeros(len(d), int)
    np.testing.assert_allclose(
        log_likelihood("probit", scores, y), log_ndtr(d / np.sqrt(2)), 1e-9, 1e-9
    )
    with mpmath.workdps(400):
        q = [mpmath.exp(-mpmath.mpf(value)) for value in d]
        exact = [1 / (1 - x) + mpmath.log(x) * x / (1 - x) ** 2 for x in q]
        expected = [float(mpmath.log(value)) for value in exact]
    np.testing.assert_allclose(log_likelihood("logistic", scores, y), expected, 1e-8, 1e-8)


@pytest.mark.parametrize("link", LINKS)
def test_equal_scores_of_many_classes(link):
    scores = np.full((2, 5000), 3.0, np.float32)
    result = log_likelihood(link, scores, np.array([0, 4999]))
    np.testing.assert_allclose(result, -np.log(5000), rtol=0, atol=1e-8)


def test_three_classes_are_an_orthant_of_a_normal_law():
    """P(e_1 - e_0 < d_1, e_2 - e_0 < d_2): variances 2, covariance 1."""
    f = np.array([0.3, -0.4, 1.1])
    law = multivariate_normal(cov=[[2, 1], [1, 2]])
    expected = law.cdf([f[0] - f[1], f[0] - f[2]])
    result = np.exp(log_likelihood("probit", f[None], np.array([0])))[0]
    assert result == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_sum_to_one(link):
    scores = np.random.default_rng(1).normal(size=7) * 4
    every = log_likelihood(link, np.tile(scores, (7, 1)), np.arange(7))
    assert np.exp(every).sum() == pytest.approx(1, abs=1e-8)
    model = LinearModel.of(np.empty((7, 0)), scores, link)
    X = np.empty((2, 0))
    np.testing.assert_allclose(model.log_probabilities(X), [every, every], rtol=0, atol=1e-9)


def test_scores_that_are_no_log_odds_have_no_probabilities():
    model = SparseModel("numpy", 3, 2, "float32")
    with pytest.raises(UserError, match="has no probabilities"):
        model.log_probabilities(np.ones((1, 2)))


@pytest.mark.parametrize("link", LINKS)
def test_importance_sampling_is_that_of_the_same_draws(link, monkeypatch):
    """The integrand is interpolated at the draws; with all its points given anew it is the same."""
    monkeypatch.setattr(likelihoods, "CHUNK_ROWS", 8)
    rng = np.random.default_rng(2)
    scores, y = 2 * rng.normal(size=(20, 12)), rng.integers(0, 12, 20)
    exact, result = with_importance(link, scores, y, 1000, np.random.default_rng(5))
    np.testing.assert_array_equal(exact, log_likelihood(link, scores, y))
    same = np.random.default_rng(5)
    e = 5 + 5 * np.concatenate([same.standard_normal((n, 1000)) for n in (8, 8, 4)])
    terms = log_integrand(link, scores, y, e) - norm.logpdf(e, 5, 5)
    expected = np.logaddexp.reduce(terms, axis=1) - np.log(1000)
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-3)
    assert abs((result - expected).mean()) < 2e-4


def test_importance_sampling_is_biased_low():
    """By half the variance of a row's estimate, in first order: an average of logs of averages."""
    scores, y = np.random.default_rng(3).normal(size=(2000, 10)), np.zeros(2000, int)
    exact, result = with_importance("probit", scores, y, 100, np.random.default_rng(4))
    apart = result - exact
    error = apart.std() / np.sqrt(len(apart))
    assert apart.mean() == pytest.approx(-apart.var() / 2, abs=4 * error)
    assert apart.mean() < -4 * error


# ---------------------------------------------------------------- evaluation
def model_and_rows(rows=60, K=6):
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(rows, 4)).astype(np.float32), 6 * rng.normal(size=(K, 4))
    return LinearModel.of(W, rng.normal(size=K)), Split(X, rng.integers(0, K, rows))


@pytest.mark.parametrize("link", LINKS)
def test_evaluation_of_a_link(link):
    model, rows = model_and_rows()
    model.link = link
    scores = rows.X @ model.V.T + model.b
    loss = -np.array([integral(link, *row) for row in zip(scores[:5], rows.y[:5], strict=True)])
    measures = evaluate(model, Split(rows.X[:5], rows.y[:5]), Extras(clip=3.0))
    assert measures["log_loss"] == pytest.approx(loss.mean(), abs=1e-6)
    assert measures["log_loss_clipped"] == pytest.approx(np.minimum(loss, 3).mean(), abs=1e-6)
    assert loss.max() > 3 > loss.min() and "log_loss_importance" not in measures
    drawn = evaluate(model, rows, Extras(clip=3.0, importance=500, rng=np.random.default_rng(0)))
    assert drawn["log_loss_importance"] == pytest.approx(drawn["log_loss_clipped"], abs=0.05)
    assert drawn["log_loss_importance"] != drawn["log_loss_clipped"]


def test_draws_that_miss_a_row_leave_its_loss_at_the_clip():
    """Scores 200 apart: the integrand lies near 100, where N(5, 5²) has no draw."""
    model = LinearModel.of(np.array([[200.0], [0.0]]), link="probit")
    rows = Split(np.ones((3, 1)), np.ones(3, int))
    measures = evaluate(model, rows, Extras(importance=50, rng=np.random.default_rng(0)))
    assert measures["log_loss_importance"] == 26.0
    assert measures["log_loss"] == pytest.approx(-log_ndtr(-200 / np.sqrt(2)))


def test_softmax_is_clipped_too():
    model, rows = model_and_rows()
    scores = rows.X @ model.V.T + model.b
    loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(60), rows.y]
    measures = evaluate(model, rows, Extras(clip=2.0, importance=100, standard_error=True))
    assert measures["log_loss_clipped"] == pytest.approx(np.minimum(loss, 2).mean())
    assert measures["log_loss_standard_error"] == pytest.approx(loss.std(ddof=1) / np.sqrt(60))
    assert "log_loss_importance" not in measures


def test_a_sample_of_rows_takes_their_label_sets_along():
    sets = LabelSets(np.array([0, 2, 3, 3, 6]), np.array([0, 1, 2, 0, 1, 2]), np.arange(4) / 3)
    rows = Split(np.arange(4.0)[:, None], np.array([0, 2, 1, 0]), sets)
    part = rows.sample(3)
    kept = part.X[:, 0].astype(int)
    assert len(kept) == 3 and (np.diff(kept) > 0).all()
    assert part.sets is not None and rows.sample(0) is rows and rows.sample(4) is rows
    for place, row in enumerate(kept):
        whole = sets.classes[sets.start[row] : sets.start[row + 1]]
        taken = part.sets.classes[part.sets.start[place] : part.sets.start[place + 1]]
        np.testing.assert_array_equal(taken, whole)
    np.testing.assert_array_equal(part.sets.weight, kept / 3)


def test_a_sample_estimates_the_whole(digits):
    rng = np.random.default_rng(0)
    model = LinearModel.of(rng.normal(size=(10, digits.train.X.shape[1])))
    whole = evaluate(model, digits.train)["log_loss"]
    part = evaluate(model, digits.train.sample(400), Extras(standard_error=True))
    assert abs(part["log_loss"] - whole) < 3 * part["log_loss_standard_error"]


def test_one_row_has_no_standard_error():
    """NumPy would warn of degrees of freedom."""
    model = LinearModel.of(np.eye(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured = evaluate(
            model, Split(np.eye(2)[:1], np.zeros(1, int)), Extras(standard_error=True)
        )
    assert "log_loss_standard_error" not in measured and "log_loss" in measured


class Still(Solver):
    """A solver that leaves the model as it is."""

    is_bound = True

    def fit(self, dataset, model, streams, stops):
        for i, stop in enumerate([0.0, *stops]):
            yield Progress(i, 10 * i, stop, objective=1.5)


@pytest.mark.parametrize("seconds", [None, 1000.0])
def test_evaluations_at_a_ratio(digits, seconds):
    model = LinearModel.of(np.ones((10, digits.train.X.shape[1])))
    budget = Budget(epochs=8, checkpoints=4, ratio=2, seconds=seconds)
    (trace,) = run([Lane(Still(), model)], digits, 0, budget, Evaluation(rows=50))
    curve = trace.curve
    assert list(curve["epoch"]) == [0, 1, 2, 4, 8]


def test_of_the_training_part_fewer_rows_may_be_asked_for(digits):
    for asked, train in ((Evaluation(rows=50, train_rows=7), 7), (Evaluation(rows=50), 50)):
        parts = Evaluator(digits, asked, 0).parts
        assert {role: len(split) for role, (split, _) in parts.items()} == {
            "train": train,
            "test": 50,
        }


def test_checkpoints_between_have_clock_and_bound_alone(digits):
    model = LinearModel.of(np.ones((10, digits.train.X.shape[1])))
    budget, asked = Budget(epochs=7, checkpoints=7), Evaluation(every=3, rows=50)
    (trace,) = run([Lane(Still(), model)], digits, 0, budget, asked)
    curve = trace.curve
    assert list(curve["epoch"][curve["test_log_loss"].notna()]) == [0, 3, 6, 7]
    assert curve["train_seconds"].notna().all() and (curve["bound"][1:] == -1.5).all()
    assert "test_log_loss_standard_error" in curve


def test_a_curve_may_have_fewer_rows_than_its_end(digits):
    """Those of a fixed sample, with its standard error; the end and validation have all rows."""
    rng = np.random.default_rng(0)
    model = LinearModel.of(rng.normal(size=(10, digits.train.X.shape[1])))
    budget, asked = Budget(epochs=3, checkpoints=3), Evaluation(curve_rows=40, validation=0.5)
    (trace,) = run([Lane(Still(), model)], digits, 0, budget, asked)
    curve = trace.curve
    for role in ("train", "test"):
        losses, errors = curve[f"{role}_log_loss"], curve[f"{role}_log_loss_standard_error"]
        assert losses[1] == losses[2] != losses[3] == losses[0]  # the model stands still
        assert list(errors.notna()) == [False, True, True, False]
        assert abs(losses[1] - losses[3]) < 4 * errors[1]
    assert curve["validation_log_loss"].nunique() == 1
    assert "validation_log_loss_standard_error" not in curve
    (whole,) = run([Lane(Still(), model)], digits, 0, budget, Evaluation(validation=0.5))
    assert whole.curve["test_log_loss"][3] == curve["test_log_loss"][3]


@pytest.mark.parametrize(("rows", "train_rows", "train", "test"), [(50, 7, 7, 30), (0, 60, 30, 30)])
def test_the_smaller_of_two_limits_counts(digits, rows, train_rows, train, test):
    asked = Evaluation(rows=rows, train_rows=train_rows, curve_rows=30)
    parts = Evaluator(digits, asked, 0).of_curve
    assert {role: len(split) for role, (split, _) in parts.items()} == {
        "train": train,
        "test": test,
    }
