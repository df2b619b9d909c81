"""Margin oracles: brute force, collisions, recall, the margins that they induce."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench.core import oracles
from xcbench.core.engines import resolve
from xcbench.core.models.sparse import SparseModel
from xcbench.core.oracles.exact import Exact
from xcbench.core.oracles.graph import Graph, installed
from xcbench.core.oracles.random_class import RandomClass
from xcbench.core.oracles.simple_lsh import SimpleLSH

D = 30


def some_weights(
    seed: int = 0, engine: str = "numpy"
) -> tuple[SparseModel, sp.csr_array, Any, Any]:
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((40, D)) < 0.5, rng.normal(size=(40, D)), 0.0)
    W[[5, 6]] = 0.0
    model = SparseModel(engine, 40, D, "float64")
    model.move(np.arange(40), sp.csr_array(W))
    X = np.where(rng.random((200, D)) < 0.5, rng.normal(size=(200, D)), 0.0)
    return model, sp.csr_array(X), rng.integers(0, 40, 200), X @ W.T


@pytest.mark.parametrize("engine", sorted({"numpy", resolve("auto")}))
def test_the_exact_oracle_is_brute_force(engine: str) -> None:
    model, X, y, scores = some_weights(engine=engine)
    scores[:, [5, 6]] = -np.inf
    scores[np.arange(200), y] = -np.inf
    np.testing.assert_array_equal(Exact().rivals(model, X, y), scores.argmax(axis=1))


def test_a_random_class_is_uniform_among_those_with_weights() -> None:
    model = some_weights()[0]
    rows = sp.csr_array(np.ones((4000, D)))
    for y in (0, 5, 39):
        drawn = RandomClass(np.random.default_rng(1)).rivals(model, rows, np.full(4000, y))
        counts = np.bincount(drawn, minlength=40)
        without = {5, 6, y}
        assert set(np.flatnonzero(counts == 0)) == without
        expected = 4000 / (40 - len(without))
        assert np.sum((counts[counts > 0] - expected) ** 2 / expected) < 80  # chi², 37 freedoms


@pytest.mark.parametrize("make", [Exact, lambda: RandomClass(np.random.default_rng(0))])
def test_an_oracle_without_any_class_says_so(make: Callable[[], oracles.Oracle]) -> None:
    model = SparseModel("numpy", 3, D, "float64")
    rows = sp.csr_array(np.ones((2, D)))
    assert make().rivals(model, rows, np.array([0, 1])).tolist() == [-1, -1]
    model.move(np.array([1]), sp.csr_array(np.ones((1, D))))
    assert make().rivals(model, rows, np.array([0, 1])).tolist() == [1, -1]


@pytest.mark.parametrize("cosine", [-0.8, -0.2, 0.0, 0.3, 0.7, 0.95])
def test_simple_lsh_collides_with_probability_1_minus_arccos_over_pi(cosine: float) -> None:
    """Over many planes; x of length 2 and w of length 1 or 1/2, as it is or over the longest."""
    x, w = np.zeros(D), np.zeros(D)
    x[:2], w[:2] = (2.0, 0.0), (cosine, math.sqrt(1 - cosine**2))
    equal = total = 0
    for length, scaled in ((1.0, True), (0.5, True), (0.5, False)):
        model = SparseModel("numpy", 2, D, "float64")
        longest = np.eye(1, D, 7) * (3.0 if scaled else 1.0)
        own = length * w * (3.0 if scaled else 1.0)
        model.move(np.arange(2), sp.csr_array(np.vstack([own, longest])))
        inner = length * cosine
        for seed in range(120):
            lsh = SimpleLSH(64, np.random.default_rng(seed), scaled)
            lsh.moved(model, np.arange(2))
            of_x = lsh.codes_of_rows(model, sp.csr_array(x[None]))[0]
            equal += 64 - int(np.bitwise_count(of_x ^ lsh.codes_of_classes(model)[0]))
            total += 64
        p = 1 - math.acos(inner) / math.pi
        assert abs(equal / total - p) < 4.5 * math.sqrt(p * (1 - p) / total)
        equal = total = 0


@pytest.mark.parametrize("scaled", [True, False])
def test_simple_lsh_takes_a_nearest_code(scaled: bool) -> None:
    """Codes by the definition: signs of a·P(z), after any change of the weights and their scale."""
    model, X, y, _ = some_weights()
    model.shrink(0.05)
    lsh = SimpleLSH(64, np.random.default_rng(0), scaled)
    lsh.moved(model, np.arange(40))
    for step in range(5):
        lsh.rivals(model, X, y)
        model.shrink(0.01)  # folded at the second and later
        some = np.arange(step, 40, 7)
        model.move(some, sp.csr_array(1e-3 * np.eye(len(some), D, step)))
        lsh.moved(model, some)
    W = model.evaluated().toarray()
    if scaled:
        W /= np.linalg.norm(W, axis=1).max()
    on_sphere = np.column_stack([W, np.sqrt(np.maximum(0, 1 - np.sum(W**2, axis=1)))])
    planes = np.vstack([lsh.planes, lsh.last])
    rows = X.toarray() @ planes[:-1] > 0
    distance = (rows[:, None] != (on_sphere @ planes > 0)).sum(axis=2)
    distance[:, [5, 6]] = distance[np.arange(200), y] = 99
    result = lsh.rivals(model, X, y)
    np.testing.assert_array_equal(distance[np.arange(200), result], distance.min(axis=1))


def test_equal_codes_are_drawn_from_uniformly() -> None:
    """Very short weights as they are all have the code of the last coordinate."""
    model = some_weights()[0]
    model.shrink(1e-12)
    lsh = SimpleLSH(64, np.random.default_rng(0))
    lsh.moved(model, np.arange(40))
    rows = sp.csr_array(np.ones((4000, D)))
    counts = np.bincount(lsh.rivals(model, rows, np.full(4000, 3)), minlength=40)
    assert set(np.flatnonzero(counts == 0)) == {3, 5, 6}
    assert np.sum((counts[counts > 0] - 4000 / 37) ** 2 / (4000 / 37)) < 80  # chi², 36 freedoms


def test_more_bits_find_the_best_class_more_often() -> None:
    model, X, y, _ = some_weights()
    recalls = []
    for bits in (1, 8, 64):
        lsh = SimpleLSH(bits, np.random.default_rng(0), scaled=True)
        lsh.moved(model, np.arange(40))
        recalls.append(oracles.quality(lsh, model, X, y)["recall"])
    assert recalls[0] < recalls[1] < recalls[2]
    measures = oracles.quality(RandomClass(np.random.default_rng(0)), model, X, y, [0.25])
    assert measures["recall"] < recalls[2]
    assert oracles.quality(Exact(), model, X, y, [0.01]) == {"recall": 1.0, "epsilon_at_0.01": 0.0}


def test_epsilon_is_a_quantile_of_the_difference_of_margins() -> None:
    model, X, y, scores = some_weights()
    given = RandomClass(np.random.default_rng(3)).rivals(model, X, y)

    class Told:
        def moved(self, model: SparseModel, classes: np.ndarray) -> None: ...

        def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
            return given

    row = np.arange(200)
    others = scores.copy()
    others[:, [5, 6]] = others[row, y] = -np.inf

    def difference_of(classes: np.ndarray) -> np.ndarray:
        lacking = others.max(axis=1) - scores[row, classes]
        return np.where(classes < 0, np.inf, lacking)

    difference = difference_of(given)
    measures = oracles.quality(Told(), model, X, y, [0.1])
    assert measures["recall"] == np.mean(difference == 0)
    silent = np.where(row < 20, -1, given)  # finds nothing for a tenth of the rows
    hits = difference_of(silent) == 0
    given = silent
    told = oracles.quality(Told(), model, X, y, [0.2, 0.05])
    assert told["recall"] == np.mean(hits) and told["epsilon_at_0.05"] == np.inf
    assert np.isfinite(told["epsilon_at_0.2"])
    assert np.mean(difference <= measures["epsilon_at_0.1"] + 1e-12) >= 0.9
    assert np.mean(difference < measures["epsilon_at_0.1"] - 1e-12) < 0.9


@pytest.mark.skipif(not installed(), reason="nmslib is not installed")
def test_the_graph_finds_most_of_the_best_classes() -> None:
    model, X, y, _ = some_weights()
    measures = oracles.quality(Graph(), model, X, y)
    assert measures["recall"] > 0.8
