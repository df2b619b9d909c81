"""Every method trains, in both engines, on data of every form that the catalogue has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.config.settings import Budget, Evaluation
from xcbench.core.dataset import Dataset, Raw, Split
from xcbench.core.samplers import principal
from xcbench.core.statistics import describe
from xcbench.data import protocol
from xcbench.data.settings import Protocol
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.options import SampledOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.train import training

N, D, K = 40, 20, 6
FORMS = ("dense", "sparse", "late", "one_hot", "constant", "pairs", "featureless")


def problem(form: str) -> Dataset:
    """Rows of a form; those of ``late`` and ``constant`` have nothing in their first features."""
    rng = np.random.default_rng(0)
    X: Any = rng.random((N, D)).astype(np.float32)
    if form == "late":
        X[:, :10] = 0
    if form == "one_hot":
        X = np.eye(D, dtype=np.float32)[rng.integers(0, D, N)]
    if form == "constant":
        X[:] = [0.0] * 10 + [1.0] * 10
    if form == "featureless":
        X = X[:, :0]
    if form in ("sparse", "one_hot", "pairs"):
        X = sp.csr_array(X * (X > 0.5))
    y = np.concatenate([np.arange(K), rng.integers(0, K, N - K)])
    rows = pairs(X, y) if form == "pairs" else Split(X, y)
    counts = np.bincount(rows.y, minlength=K)
    return Dataset(describe("made", "", False, rows, rows, K), rows, rows, counts)


def pairs(X: Any, y: np.ndarray) -> Split:
    """Rows of one or two labels each, and a row of the problem for every label."""
    labels = [sorted({k, (3 * k) % K}) for k in y.tolist()]
    start = np.concatenate([[0], np.cumsum([len(labels_of_row) for labels_of_row in labels])])
    raw = Raw(X, start, np.concatenate(labels), K)
    train, *_ = protocol.apply(raw, raw, Protocol(label="each"))
    assert len(train) > len(y) and train.sets
    return train


def cases() -> list[tuple[str, Any]]:
    result = [(name, method.schema(name=name)) for name, method in registry.builtin().items()]
    result += [
        ("ove", OneVsEachOptions(name="ove", sampler="tree")),
        ("softmax", SoftmaxOptions(name="softmax", solver="minibatch")),
    ]
    return [
        (name, settings)
        for name, settings in result
        if not registry.builtin()[name].lacks(settings)
    ]


SEPARATING = (
    "cluster_svm",  # classes, by features
    "sce",
    *("svm_ovr", "svm_cs", "logistic_ovr", "sgd_ovr", "fastxml", "pfastrexml"),
    *("omikuji", "lml_ovr", "lml_tree"),  # where their libraries are
)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] if case[0] == "pfastrexml" else [])
        for case in cases()
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_every_method_trains_on_every_form(name: str, settings: Any, engine: str) -> None:
    method, reason = registry.builtin()[name], ""
    for form in FORMS:
        dataset = problem(form)
        try:
            registry.check(registry.method_of(settings), settings, dataset.info)
        except UserError as error:
            assert form == "featureless"
            reason = str(error)
            continue
        ready = settings
        if method.has_rate(settings):
            ready = replace(settings, lr=method.default_rate(settings, dataset.info))
        solver = method.build(ready, dataset.info)
        shape = K, dataset.info.features
        model = solver.make_model(engine, *shape, settings.bias, "float32")
        model.link = method.link
        training.warm_up(solver, model, dataset)
        budget, few = Budget(epochs=1, checkpoints=1), Evaluation(rows=5)
        (trace,) = training.run([training.Lane(solver, model)], dataset, 0, budget, few)
        assert trace.status == "done", (form, trace.message)
        assert trace.curve["test_error"].iloc[[0, -1]].notna().all()
    drawn_by_features = isinstance(settings, SampledOptions) and settings.sampler == "tree"
    by_features = name in SEPARATING or drawn_by_features
    assert ("by features, and made has none" in reason) == by_features


def test_whitening_leaves_constant_features_out() -> None:
    X = np.zeros((4, 8))
    assert (principal.fitted(X, 3, whitened=True)(X) == 0).all()
    X[:, 2], X[:, 5] = [1.0, 1.0, -1.0, -1.0], 7.0  # one varies, one is constant
    z = principal.fitted(X, 1, whitened=True)(X)
    np.testing.assert_allclose(np.abs(z[:, 0]), 1.0, rtol=1e-5)
