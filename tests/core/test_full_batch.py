"""Scores and gradients of every class over all rows, against products of whole matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax

from xcbench.core import models, samplers
from xcbench.core.dataset import Dataset, Split, distinct_rows
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.core.solvers import Streams
from xcbench.core.solvers.lbfgs import LBFGS, _Mean


def rows(form: str) -> np.ndarray | sp.csr_array:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(57, 23)).astype(np.float32)
    X[rng.random(X.shape) < (0.0 if form == "dense" else 0.8)] = 0
    X[11] = 0  # a row of which nothing is left
    return sp.csr_array(X) if form == "sparse" else X


@pytest.mark.parametrize("form", ["dense", "mostly zeros", "sparse"])
@pytest.mark.parametrize("K", [2, 10, 71])
@pytest.mark.parametrize("bias", [True, False])
def test_the_compiled_model_gives_the_products(form: str, K: int, bias: bool) -> None:
    X = rows(form)
    whole = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)
    model = models.make("numba", K, whole.shape[1], bias, "float64")
    rng = np.random.default_rng(1)
    model.V[:] = rng.normal(size=model.V.shape)
    if model.b is not None:
        model.b[:] = rng.normal(size=K)
    grad = rng.normal(size=(len(whole), K))
    visited, gradient = [], np.zeros(model.V.shape)
    for block, part in model.full_batch(X):
        visited += [*range(len(whole))[block]]
        scores = whole[block] @ model.V.T + (0.0 if model.b is None else model.b)
        np.testing.assert_allclose(model.all(part), scores, rtol=1e-12, atol=1e-12)
        gradient += model.gradient(part, grad[block])
    assert visited == [*range(len(whole))]
    np.testing.assert_allclose(gradient, grad.T @ whole, rtol=1e-12, atol=1e-12)


def labelled_rows(form: str) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
    """Rows, one for each of their labels, 1 to 4; at the end the features of the last row again."""
    X, rng = rows(form), np.random.default_rng(2)
    labels = [
        np.sort(rng.choice(6, size, replace=False)) for size in rng.integers(1, 5, X.shape[0])
    ]
    of = np.repeat(np.arange(X.shape[0]), [len(own) for own in labels])
    of, y = np.append(of, of[-1]), np.append(np.concatenate(labels), 0)
    return X[of], y


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_equal_rows_are_one(form: str) -> None:
    X, y = labelled_rows(form)
    order = np.random.default_rng(5).permutation(len(y))
    X = X[order]
    whole = X if isinstance(X, np.ndarray) else X.toarray()
    few, place = distinct_rows(X)
    np.testing.assert_array_equal(
        (few if isinstance(few, np.ndarray) else few.toarray())[place], whole
    )
    assert few.shape[0] == len(np.unique(whole, axis=0)) < len(y)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_of_a_row_add_their_losses_and_gradients(
    small: Dataset, form: str, weighted: bool
) -> None:
    X, y = labelled_rows(form)
    whole = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)
    weight = np.random.default_rng(3).integers(1, 4, len(y)) if weighted else None
    split = Split(X, y, weight=weight)
    dataset = replace(small, train=split, test=split, class_counts=np.bincount(y, minlength=6))
    model = models.make("numba", 6, whole.shape[1], True, "float64")
    solver = LBFGS(LogOdds(softmax, True), samplers.make("all", 6, 0), 0.3, 1e-8, 10)
    theta = np.random.default_rng(4).normal(size=6 * (whole.shape[1] + 1))
    value, gradient = _Mean(solver, dataset, model, Streams.of(0))(theta)

    W, b = theta[:-6].reshape(6, -1), theta[-6:]
    log_p = log_softmax(whole @ W.T + b, axis=1)
    count = np.ones(len(y)) if weight is None else weight
    of_scores = count[:, None] * (np.exp(log_p) - np.eye(6)[y])
    share = 0.3 * len(y) / count.sum()
    mean = -(count * log_p[np.arange(len(y)), y]).sum() / count.sum()
    assert value == pytest.approx(mean + share / 2 * theta @ theta, rel=1e-12)
    expected = np.concatenate([(of_scores.T @ whole).ravel(), of_scores.sum(axis=0)])
    np.testing.assert_allclose(gradient, expected / count.sum() + share * theta, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3, 1e300])
def test_log_odds_of_every_class_are_those_of_log_softmax(scale: float) -> None:
    scores = scale * np.random.default_rng(0).normal(size=(7, 5))
    row, y = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 6]), np.array([0, 3, 1, 4, 0, 2, 2, 2, 1, 0])
    value, grad = LogOdds(softmax, True).of_all(scores.copy(), row, y)
    log_p, expected = log_softmax(scores, axis=1), np.zeros_like(scores)
    np.add.at(expected, row, np.exp(log_p)[row] - np.eye(5)[y])
    assert value == pytest.approx(-log_p[row, y].sum(), rel=1e-14)
    np.testing.assert_allclose(grad, expected, atol=1e-14)
