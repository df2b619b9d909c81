"""Synthetic rows follow the laws and the planted model that the documentation claims."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from catalogue import composed
from xcbench.data import synthetic
from xcbench.data.settings import BlobsSettings, SyntheticSettings
from xcbench.errors import UserError

SPEC = SyntheticSettings(
    train=4000, test=3000, features=300, classes=12, nonzeros=20, class_exponent=0.7, signal=0.15
)


def law(size: int, exponent: float) -> np.ndarray:
    weights = np.array([1 / k**exponent for k in range(1, size + 1)])
    return weights / weights.sum()


@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_class_law(exponent, seed):
    spec = SyntheticSettings(
        train=20050, test=20000, features=50, classes=50, nonzeros=3, class_exponent=exponent,
        seed=seed,
    )  # fmt: skip
    train, test = synthetic.make(spec)
    # One row of every class is set; the other training rows and all test rows are drawn.
    drawn = [np.bincount(raw.labels, minlength=50) for raw in (train, test)]
    for counts in (drawn[0] - 1, drawn[1]):
        assert chisquare(counts, 20000 * law(50, exponent)).pvalue > 1e-3


@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.5])
def test_feature_law(exponent):
    spec = SyntheticSettings(
        train=5000, test=5000, features=100, classes=2, nonzeros=10, feature_exponent=exponent,
        signal=1e-12,
    )  # fmt: skip
    for raw in synthetic.make(spec):
        drawn = np.asarray(raw.X.sum(axis=0)).ravel().astype(float)
        assert chisquare(drawn, drawn.sum() * law(100, exponent)).pvalue > 1e-3


@pytest.mark.parametrize("rows", [40, 41, 300])
def test_every_class_has_a_training_row(rows):
    spec = replace(SPEC, train=rows, classes=40, class_exponent=3.0)
    train, test = synthetic.make(spec)
    assert train.X.shape == (rows, 300) and test.X.shape == (3000, 300)
    assert set(train.labels.tolist()) == set(range(40))
    assert train.n_labels == test.n_labels == 40
    assert test.labels.min() >= 0 and test.labels.max() < 40


def test_training_rows_are_in_random_order():
    train, _ = synthetic.make(replace(SPEC, train=400, classes=400))
    assert train.labels.tolist() != list(range(400))
    assert abs(np.corrcoef(np.arange(400), train.labels)[0, 1]) < 0.2


def test_the_seed_decides_everything():
    first, again, other = (synthetic.make(replace(SPEC, seed=seed)) for seed in (3, 3, 4))
    for one, two in zip(first, again, strict=True):
        assert (one.X != two.X).nnz == 0
        np.testing.assert_array_equal(one.labels, two.labels)
    assert (first[0].X != other[0].X).nnz > 0
    assert (first[0].X[:3000] != first[1].X).nnz > 0  # test rows are no copies of training rows


def test_rows_are_word_counts_of_one_length():
    for raw in synthetic.make(SPEC):
        lengths = np.asarray(raw.X.sum(axis=1)).ravel()
        assert np.unique(lengths).size == 1
        assert raw.X.has_canonical_format and raw.X.data.min() >= 1
        np.testing.assert_array_equal(raw.X.data, np.round(raw.X.data))


@pytest.mark.parametrize(
    "changes",
    [{}, {"nonzeros": 100.0}, {"nonzeros": 250.0}, {"signal": 0.02}, {"feature_exponent": 0.0},
     {"features": 5000, "nonzeros": 200.0}, {"classes": 500}],
)  # fmt: skip
def test_mean_number_of_features_in_a_row(changes):
    spec = replace(SPEC, **changes)
    train, _ = synthetic.make(spec)
    assert train.X.nnz / spec.train == pytest.approx(spec.nonzeros, rel=0.02)


# ---------------------------------------------------------------- the planted model
def planted(train, spec) -> np.ndarray:
    """Theta as documented; a class's own features are found by their frequency in its rows."""
    background = law(spec.features, spec.feature_exponent)
    theta = np.tile((1 - spec.signal) * background, (spec.classes, 1))
    for k in range(spec.classes):
        counts = np.asarray(train.X[train.labels == k].sum(axis=0)).ravel()
        excess = counts / counts.sum() - theta[k]
        own = np.flatnonzero(excess > spec.signal / 20)
        assert len(own) == 10
        theta[k, own] += spec.signal / 10
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    return theta


