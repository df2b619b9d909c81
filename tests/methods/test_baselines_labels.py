"""Baselines on rows with several labels, against the libraries used by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from test_baselines import EXTRAS, NAPKIN, D, K, N, problem, trained

from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.evaluation import Extras
from xcbench.core.metrics import evaluate
from xcbench.methods import baselines, registry
from xcbench.methods.baselines.options import (
    LibMultiLabelOptions,
    LibMultiLabelTreeOptions,
    LogisticOptions,
    OneVsRestOptions,
    SGDOptions,
)
from xcbench.methods.baselines.prior import Frequencies
from xcbench.methods.options import MethodOptions


def multi_label() -> Dataset:
    """`problem` with one to three classes a row."""
    single, rng = problem(), np.random.default_rng(1)
    labels = [{int(y), *rng.integers(0, K, rng.integers(0, 3)).tolist()} for y in single.train.y]
    start = np.cumsum([0, *map(len, labels)])
    sets = LabelSets(start, np.concatenate([sorted(own) for own in labels]), np.ones(N))
    rows = Split(single.train.X, np.array([min(own) for own in labels]), sets)
    return replace(single, train=rows, test=rows)


def test_one_vs_rest_on_all_labels_of_a_row() -> None:
    """A class's own rows are those with it in their label set."""
    dataset = multi_label()
    X, Y = dataset.train.X, dataset.train.labels(K).toarray() > 0
    common: dict[str, Any] = {"tolerance": 1e-8, "iterations": 100_000, "bias": False}
    model = trained(OneVsRestOptions("svm_ovr", labels="all", **common), dataset)
    own = trained(OneVsRestOptions("svm_ovr", **common), dataset)
    for k in range(K):
        for found, target in ((model, Y[:, k]), (own, dataset.train.y == k)):
            fit = LinearSVC(C=10, tol=1e-8, max_iter=100_000, fit_intercept=False).fit(X, target)
            np.testing.assert_allclose(found.V[k], fit.coef_[0], atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "C", "alike"),
    [
        (LogisticOptions("logistic_ovr", tolerance=1e-6, bias=False), 1.0, 0.9999),
        (SGDOptions("sgd_ovr", alpha=0.01, tolerance=1e-5, bias=False), 1 / (0.01 * N), 0.98),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_one_vs_rest_is_logistic_regression(
    settings: MethodOptions, C: float, alike: float
) -> None:
    """The weights of a class lie along those at the optimum of its problem."""
    dataset = multi_label()
    rows: Any = dataset.train.X
    model = trained(settings, dataset)
    for w, y in zip(model.V, dataset.train.labels(K).toarray().T, strict=True):
        best = LogisticRegression(C=C, fit_intercept=False).fit(rows.toarray(), y).coef_[0]
        assert w @ best > alike * np.linalg.norm(w) * np.linalg.norm(best)


@pytest.mark.parametrize("name", [*NAPKIN, "omikuji", "lml_ovr", "lml_tree"])
def test_libraries_rank_labels(name: str) -> None:
    pytest.importorskip(EXTRAS[name])
    dataset = multi_label()
    schema: Any = registry.builtin()[name].schema
    model = trained(schema(name) if name == "hsm" else schema(name, labels="all"), dataset)
    _, scores = next(model.passes(dataset.test.X))
    np.testing.assert_array_equal(scores.argmax(axis=1), model.predict(dataset.test.X))
    names = ("precision_at_1", "ndcg_at_3")
    found = evaluate(model, dataset.test, Extras(metrics=names))
    known = Frequencies("numpy", K, D, True, "float32")
    known.scores[:] = dataset.train.labels(K).sum(axis=0)
    for metric, floor in evaluate(known, dataset.test, Extras(metrics=names)).items():
        if metric in names:
            assert found[metric] > floor


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_libmultilabel_is_the_library_used_by_itself(loss: str) -> None:
    """Its own call, with the options of LIBLINEAR spelled out."""
    linear = pytest.importorskip("libmultilabel.linear")
    dataset = multi_label()
    X, Y = sp.csr_matrix(dataset.train.X, dtype=float), dataset.train.labels(K)
    words = f"-s {1 if loss == 'squared_hinge' else 7} -c 2 -e 0.001 -B 1"
    alone = linear.train_1vsrest(sp.csr_matrix(Y), X, False, words, False).predict_values(X)
    model = trained(LibMultiLabelOptions("lml_ovr", loss=loss, C=2.0, tolerance=0.001), dataset)
    _, scores = next(model.passes(dataset.train.X))
    np.testing.assert_allclose(scores, alone, atol=0.01)


def test_libmultilabel_trees_part_the_labels() -> None:
    """A beam over all nodes gives products along the paths, a smaller one leaves labels out."""
    pytest.importorskip("libmultilabel")
    dataset = multi_label()
    common = {"name": "lml_tree", "arity": 2}
    whole, narrow = (
        trained(LibMultiLabelTreeOptions(**common, beam=beam), dataset)  # type: ignore[arg-type]
        for beam in (4, 1)
    )
    found = [next(model.passes(dataset.train.X))[1] for model in (whole, narrow)]
    assert (found[0] > 0).all() and (found[1] == 0).any() and whole.size == narrow.size


def test_scores_of_a_ranking_are_those_of_its_classes() -> None:
    """Classes that are not ranked stand behind all others."""
    model = baselines.Library("numpy", 4, D, True, "float32")
    model.ranker = lambda X: baselines.ranked([[(2, 0.5), (0, 0.25)], [], [(3, 0.125)]], 4)
    _, scores = next(model.passes(np.zeros((3, D))))
    low = -np.inf
    expected = [[0.25, low, 0.5, low], [low] * 4, [low, low, low, 0.125]]
    np.testing.assert_array_equal(scores, expected)
