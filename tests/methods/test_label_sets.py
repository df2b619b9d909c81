"""Rows with several labels: reductions, and one logistic loss a class with drawn negatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from xcbench import OneVsAllClassifier, SampledSoftmaxClassifier
from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.objectives import Pairwise
from xcbench.core.objectives.one_vs_all import one_vs_all
from xcbench.core.samplers.absent import Absent
from xcbench.core.samplers.clusters import AbsentClusters, Clusters
from xcbench.estimators import problem

K = 6


def several(rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a planted linear model, of one label to four."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 12)).astype(np.float32)
    scores = X @ np.random.default_rng(9).normal(size=(12, K)) + rng.logistic(size=(rows, K))
    Y = scores > 2
    Y[np.arange(rows), scores.argmax(axis=1)] = True
    return X, Y


def pairs(Y: np.ndarray) -> tuple[Dataset, np.ndarray, np.ndarray]:
    X = np.zeros((len(Y), 1), np.float32)
    split = problem.reduced(X, sp.csr_array(Y), "pick_all")
    row, classes = np.nonzero(Y)
    return problem.dataset(split, Y.shape[1]), row, classes


@pytest.mark.parametrize("sampler", [Absent(K, 3), AbsentClusters(K, 3, proposal=Clusters(size=3))])
def test_labels_are_never_drawn_and_the_others_stand_for_all(sampler: Absent) -> None:
    _, Y = several(30)
    Y[3] = True  # a row of every class
    dataset, row, classes = pairs(Y)
    assert np.array_equal(dataset.train.y, classes)
    drawn, log_weight = sampler.fitted(dataset).draw(
        np.random.default_rng(0),
        np.repeat(np.arange(len(row)), 4000),
        np.repeat(classes, 4000),
        1,
    )
    assert drawn is not None
    used = ~np.isneginf(np.asarray(log_weight))
    of = np.repeat(row, 4000)[:, None]
    assert not Y[np.broadcast_to(of, drawn.shape)[used], drawn[used]].any()
    term = np.random.default_rng(1).normal(size=(len(Y), K))
    terms = np.where(used, np.exp(log_weight) * term[of, drawn], 0.0).sum(axis=1)
    sums = np.bincount(np.repeat(row, 4000), terms / 4000, minlength=len(Y))
    expected = np.where(Y, 0.0, term).sum(axis=1)
    whole = Y.sum(axis=1) < 4  # where most classes are labels, often none is left to stand for all
    assert np.allclose(sums[whole], expected[whole], rtol=0.25, atol=0.3)


def test_one_label_a_row_needs_no_sets() -> None:
    y = np.array([0, 2, 1])
    dataset = problem.dataset(Split(np.zeros((3, 1), np.float32), y), 3)
    drawn, log_weight = (
        Absent(3, 50).fitted(dataset).draw(np.random.default_rng(0), np.arange(3), y, 1)
    )
    assert np.array_equal(np.isneginf(np.asarray(log_weight)), drawn == y[:, None])


def test_the_loss_is_that_of_all_classes() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=K), np.array([1, 4])
    others = np.setdiff1d(np.arange(K), labels)
    total, grad = 0.0, np.zeros(K)
    for label in labels:
        chosen = np.concatenate([[label], others])
        weight = np.full((1, len(others)), -np.log(len(labels)))
        value, of_scores, _ = Pairwise(one_vs_all, False)(
            scores[None, chosen], weight, np.zeros(1), 0.1, np.ones(1)
        )
        total += value[0]
        np.add.at(grad, chosen, of_scores[0])
    sign = np.where(np.isin(np.arange(K), labels), -1.0, 1.0)
    assert total == pytest.approx(np.log1p(np.exp(sign * scores)).sum())
    assert np.allclose(grad, sign / (1 + np.exp(-sign * scores)))


def test_precision_is_that_of_one_vs_rest() -> None:
    X, Y = several()
    test, truth = several(300, seed=1)
    ours = OneVsAllClassifier(lr=0.02, l2=1.0, negatives=3, random_state=0).fit(X, Y)
    theirs = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    best = theirs.decision_function(test).argmax(axis=1)
    reference = truth[np.arange(len(truth)), best].mean()
    assert ours.evaluate(test, truth)["precision_at_1"] > reference - 0.03
    exact, close = theirs.predict_proba(test), ours.label_probabilities(test)
    assert np.abs(exact - close).mean() < 0.08


@pytest.mark.parametrize("form", ["sparse", "sets", "lists"])
def test_targets_in_any_form(form: str) -> None:
    X, Y = several(60)
    Y[7] = False  # a row without a label
    model = OneVsAllClassifier(epochs=2, random_state=0).fit(X, Y)
    names = np.array(list("abcdef"))
    kinds: dict[str, Any] = {
        "sparse": sp.csc_array(Y.astype(np.int8)),
        "sets": [set(names[row]) for row in Y],
        "lists": [tuple(names[row][::-1]) for row in Y],
    }
    other = OneVsAllClassifier(epochs=2, random_state=0).fit(X, kinds[form])
    assert np.array_equal(model.coef_, other.coef_)
    if form != "sparse":
        assert other.classes_.tolist() == list("abcdef")
        assert np.array_equal(other.predict(X), names[model.predict(X)])
    assert other.evaluate(X.tolist(), kinds[form], k=2) == model.evaluate(X, Y, k=2)


def test_reductions_of_the_softmax() -> None:
    X, Y = several(200)
    row, classes = np.nonzero(Y)
    picked = SampledSoftmaxClassifier("umax", reduction="pick_all", random_state=0).fit(X, Y)
    by_hand = SampledSoftmaxClassifier("umax", random_state=0).fit(X[row], classes)
    assert np.array_equal(picked.coef_, by_hand.coef_)
    single = SampledSoftmaxClassifier("umax", random_state=0).fit(X, Y)
    smallest = Y.argmax(axis=1)
    if len(np.unique(smallest)) == K:
        again = SampledSoftmaxClassifier("umax", random_state=0).fit(X, smallest)
        assert np.array_equal(single.coef_, again.coef_)
    precision = [model.evaluate(X, Y)["precision_at_1"] for model in (picked, single)]
    assert precision[0] > precision[1]
    with pytest.raises(ValueError, match="one_label, pick_all"):
        SampledSoftmaxClassifier(reduction="all").fit(X, Y)
    with pytest.raises(ValueError, match="fewer than two classes"):
        OneVsAllClassifier().fit(X, np.zeros_like(Y))


def test_label_sets_of_a_split_are_known_to_the_sampler() -> None:
    _, Y = several(20)
    dataset, _, _ = pairs(Y)
    assert isinstance(dataset.train.sets, LabelSets)
    assert dataset.train.sets.contain(dataset.train.y).all()
    assert dataset.train.sets.weight.sum() == pytest.approx(20)
