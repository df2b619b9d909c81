"""MEMOIR: sparse weights, Algorithms 1 and 2 against their direct form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Split
from xcbench.core.engines import resolve
from xcbench.core.metrics import evaluate
from xcbench.core.models.sparse import SparseModel
from xcbench.core.objectives import memoir
from xcbench.core.oracles.random_class import RandomClass
from xcbench.core.solvers import Streams
from xcbench.core.statistics import describe
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.memoir import MemoirOptions
from xcbench.methods.memoir_l1 import MemoirL1Options
from xcbench.methods.memoir_l2 import MemoirL2Options
from xcbench.train import training

K, D, N = 9, 30, 60
ENGINES = [
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif(resolve("auto") == "numpy", reason="no Numba")),
]


def problem(seed: int = 0, constant: bool = True) -> Dataset:
    """Sparse rows of length 1 with a constant feature, K classes of unequal sizes."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, D)) < 0.3, rng.gamma(1.0, size=(N, D)), 0.0)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    X[:, -1] = 1.0 if constant else 0.0
    y = np.minimum(rng.geometric(0.3, N) - 1, K - 1)
    y[:K] = np.arange(K)
    rows = Split(sp.csr_array(X.astype(np.float32)), y)
    info = describe("made", "", False, rows, rows, K)
    return Dataset(info, rows, rows, np.bincount(y, minlength=K))


def rated(settings: MemoirOptions) -> MemoirOptions:
    """With a number as rate."""
    return settings if isinstance(settings.lr, float) else replace(settings, lr=0.1)


def trained(
    settings: MemoirOptions, dataset: Dataset, engine: str = "numpy", steps: int = 30, seed: int = 0
) -> SparseModel:
    settings = rated(settings)
    method = registry.builtin()[settings.name]
    solver = method.build(replace(settings, iterations=steps), dataset.info)
    model = solver.make_model(engine, K, D, False, "float64")
    assert isinstance(model, SparseModel)
    for _ in solver.fit(dataset, model, Streams.of(seed), [solver.epochs]):  # type: ignore[attr-defined]
        pass
    return model


L2, L1 = (
    MemoirL2Options("memoir_l2", batch_size=7),
    MemoirL1Options("memoir_l1", batch_size=7, strength=1e-3),
)
AS_TEXT: dict[str, Any] = {
    "hinge": True,
    "order": "iid",
    "batch": "sum",
    "margins": "current",
    "prediction": "inner",
}


