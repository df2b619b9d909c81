"""The linear model's verbs against plain float64 matrix products, sparse and dense rows alike."""

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.core.evaluation import top_classes
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import take

N, D, K = 12, 9, 7


@pytest.fixture(params=["dense", "sparse"])
def rows(request):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4)).astype(np.float32)
    X[3] = 0  # an empty row
    X[N - 1] = 0
    return X if request.param == "dense" else sp.csr_array(X)


def dense(X):
    return np.asarray(X.todense() if sp.issparse(X) else X, np.float64)


def model_with_weights(bias=True, dtype="float64"):
    rng = np.random.default_rng(1)
    model = LinearModel(K, D, bias, dtype)
    model.V[...] = rng.normal(size=(K, D))
    if bias:
        model.b[...] = rng.normal(size=K)
    return model


def weights(model):
    return model.scale * model.V, model.scale * (model.b if model.b is not None else np.zeros(K))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-5)])
def test_scores(rows, bias, dtype, tolerance):
    model = model_with_weights(bias, dtype)
    model.shrink(0.5)
    W, b = weights(model)
    expected = dense(rows) @ W.T.astype(float) + b
    index = np.array([5, 3, 0, 11])
    taken = take(rows, index, model.dtype)
    classes = np.array([[0, 6, 6], [1, 2, 3], [4, 0, 5], [2, 2, 1]])
    result = model.at(taken, classes)
    np.testing.assert_allclose(
        result, np.take_along_axis(expected[index], classes, 1), atol=tolerance
    )
    np.testing.assert_allclose(model.all(taken), expected[index], atol=tolerance)
    blocks = np.vstack([scores for _, scores in model.passes(rows)])
    np.testing.assert_allclose(blocks, expected, atol=tolerance)
    for (features, values), i in zip(taken, index, strict=True):
        difference = model.difference(features, values, 2, 4)
        np.testing.assert_allclose(difference, expected[i, 2] - expected[i, 4], atol=tolerance)


@pytest.mark.parametrize("bias", [True, False])
def test_add_sums_repeated_classes_and_rows(rows, bias):
    model = model_with_weights(bias)
    model.shrink(0.25)
    W, b = (part.copy() for part in weights(model))
    index = np.array([5, 3, 0, 5])
    classes = np.array([[0, 6, 6], [1, 2, 3], [6, 0, 5], [2, 2, 6]])
    numbers = np.random.default_rng(2).normal(size=classes.shape)
    model.add(take(rows, index, model.dtype), classes, numbers)
    for i, row in enumerate(index):
        for c, number in zip(classes[i], numbers[i], strict=True):
            W[c] += number * dense(rows)[row]
            b[c] += number * bias
    found_W, found_b = weights(model)
    np.testing.assert_allclose(found_W, W, atol=1e-12)
    np.testing.assert_allclose(found_b, b if bias else 0, atol=1e-12)


def test_add_all_and_move(rows):
    model = model_with_weights()
    model.shrink(2.0)
    W, b = (part.copy() for part in weights(model))
    index = np.array([1, 2, 3])
    numbers = np.random.default_rng(3).normal(size=(3, K))
    taken = take(rows, index, model.dtype)
    model.add_all(taken, numbers)
    W += numbers.T @ dense(rows)[index]
    b += numbers.sum(axis=0)
    for (features, values), row in zip(taken, index, strict=True):
        model.move(features, values, 4, 1, 0.7)
        model.move(features, values, 2, 2, 0.7)  # the same class: nothing
        W[4] += 0.7 * dense(rows)[row]
        W[1] -= 0.7 * dense(rows)[row]
        b[4] += 0.7
        b[1] -= 0.7
    found_W, found_b = weights(model)
    np.testing.assert_allclose(found_W, W, atol=1e-12)
    np.testing.assert_allclose(found_b, b, atol=1e-12)


def test_shrinking_some_classes_leaves_the_others():
    model = model_with_weights()
    model.shrink(2.0)
    W, b = (part.copy() for part in weights(model))
    model.scale_at(np.array([4, 1]), np.array([0.5, 0.1]))
    factor = np.ones(len(W))
    factor[[4, 1]] = 0.5, 0.1
    found_W, found_b = weights(model)
    np.testing.assert_allclose(found_W, factor[:, None] * W, rtol=1e-12)
    np.testing.assert_allclose(found_b, factor * b, rtol=1e-12)


def test_the_scale_is_folded_in_before_it_runs_out_of_range():
    model = model_with_weights(dtype="float32")
    norm = model.square_norm()
    for factor, power in ((0.5, 60), (2.0, 60)):  # 2^-60 is far below the scale that is kept
        for _ in range(power):
            model.shrink(factor)
            assert 1e-6 <= abs(model.scale) <= 1e6
    np.testing.assert_allclose(model.square_norm(), norm, rtol=1e-5)


def test_overflow_is_seen():
    model = model_with_weights()
    assert model.finite()
    model.V[2, 3] = np.inf
    assert not model.finite()


def test_saved_weights_hold_the_scale() -> None:
    model = LinearModel(3, 2, True, "float32")
    model.V[:] = np.arange(6).reshape(3, 2)
    model.shrink(0.5)
    weights = model.weights()
    assert weights["W"].tolist() == [[0, 0.5], [1, 1.5], [2, 2.5]]
    again = LinearModel.of(**weights)
    assert again.scale == 1
    assert again.dtype == np.float32


def test_the_lower_class_wins_among_equals() -> None:
    scores = np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    classes = top_classes(scores, 3)
    values = LinearModel(4, 1, False, "float64").log_probabilities_of(scores, classes)
    assert classes.tolist() == [[1, 2, 0], [0, 1, 2]]
    exact = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert np.allclose(values, np.take_along_axis(exact, classes, axis=1))
