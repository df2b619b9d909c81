"""Scores and gradients of every class over all rows, against products of whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.core import models


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