# ---------------------------------------------------------------- the algorithms, as printed
class Direct:
    """Algorithm 1 or 2 with a dense matrix, an observation after the other, nothing lazy.

    Rows of the batches and rival classes that have no weights are told by what is tested: they are
    random.
    """

    def __init__(self, settings: MemoirOptions, dataset: Dataset) -> None:
        self.s, self.lr = settings, rated(settings).lr
        self.X = dataset.train.X.toarray().astype(float)  # type: ignore[union-attr]
        self.y = dataset.train.y
        self.W, self.total, self.t = np.zeros((K, D)), np.zeros((K, D)), 0

    def step(self, batch: np.ndarray, rivals: np.ndarray) -> None:
        s = self.s
        eta = self.lr / (1 + s.slowdown * (s.first_step + self.t))
        l2 = isinstance(s, MemoirL2Options)
        if s.margins == "current" and l2:
            self.W *= 1 - s.strength * eta
        before = self.W.copy()
        if s.margins == "before" and l2:
            self.W *= 1 - s.strength * eta
        for i, told in zip(batch, rivals, strict=True):
            x, y = self.X[i], self.y[i]
            seen = self.W if s.margins == "current" else before
            scores = seen @ x
            others = np.where(np.arange(K) == y, -np.inf, scores)
            some = seen.any(axis=1)
            if np.max(np.where(some, others, -np.inf)) > 0:
                assert others.argmax() == told
            else:  # a class without weights, if there is one, has the highest score
                assert others[told] >= others.max() - 1e-12
            if not s.hinge or 1 + scores[told] - scores[y] > 0:
                share = eta / len(batch) if s.batch == "mean" else eta
                self.W[y] += share * x
                self.W[told] -= share * x
        if l2:
            self.W *= min(1, 1 / (math.sqrt(s.strength) * np.linalg.norm(self.W)))
        else:
            touched = np.union1d(self.y[batch], rivals)
            theta = s.strength * eta * K / len(touched)
            rows = self.W[touched]
            cut = np.where(rows > theta, rows - theta, np.where(rows < -theta, rows + theta, 0.0))
            limit = s.truncation_limit if isinstance(s, MemoirL1Options) else 0
            for place, k in enumerate(touched):
                change = np.linalg.norm(rows[place] - cut[place])
                if not limit or change <= limit * np.linalg.norm(rows[place]):
                    self.W[k] = cut[place]
        self.t += 1
        self.total += self.W


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """Batches and rivals of every step, as the solver chose them."""
    from xcbench.core.solvers.margin import Margin

    steps: list[tuple[np.ndarray, np.ndarray]] = []
    draws: Callable[..., Any] = Margin._draws

    def drawing(self: Any, *given: Any) -> Callable[[], np.ndarray]:
        draw = draws(self, *given)

        def noted() -> np.ndarray:
            steps.append((draw(), np.empty(0)))
            return steps[-1][0]

        return noted

    def noting(name: str) -> None:
        original = getattr(Margin, name)

        def noted(self: Any, *given: Any) -> Any:
            result = original(self, *given)
            steps[-1] = steps[-1][0], result[0][:, 1].copy()
            return result

        monkeypatch.setattr(Margin, name, noted)

    monkeypatch.setattr(Margin, "_draws", drawing)
    noting("_together")
    noting("_one_by_one")
    return steps


