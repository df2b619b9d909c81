"""Scalable cross-entropy: which rows and classes share a bucket, and its limit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from xcbench import MarginClassifier
from xcbench.core.dataset import Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.samplers.buckets import Buckets
from xcbench.core.solvers import Streams
from xcbench.estimators import problem as of_arrays
from xcbench.methods import registry
from xcbench.train.training import built

N, K, D = 30, 12, 5
RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(N, D)), RNG.integers(0, K, N)
W, b = RNG.normal(size=(K, D)), RNG.normal(size=K)
MODEL = LinearModel.of(W, b)


def drawn(sampler: Buckets, rows: object = X) -> tuple[np.ndarray, np.ndarray]:
    sampler = type(sampler)(**{**vars(sampler), "X": rows, "model": MODEL})
    classes, log_weight = sampler.draw(np.random.default_rng(1), np.arange(N), y, N)
    assert isinstance(log_weight, np.ndarray) and classes is not None
    return classes, log_weight


@pytest.mark.parametrize("mixed", [True, False])
def test_one_bucket_of_everything_has_every_other_class(mixed: bool) -> None:
    for label, classes, weight in zip(y, *drawn(Buckets(K, 1, N, K, mixed)), strict=True):
        assert set(classes[weight == 0]) == set(range(K)) - {label}
        assert classes[np.isneginf(weight)].tolist() == [label]


def test_a_row_has_the_bucket_of_its_largest_loss() -> None:
    """By brute force, from the directions that the same generator draws."""
    directions, of_rows, of_classes = 4, 11, 3
    near, log_weight = drawn(Buckets(K, directions, of_rows, of_classes, mixed=False))
    z = np.random.default_rng(1).standard_normal((directions, D))
    z *= np.linalg.norm(X, axis=1).mean() / np.linalg.norm(z, axis=1)[:, None]
    scores, along = X @ W.T + b, z @ W.T + b
    losses = np.full((N, directions), -np.inf)
    for bucket, direction in enumerate(z):
        members = np.argsort(-(X @ direction))[:of_rows]
        for row in members:
            classes = [k for k in np.argsort(-along[bucket])[:of_classes] if k != y[row]]
            losses[row, bucket] = logsumexp(scores[row, classes] - scores[row, y[row]])
    inside = np.isfinite(losses).any(axis=1)
    assert 0 < inside.sum() < N  # some rows are in no bucket
    np.testing.assert_array_equal(np.isneginf(log_weight).all(axis=1), ~inside)
    values = np.where(np.isneginf(log_weight), -np.inf, np.take_along_axis(scores, near, 1))
    own = scores[np.arange(N), y]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            (logsumexp(values, axis=1) - own)[inside], losses.max(axis=1)[inside], rtol=1e-5
        )


@pytest.mark.parametrize("mixed", [True, False])
def test_sparse_rows_have_the_same_buckets(mixed: bool) -> None:
    sampler = Buckets(K, 6, 9, 4, mixed)
    for dense, sparse in zip(drawn(sampler), drawn(sampler, sp.csr_array(X)), strict=True):
        np.testing.assert_array_equal(np.sort(dense, axis=1), np.sort(sparse, axis=1))


def test_with_one_bucket_of_everything_training_is_that_of_exact_softmax() -> None:
    data = of_arrays.dataset(Split(X, y), K)
    weights = []
    for name, options in (
        ("softmax", {"solver": "minibatch"}),
        ("sce", {"directions": 1, "rows": N, "classes": K}),
    ):
        method = registry.builtin()[name]
        settings = method.schema(name=name, lr=0.1, batch_size=8, init="zero", **options)
        solver, model = built(method, settings, data.info, data.info, "numpy", "float64")
        *_, last = solver.fit(data, model, Streams.of(0), [3.0])
        weights.append({**model.weights(), "objective": np.array(last.objective)})
    for name, value in weights[0].items():
        np.testing.assert_allclose(weights[1][name], value, rtol=1e-12, atol=1e-14)


def test_it_ranks_classes_on_both_engines() -> None:
    rng = np.random.default_rng(1)
    labels = np.arange(60).repeat(20)
    rows = (rng.normal(size=(60, 16))[labels] * 2 + rng.normal(size=(1200, 16))).astype(np.float32)
    options = {"random_state": 0, "epochs": 5, "classes": 20, "batch_size": 100}
    fast, plain = (
        MarginClassifier("sce", engine=engine, **options).fit(rows, labels)
        for engine in ("auto", "numpy")
    )
    assert fast.score(rows, labels) > 0.9
    np.testing.assert_allclose(
        fast.decision_function(rows), plain.decision_function(rows), atol=1e-2
    )
