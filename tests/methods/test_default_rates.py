"""Rates where none is set: they end below the class prior on rows of any scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.config.settings import Budget, Evaluation
from xcbench.core import models
from xcbench.core.dataset import Dataset, Split
from xcbench.core.statistics import describe
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.methods.ove import OneVsEachOptions
from xcbench.train import training

K, D, N = 8, 60, 800


def counts(scale: float) -> Dataset:
    """Word counts of documents of unequal length, a third of the words a class's own."""
    rng = np.random.default_rng(3)
    y = rng.choice(K, 2 * N, p=np.arange(K, 0, -1.0) / np.arange(1, K + 1.0).sum())
    length = np.minimum(rng.geometric(0.05, 2 * N), 300)
    X = np.zeros((2 * N, D), np.float32)
    for row, (k, words) in enumerate(zip(y, length, strict=True)):
        own = rng.random(words) < 0.3
        word = np.where(own, 5 * k + rng.integers(0, 5, words), rng.integers(0, D, words))
        np.add.at(X[row], word, np.float32(scale))
    train = Split(sp.csr_array(X[:N]), y[:N])
    test = Split(sp.csr_array(X[N:]), y[N:])
    info = describe("counts", "", True, train, test, K)
    return Dataset(info, train, test, np.bincount(y[:N], minlength=K))


LONG = counts(300.0)


@pytest.mark.parametrize(
    "name, sampling",
    [
        ("implicit", "others"),
        ("umax", "others"),
        ("ar_softmax", "others"),
        ("ar_probit", "others"),
        ("ar_logistic", "others"),
        ("negative_sampling", "frequency"),
        ("nce", "shared"),
        ("bouchard", "others"),
        ("scent", "others"),
        ("lse_softplus", "others"),
    ],
)
def test_long_rows_are_no_reason_to_end_above_the_prior(name: str, sampling: str) -> None:
    method = registry.builtin()[name]
    settings: Any = method.schema(name=name, sampler=sampling)  # type: ignore[call-arg]
    settings = replace(settings, lr=default_rate(method, settings, LONG.info))
    model = models.make("numpy", K, D, True, "float64")
    model.link = method.link
    solver = method.build(settings, LONG.info)
    budget = Budget(epochs=20 if settings.batch_size > 1 else 3, checkpoints=1)
    (trace,) = training.run([training.Lane(solver, model)], LONG, 0, budget, Evaluation())
    assert trace.curve["test_log_loss"].iloc[-1] < LONG.info.prior_log_loss


def test_a_class_of_nearly_all_rows_is_no_reason_to_end_above_the_prior() -> None:
    """Every class is drawn for every row: nearly all of a minibatch move one true class."""
    classes, rows = 50, 2000
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2 * rows) < 0.9, 0, rng.integers(1, classes, 2 * rows))
    y[:classes] = np.arange(classes)
    X = np.zeros((2 * rows, classes + 5), np.float32)
    X[np.arange(2 * rows), y] = X[np.arange(2 * rows), rng.integers(classes, classes + 5)] = 1
    train, test = (
        Split(sp.csr_array(X[part]), y[part]) for part in np.split(np.arange(2 * rows), 2)
    )
    info = describe("imbalanced", "", True, train, test, classes)
    data = Dataset(info, train, test, np.bincount(train.y, minlength=classes))
    settings = OneVsEachOptions(name="ove", negatives=classes - 1, batch_size=200)
    method = registry.method_of(settings)
    settings = replace(settings, lr=default_rate(method, settings, info))
    model = models.make("numpy", classes, classes + 5, True, "float64")
    model.link = method.link
    budget = Budget(epochs=20, checkpoints=1)
    solver = method.build(settings, info)
    (trace,) = training.run([training.Lane(solver, model)], data, 0, budget, Evaluation())
    assert trace.curve["test_log_loss"].iloc[-1] < info.prior_log_loss


@pytest.mark.parametrize("step", ["ar", "adagrad"])
def test_an_adaptive_step_moves_a_row_by_at_most_about_1(step: str) -> None:
    settings = OneVsEachOptions(name="ove", optimizer=step)
    method = registry.method_of(settings)
    short, long = (default_rate(method, settings, counts(scale).info) for scale in (1e-6, 1e3))
    assert long < short <= 0.1
    length = np.abs(counts(1e3).train.X).sum(axis=1)
    assert 0.1 < long * np.median(length) < 1