@pytest.mark.parametrize("products", [1 << 21, 60])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        L2,
        replace(L2, batch_size=2),  # with classes that have no weights for some steps
        replace(L2, hinge=True, lr=0.9),
        replace(L2, **AS_TEXT),
        replace(L2, **AS_TEXT, lr=0.6, batch_size=20),
        replace(L2, **AS_TEXT, batch_size=1),
        L1,
        replace(L1, lr=0.9, strength=0.03),
        replace(L1, lr=0.9, strength=0.03, truncation_limit=0.1, first_step=1),
        replace(L1, **AS_TEXT),
    ],
)
def test_lazy_weights_are_those_of_the_direct_algorithm(
    settings: MemoirOptions,
    average: bool,
    products: int,
    told: list[tuple[np.ndarray, np.ndarray]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where a batch is taken in several blocks of inner products."""
    monkeypatch.setattr("xcbench.core.solvers.margin.GRAM", products)
    dataset = problem()
    model = trained(replace(settings, average=average), dataset, steps=60)
    direct = Direct(settings, dataset)
    assert len(told) == 60
    for batch, rivals in told:
        direct.step(batch, rivals)
    expected = direct.total / direct.t if average else direct.W
    assert np.linalg.norm(expected) > 1e-3
    np.testing.assert_allclose(model.evaluated().toarray(), expected, atol=1e-10)
    assert model.square_norm() == pytest.approx(np.linalg.norm(direct.W) ** 2, rel=1e-10)


def test_the_scale_is_folded_in_before_it_is_too_small(
    told: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    settings = replace(L2, **AS_TEXT, lr=0.9, strength=1.0, slowdown=0.0, average=True)
    dataset = problem()
    model = trained(settings, dataset, steps=40)
    direct = Direct(settings, dataset)
    for batch, rivals in told:
        direct.step(batch, rivals)
    assert 0.1**40 < 1e-6 < model.scale < 1e6
    np.testing.assert_allclose(model.evaluated().toarray(), direct.total / 40, atol=1e-10)


def test_truncation_is_eq_13() -> None:
    model = SparseModel("numpy", 3, 5, "float64")
    model.shrink(0.5)
    W = np.array([[0.3, -0.3, 0.1, -0.1, 0.0], [0.05, 2.0, 0.0, 0.0, -0.09]])
    model.move(np.array([2, 0]), sp.csr_array(W), threshold=0.1)
    expected = np.array([[0, 1.9, 0, 0, 0], np.zeros(5), [0.2, -0.2, 0, 0, 0]])
    np.testing.assert_allclose(model.evaluated().toarray(), expected, atol=1e-15)
    assert model.nonzeros == 3
    assert model.seen.tolist() == [True, False, True]


def test_what_would_change_a_class_too_much_is_not_truncated() -> None:
    model = SparseModel("numpy", 2, 3, "float64")
    W = np.array([[0.3, 0.4, 0.0], [3.0, 4.0, 0.05]])  # by 0.141 of 0.5, by 0.150 of 5
    model.move(np.arange(2), sp.csr_array(W), threshold=0.1, limit=0.2)
    np.testing.assert_allclose(model.evaluated().toarray(), [W[0], [2.9, 3.9, 0]], atol=1e-15)


# ---------------------------------------------------------------- the model
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_predicted(engine: str) -> None:
    rng = np.random.default_rng(1)
    W = np.where(rng.random((K, D)) < 0.4, rng.normal(size=(K, D)), 0.0)
    W[3] = 0.0
    X = np.where(rng.random((50, D)) < 0.4, rng.normal(size=(50, D)), 0.0)
    for cosine in (False, True):
        model = SparseModel(engine, K, D, "float64", cosine)
        model.move(np.arange(K), sp.csr_array(W))
        model.shrink(0.25)
        length = np.linalg.norm(W, axis=1, keepdims=True)
        scores = X @ (W / np.where(length > 0, length, 1) if cosine else W).T
        scores[:, 3] = -np.inf
        for rows in (X, sp.csr_array(X)):
            np.testing.assert_array_equal(model.predict(rows), scores.argmax(axis=1))
        measures = evaluate(model, Split(sp.csr_array(X), rng.integers(0, K, 50)))
        assert "log_loss" not in measures
    pairs = rng.integers(0, K, (50, 2))
    chosen = np.take_along_axis(X @ (0.25 * W).T, pairs, axis=1)
    np.testing.assert_allclose(model.at(sp.csr_array(X), pairs), chosen, atol=1e-12)


@pytest.mark.skipif(resolve("auto") == "numpy", reason="no Numba")
@pytest.mark.parametrize("settings", [L2, L1, replace(L2, **AS_TEXT), replace(L1, **AS_TEXT)])
def test_both_engines_give_the_same_weights(settings: MemoirOptions) -> None:
    by = [
        trained(settings, problem(), engine).evaluated().toarray() for engine in ("numpy", "numba")
    ]
    np.testing.assert_allclose(*by, atol=1e-12)


def test_memory_is_that_of_the_weights_that_are_not_0() -> None:
    classes, features, steps = 2000, 400_000, 50  # 3.2 GB as a dense float32 matrix
    model = SparseModel("numpy", classes, features, "float32")
    rng = np.random.default_rng(0)
    for _ in range(steps):
        changes = sp.random_array((100, features), density=20 / features, rng=rng, format="csr")
        model.move(rng.choice(classes, 100, replace=False), changes)
    held = sum(a.nbytes for a in (*model.V.features, *model.V.values)) + model.V.counts.nbytes
    assert 0.9 * 20 * 100 * steps < model.nonzeros <= 20 * 100 * steps
    assert held == 8 * model.nonzeros + 8 * classes
    assert all(a.base is None for a in (*model.V.features, *model.V.values))
    assert model.nbytes < 1e6


# ---------------------------------------------------------------- with inexact margins
def test_published_lsh_takes_classes_without_weights_first(
    told: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Minus a Hamming distance is never above 0; of inner products with other weights, some are."""
    whole = problem()
    two = whole.train.take(np.flatnonzero(whole.train.y < 2))
    dataset, least = replace(whole, train=two, test=two), {}
    for oracle in ("simple_lsh", "exact"):
        told.clear()
        trained(replace(L2, batch_size=3, oracle=oracle), dataset, steps=3)
        known, shares = {0, 1}, []
        for _, rivals in told:
            fresh = set(range(K)) - known
            shares += [np.mean([int(k) in fresh for k in rivals])] if fresh else []
            known |= set(rivals.tolist())
        least[oracle] = min(shares[1:])
    assert least["simple_lsh"] == 1 > least["exact"]


def test_a_warm_up_has_small_batches(told: list[tuple[np.ndarray, np.ndarray]]) -> None:
    dataset = problem()
    settings = MemoirL2Options("memoir_l2", lr=0.1, batch_size=5000, iterations=3)
    solver = registry.builtin()["memoir_l2"].build(settings, dataset.info)
    training.warm_up(solver, solver.make_model("numpy", K, D, False, "float32"), dataset)
    assert [len(batch) for batch, _ in told] == [4]


@pytest.mark.parametrize("oracle", ["random", "simple_lsh", "simple_lsh_scaled"])
@pytest.mark.parametrize("margins", ["before", "current"])
def test_inexact_margins_learn(oracle: str, margins: str) -> None:
    own = {"batch": "sum", "prediction": "inner", "batch_size": 20, "strength": 1e-5, "lr": 0.5}
    dataset = problem(constant=False)
    model = trained(replace(L1, oracle=oracle, margins=margins, **own), dataset, steps=150)
    assert evaluate(model, dataset.train)["error"] < 0.45 < 1 - dataset.class_counts.max() / N


def test_an_observation_without_a_rival_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a graph finds the true class alone, and every class has weights."""
    settings, dataset = replace(L2, order="iid"), problem()
    W = np.arange(1.0, 1 + K * D).reshape(K, D)
    for margins in ("before", "current"):
        asked = replace(settings, margins=margins, oracle="random", lr=0.1, strength=0.0)
        solver = registry.builtin()["memoir_l2"].build(asked, dataset.info)
        model = solver.make_model("numpy", K, D, False, "float64")
        assert isinstance(model, SparseModel)
        model.move(np.arange(K), sp.csr_array(W))
        monkeypatch.setattr(RandomClass, "rivals", lambda self, model, X, y: np.full(len(y), -1))
        for progress in solver.fit(dataset, model, Streams.of(0), [1.0]):
            assert progress.iteration == 0 or np.isfinite(progress.objective)
        np.testing.assert_allclose(model.evaluated().toarray(), W, rtol=1e-12)


# ---------------------------------------------------------------- settings
def test_what_is_impossible_is_said() -> None:
    info = problem().info
    for more, word in [
        ({"bias": True}, "dataset.protocol.constant=1"),
        ({"l2": 1.0}, "method.strength"),
        ({"strength": 10.0}, "method.strength"),
    ]:
        with pytest.raises(UserError, match=word):
            registry.check(registry.method_of(L2), replace(L2, **more), info)
    registry.check(registry.method_of(L2), L2, info)


def test_a_graph_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xcbench.core.oracles.graph.installed", lambda: False)
    method = registry.builtin()["memoir_l2"]
    assert "nmslib" in method.lacks(replace(L2, oracle="graph"))
    assert not method.lacks(L2)


def test_the_hinge_is_that_of_crammer_and_singer() -> None:
    true, drawn = np.array([2.0, 0.5, -1.0, 3.0]), np.array([0.5, 0.25, 2.0, 2.5])
    value, of_true, of_drawn = memoir.hinge(true, drawn, np.zeros(4), 1.0)
    assert value.tolist() == [0.0, 0.75, 4.0, 0.5]  # max(0, 1 + f_r - f_y)
    assert of_true.tolist() == [0, -1, -1, -1] and of_drawn.tolist() == [0, 1, 1, 1]
