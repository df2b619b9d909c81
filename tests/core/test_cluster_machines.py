"""Machines within clusters of labels, beside LIBLINEAR."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from xcbench import MarginClassifier, model_files
from xcbench.core import label_clusters
from xcbench.core.dataset import square_norms
from xcbench.core.solvers.cluster_svm import TOGETHER
from xcbench.core.solvers.dual_descent import machines_by
from xcbench.methods import registry

ENGINES = ("numpy", "numba")


def rows(rng: np.random.Generator, n: int = 60, d: int = 20) -> sp.csr_array:
    return sp.csr_array(sp.random_array((n, d), density=0.3, rng=rng))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_machine_is_liblinears(engine: str) -> None:
    rng = np.random.default_rng(0)
    X = rows(rng)
    sides = rng.random((60, 3)) < 0.4
    places = [np.flatnonzero(side) for side in sides.T]
    start = np.cumsum([0, *map(len, places)])
    orders = rng.permuted(np.tile(np.arange(60), (2000, 1)), axis=1)
    W = np.zeros((21, 3))
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data
    positive = np.concatenate(places)
    machines_by(engine)(arrays, square_norms(X), start, positive, orders, 0.7, 1e-8, W)
    for side, w in zip(sides.T, W.T, strict=True):
        peer = LinearSVC(C=0.7, dual=True, tol=1e-9, max_iter=100_000, random_state=0)
        peer.fit(sp.csr_matrix(X), side)
        np.testing.assert_allclose(w, [*peer.coef_[0], *peer.intercept_], atol=1e-5)


def test_clusters_are_balanced_and_of_a_kind() -> None:
    """Two kinds of classes, whose rows have no feature in common."""
    rng = np.random.default_rng(1)
    X = sp.csr_array(np.kron(np.eye(2), 1 + rng.random((40, 5))))
    Y = sp.csr_array((np.ones(80), (np.arange(80), np.arange(80) // 10)), shape=(80, 8))
    for size in (4, 2, 3):
        cluster = label_clusters.balanced(X, Y, size, np.random.default_rng(2))
        sizes = np.bincount(cluster)
        assert sizes.max() <= size
        assert sizes.max() - sizes.min() <= 1
        assert not set(cluster[:4]) & set(cluster[4:])


def problem(rng: np.random.Generator) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of 12 classes, two labels each."""
    centres = rng.standard_normal((12, 30)) * (rng.random((12, 30)) < 0.4)
    Y = np.zeros((300, 12), np.int64)
    for row in Y:
        row[rng.choice(12, 2, replace=False)] = 1
    return sp.csr_array(Y @ centres + 0.3 * rng.standard_normal((300, 30))), Y


def test_a_cluster_of_all_classes_is_one_vs_rest() -> None:
    X, Y = problem(np.random.default_rng(3))
    ours = MarginClassifier(
        "cluster_svm", size=12, C=0.2, tolerance=1e-6, passes=500, threshold=0.0,
        unit=False, reduction="pick_all", random_state=0, dtype="float64",
    ).fit(X[:200], Y[:200])  # fmt: skip
    peer = np.column_stack(
        [
            LinearSVC(C=0.2, dual=True, tol=1e-8, max_iter=100_000, random_state=0)
            .fit(sp.csr_matrix(X[:200]), y)
            .decision_function(sp.csr_matrix(X[200:]))
            for y in Y[:200].T
        ]
    )
    expected = np.argsort(-peer, axis=1)[:, :2]
    confident = np.sort(peer, axis=1)[:, -2] < 1  # from 1 on, log probabilities are 0
    got, _ = ours.predict_top_k(X[200:], k=2)
    assert confident.any()
    assert (got[confident] == expected[confident]).all()


def test_engines_give_the_same_bits() -> None:
    X, Y = problem(np.random.default_rng(4))
    states = [
        MarginClassifier(
            "cluster_svm", size=5, clusterings=2, passes=5, reduction="pick_all", random_state=0,
            engine=engine,
        ).fit(X, Y).state_
        for engine in ENGINES
    ]  # fmt: skip
    for name, array in states[0].items():
        assert np.array_equal(array, states[1][name]), name


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_the_number_of_cores_changes_no_bit(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("xcbench.core.solvers.cluster_svm.TOGETHER", 2)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", cores)
    X, Y = problem(np.random.default_rng(8))
    model = MarginClassifier("cluster_svm", size=5, reduction="pick_all", random_state=0).fit(X, Y)
    apart = MarginClassifier(
        "cluster_svm", size=5, reduction="pick_all", random_state=0, engine="numpy"
    ).fit(X, Y)
    for name, array in model.state_.items():
        assert np.array_equal(array, apart.state_[name]), name


def test_clusterings_add_probabilities_and_are_kept() -> None:
    X, Y = problem(np.random.default_rng(5))
    model = MarginClassifier(
        "cluster_svm", size=4, clusterings=3, reduction="pick_all", random_state=0
    ).fit(X[:200], Y[:200])
    W = {
        name: sp.csr_array(
            tuple(model.state_[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        ).toarray()
        for name in ("matcher", "classes")
    }
    rows = X[200:].toarray()
    one = np.column_stack([rows / np.linalg.norm(rows, axis=1, keepdims=True), np.ones(100)])
    p = {name: np.exp(-(np.maximum(0, 1 - one @ w.T) ** 2)) for name, w in W.items()}
    expected = (p["classes"].reshape(100, 3, 12) * p["matcher"][:, model.state_["cluster"]]).sum(1)
    scores = model.decision_function(X[200:])
    np.testing.assert_allclose(np.exp(scores), expected, rtol=1e-4, atol=1e-30)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(X[200:]), scores)
    hits = np.take_along_axis(Y[200:], model.predict_top_k(X[200:], k=2)[0], axis=1)
    assert hits.mean() > 0.9


@pytest.mark.parametrize(("n_classes", "clustered"), [(20, False), (2_000, True)])
def test_it_is_the_default_where_there_are_many_classes(
    n_classes: int, clustered: bool, tmp_path: Path
) -> None:
    y = np.arange(n_classes).repeat(2)
    X = sp.random_array((len(y), 40), density=0.2, rng=np.random.default_rng(6), format="csr")
    model = MarginClassifier(random_state=0).fit(X, y)
    assert ("cluster" in model.state_) == clustered
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    model_files.save(tmp_path / "model", model_files.Trained(model))
    kept = model_files.load(tmp_path / "model").estimator
    assert np.array_equal(kept.predict(X), model.predict(X))


def test_its_memory_is_foreseen_and_not_as_if_weights_were_dense() -> None:
    rng = np.random.default_rng(7)
    y = np.arange(500).repeat(4)
    X = sp.random_array((len(y), 5_000), density=0.01, rng=rng, format="csr", dtype=np.float32)
    model = MarginClassifier("cluster_svm", clusterings=2, random_state=0).fit(X, y)
    settings = registry.builtin()["cluster_svm"].schema(name="cluster_svm", clusterings=2)
    stated = registry.builtin()["cluster_svm"].memory(settings, model._info, 4, 1)
    dense = 8 * TOGETHER * 5_000 + 2_000 * (17 * TOGETHER + 12 * 50)  # while machines train
    arrays = sum(array.nbytes for array in model.state_.values())
    assert arrays < stated - dense < 8 * arrays
