"""Kernels of evaluation: against mpmath, SciPy in float64, and NumPy."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from xcbench.core import kernels
from xcbench.core.dataset import Split
from xcbench.core.kernels import compiling, evaluation, products
from xcbench.core.models.compiled import CompiledModel
from xcbench.core.models.model import top_classes


@compiling.kernel
def exponentials(x: np.ndarray) -> np.ndarray:
    powers = np.empty_like(x)
    for j in range(x.size):
        powers[j] = evaluation.exponential(x[j])
    return powers


def test_the_error_of_the_exponential_is_as_stated() -> None:
    x = -np.random.default_rng(0).uniform(0, 87, 20_000).astype(np.float32)
    x[:4] = 0, -1e-7, -np.log(2) / 2, -87
    powers = exponentials(x)
    with mpmath.workdps(30):
        errors = [
            abs(mpmath.mpf(float(power)) / mpmath.exp(mpmath.mpf(float(at))) - 1)
            for at, power in zip(x, powers, strict=True)
        ]
    assert max(errors) < evaluation.ERROR
    assert powers[0] == 1
    np.testing.assert_array_equal(exponentials(np.float32([-88, -1e9, -np.inf])), powers[3])


def split_of(n_rows: int, n_features: int, n_classes: int) -> Split:
    """Sparse rows, one of them empty."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.2)
    X[1] = 0
    return Split(sp.csr_array(X.astype(np.float32)), rng.integers(0, n_classes, n_rows))


def model_of(n_classes: int, n_features: int, seed: int, bias: bool = True) -> CompiledModel:
    rng = np.random.default_rng(seed)
    model = CompiledModel(n_classes, n_features, bias, "float32")
    model.V[:], model.scale = rng.standard_normal(model.V.shape), 0.5 + rng.random()
    if model.b is not None:
        model.b[:] = rng.standard_normal(n_classes)
    return model


def scores_of(model: CompiledModel, split: Split) -> np.ndarray:
    scores = np.asarray(split.X.astype(float) @ model.V.T.astype(float))
    return np.asarray(model.scale * (scores + (0 if model.b is None else model.b)))


@pytest.mark.parametrize("n_classes", [1, 3, 16, 17, 40, 63, 64, 65, 150])
@pytest.mark.parametrize("bias", [True, False])
def test_losses_and_best_classes_are_those_of_the_scores(n_classes: int, bias: bool) -> None:
    """Of panels of every width, for one model and for several, to the last bit."""
    split, few = split_of(300, 50, n_classes), split_of(7, 50, n_classes)
    models, depth = [model_of(n_classes, 50, seed, bias) for seed in range(5)], min(4, n_classes)
    of_splits = models[0].summaries(models, [split, few], depth)
    for part, summaries in zip((split, few), of_splits, strict=True):
        for model, summary in zip(models, summaries, strict=True):
            scores = scores_of(model, part)
            loss = logsumexp(scores, axis=1) - scores[np.arange(len(part)), part.y]
            assert summary is not None
            np.testing.assert_allclose(summary[0], loss, rtol=1e-6, atol=1e-5)
            np.testing.assert_array_equal(summary[1], top_classes(scores, depth))
            for array, alone in zip(summary, model.summarise(part, depth), strict=True):
                np.testing.assert_array_equal(array, alone)


def test_the_lower_number_comes_first_among_equal_scores() -> None:
    split, model = split_of(30, 50, 150), model_of(150, 50, 0)
    model.V[:], model.b = model.V[np.arange(150) % 40], None
    best = model.summarise(split, 6)[1]
    np.testing.assert_array_equal(best, top_classes(np.asarray(split.X @ model.V.T), 6))
    np.testing.assert_array_equal(best[1], np.arange(6))  # of the empty row


def test_threads_change_no_bit_of_wide_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    split, models = split_of(1100, 50, 150), [model_of(150, 50, seed) for seed in range(2)]
    monkeypatch.setattr("xcbench.core.models.panels.FEATURES_OF_THREAD", 8)
    taken = []
    for count in (1, 2, 3):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", count)
        taken.append(models[0].summaries(models, [split], 3)[0])
    for other in taken[1:]:
        for one, two in zip(taken[0], other, strict=True):
            assert one is not None and two is not None
            np.testing.assert_array_equal(one[0], two[0])
            np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("registers", range(1, kernels.REGISTERS + 1))
@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.int64])
def test_products_are_those_of_scipy(registers: int, kind: type) -> None:
    rng = np.random.default_rng(0)
    X = split_of(20, 50, 2).X
    panel = rng.standard_normal((50, registers * kernels.FLOATS)).astype(np.float32)
    before = rng.standard_normal((9, panel.shape[1])).astype(np.float32)
    scores = before.copy()
    rows = kernels.Rows(
        X.indptr[:-1].astype(int), X.indptr[1:].astype(int), X.indices.astype(kind), X.data
    )
    products.add_products(scores, panel, rows, 3)
    np.testing.assert_allclose(scores, before + X[3:12] @ panel, atol=1e-5)
