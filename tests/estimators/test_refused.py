"""What an estimator cannot train is refused, and leaves it as it was."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from xcbench.estimators import (
    EarlyStopping,
    OneVsAllClassifier,
    SampledSoftmaxClassifier,
    SoftmaxClassifier,
)

X, Y = (array[:200] for array in load_digits(return_X_y=True))
X = X / 16
MATRIX = np.zeros((200, 10))
MATRIX[np.arange(200), Y] = 1


@pytest.fixture
def warm() -> SampledSoftmaxClassifier:
    estimator = SampledSoftmaxClassifier("umax", epochs=2, warm_start=True, random_state=0, lr=0.1)
    return estimator.fit(X, Y)


@pytest.mark.parametrize(
    ("rows", "labels", "why"),
    [
        (X[:, :8], Y, "continues with 64 features; X has 8"),
        (np.tile(X, 40), Y, "continues with 64 features; X has 2560"),
        (sp.csr_array(np.tile(X, 3)), Y, "continues with 64 features; X has 192"),
        (X, Y + 100, "the same classes"),
        (X[Y < 5], Y[Y < 5], "the same classes"),
        (X, np.zeros(200), "one class alone"),
    ],
)
def test_a_warm_start_on_another_problem(
    warm: SampledSoftmaxClassifier, rows: np.ndarray, labels: np.ndarray, why: str
) -> None:
    before = warm.predict(X)
    for _ in range(2):  # a cell of a notebook that runs twice
        with pytest.raises(ValueError, match=why):
            warm.fit(rows, labels)
        assert np.array_equal(warm.predict(X), before)
    assert warm.fit(X, Y).n_iter_ == 4


def test_a_warm_start_of_another_precision(warm: SampledSoftmaxClassifier) -> None:
    with pytest.raises(ValueError, match="dtype=float64: the weights are float32"):
        warm.set_params(dtype="float64").fit(X, Y)


def test_exact_softmax_starts_afresh_on_other_features() -> None:
    estimator = SoftmaxClassifier(warm_start=True).fit(X, Y)
    alone = SoftmaxClassifier().fit(X[:, :32], Y)
    np.testing.assert_allclose(estimator.fit(X[:, :32], Y).coef_, alone.coef_)


@pytest.mark.parametrize(
    "options", [{"dtype": "int32"}, {"dtype": "float16"}, {"engine": "foo"}], ids=str
)
def test_a_precision_or_an_engine_that_does_not_exist(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        SampledSoftmaxClassifier("umax", **options).fit(X, Y)


@pytest.mark.parametrize(
    "labels",
    [
        2 * MATRIX - 1,
        sp.csr_array(2 * MATRIX - 1),
        np.stack([Y, Y + 1], axis=1),
        MATRIX / 2,
        np.where(MATRIX, np.nan, 0),
    ],
)
def test_columns_that_are_no_indicator(labels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="values must be 0 and 1"):
        OneVsAllClassifier().fit(X, labels)


def test_an_indicator_as_lists() -> None:
    with pytest.raises(ValueError, match="must be an array"):
        OneVsAllClassifier().fit(X, MATRIX.astype(int).tolist())


def test_precision_of_fewer_label_sets_than_rows() -> None:
    estimator = OneVsAllClassifier(epochs=1, random_state=0).fit(X, MATRIX)
    sets = [{int(label)} for label in Y]
    with pytest.raises(ValueError, match="X has 200 rows, y has 20"):
        estimator.evaluate(X, sets[:20])
    assert set(estimator.evaluate(X, sets, k=30)) == {"precision_at_1", "precision_at_10"}


@pytest.mark.parametrize(
    "rule",
    [
        EarlyStopping(validation_fraction=0),
        EarlyStopping(validation_fraction=1),
        EarlyStopping(n_iter_no_change=0),
        EarlyStopping(tol=float("nan")),
        True,
    ],
    ids=str,
)
def test_rules_that_stop_nothing(rule: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        SampledSoftmaxClassifier("umax", early_stopping=rule).fit(X, Y)  # type: ignore[arg-type]