@pytest.fixture(scope="module")
def problem():
    """Rows, and the true log posterior of the test rows; the features are found on many rows."""
    spec = replace(SPEC, train=40000)
    train, test = synthetic.make(spec)
    theta = planted(train, spec)
    scores = test.X @ np.log(theta).T + np.log(law(spec.classes, spec.class_exponent))
    posterior = scores - logsumexp(scores, axis=1, keepdims=True)
    return train, test, theta, posterior


def test_words_follow_theta(problem):
    train, _, theta, _ = problem
    for k, own in enumerate(theta):
        counts = np.asarray(train.X[train.labels == k].sum(axis=0)).ravel().astype(float)
        assert chisquare(counts, counts.sum() * own).pvalue > 1e-4


def test_the_planted_model_is_calibrated(problem):
    """The mean loss of the true posterior is its mean entropy, its error the mean of 1 - max."""
    _, test, _, posterior = problem
    probability = np.exp(posterior)
    loss = -posterior[np.arange(len(posterior)), test.labels]
    surprise = loss + (probability * posterior).sum(axis=1)
    assert abs(surprise.mean()) < 3 * surprise.std() / np.sqrt(len(surprise))
    wrong = posterior.argmax(axis=1) != test.labels
    beyond = wrong - (1 - probability.max(axis=1))
    assert abs(beyond.mean()) < 3 * beyond.std() / np.sqrt(len(beyond))
    assert 0.05 < wrong.mean() < 0.8  # neither trivial nor hopeless


@pytest.mark.parametrize(
    "model", [MultinomialNB(alpha=0.1), LogisticRegression(C=0.1, max_iter=300)]
)
def test_no_classifier_beats_the_planted_model(problem, model):
    train, test, _, posterior = problem
    rows = slice(0, 8000)
    model.fit(train.X[rows], train.labels[rows])
    wrong = posterior.argmax(axis=1) != test.labels
    theirs = model.predict(test.X) != test.labels
    gain = wrong.astype(float) - theirs
    assert gain.mean() < 2 * gain.std() / np.sqrt(len(gain))
    assert theirs.mean() - wrong.mean() < 0.1  # and the model can be learned
    ours = -posterior[np.arange(len(posterior)), test.labels]
    loss = -model.predict_log_proba(test.X)[np.arange(len(posterior)), test.labels]
    assert ours.mean() < loss.mean()


def test_the_twin_of_a_linear_softmax_is_learned_by_its_limit(problem):
    """With many rows naive Bayes tends to the planted model, so its loss must come near."""
    train, test, _, posterior = problem
    loss = -MultinomialNB(alpha=0.1).fit(train.X, train.labels).predict_log_proba(test.X)
    index = np.arange(len(posterior)), test.labels
    assert loss[index].mean() == pytest.approx(-posterior[index].mean(), abs=0.02)


# ---------------------------------------------------------------- refusals and memory
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"classes": 5000}, "5000 classes need at least as many training rows"),
        ({"nonzeros": 301.0}, "nonzeros=301 is too many for 300 features"),
        ({"nonzeros": 300.0}, "nonzeros=300 is too many"),
        ({"signal": 1.0, "nonzeros": 11.0}, "too many"),
    ],
)
def test_contradictions_are_refused(changes, says):
    with pytest.raises(UserError, match=says):
        synthetic.make(replace(SPEC, **changes))


def test_long_rows_are_drawn_in_bounded_memory():
    spec = SyntheticSettings(train=500, test=1, features=2000, classes=2, nonzeros=1900, signal=0.1)
    tracemalloc.start()
    train, _ = synthetic.make(spec)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert train.X.sum() > 5e6  # words; all at once they need several arrays of 8 bytes each
    assert peak < 230e6


def test_blobs_are_by_default_those_of_the_toy_problem():
    assert composed("dataset=blobs").blobs == BlobsSettings()
