"""Margin oracles: brute force, collisions, recall, the margins that they induce."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from xcbench import oracles
from xcbench.engines import resolve
from xcbench.oracles import Exact, RandomClass, SimpleLSH
from xcbench.oracles.graph import Graph, installed
from xcbench.sparse import SparseModel

K, D, N = 9, 30, 60
ENGINES = [
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif(resolve("auto") == "numpy", reason="no Numba")),
]


def some_weights(seed: int = 0, cosine: bool = False) -> tuple[SparseModel, sp.csr_array, Any, Any]:
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((40, D)) < 0.5, rng.normal(size=(40, D)), 0.0)
    W[[5, 6]] = 0.0
    model = SparseModel("numpy", 40, D, "float64", cosine)
    model.move(np.arange(40), sp.csr_array(W))
    X = np.where(rng.random((200, D)) < 0.5, rng.normal(size=(200, D)), 0.0)
    return model, sp.csr_array(X), rng.integers(0, 40, 200), X @ W.T


def test_the_exact_oracle_is_brute_force() -> None:
    model, X, y, scores = some_weights()
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
    """Over many planes; x of length 2 and w of length 1/2, the longest weights having length 1."""
    x, w = np.zeros(D), np.zeros(D)
    x[:2], w[:2] = (2.0, 0.0), (cosine, math.sqrt(1 - cosine**2))
    equal = total = 0
    for length in (1.0, 0.5):
        model = SparseModel("numpy", 2, D, "float64")
        longest = np.eye(1, D, 7)
        model.move(np.arange(2), sp.csr_array(np.vstack([length * w, longest])))
        inner = length * cosine
        for seed in range(120):
            lsh = SimpleLSH(64, np.random.default_rng(seed))
            lsh.moved(model, np.arange(2))
            of_x = lsh.codes_of_rows(model, sp.csr_array(x[None]))[0]
            equal += 64 - int(np.bitwise_count(of_x ^ lsh.codes_of_classes(model)[0]))
            total += 64
        p = 1 - math.acos(inner) / math.pi
        assert abs(equal / total - p) < 4.5 * math.sqrt(p * (1 - p) / total)
        equal = total = 0


def test_simple_lsh_takes_the_nearest_code() -> None:
    model, X, y, _ = some_weights()
    lsh = SimpleLSH(64, np.random.default_rng(0))
    lsh.moved(model, np.arange(40))
    bits = [[c >> j & 1 for j in range(64)] for c in lsh.codes_of_classes(model).tolist()]
    rows = [[c >> j & 1 for j in range(64)] for c in lsh.codes_of_rows(model, X).tolist()]
    distance = (np.array(rows)[:, None] != np.array(bits)).sum(axis=2)
    distance[:, [5, 6]] = distance[np.arange(200), y] = 99
    np.testing.assert_array_equal(lsh.rivals(model, X, y), distance.argmin(axis=1))


def test_more_bits_find_the_best_class_more_often() -> None:
    model, X, y, _ = some_weights()
    recalls = []
    for bits in (1, 8, 64):
        lsh = SimpleLSH(bits, np.random.default_rng(0))
        lsh.moved(model, np.arange(40))
        recalls.append(oracles.quality(lsh, model, X, y)["recall"])
    assert recalls[0] < recalls[1] < recalls[2]
    found = oracles.quality(RandomClass(np.random.default_rng(0)), model, X, y, [0.25])
    assert found["recall"] < recalls[2]
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
    difference = np.sort(others.max(axis=1) - scores[row, given])
    found = oracles.quality(Told(), model, X, y, [0.1])
    assert found["recall"] == np.mean(difference == 0)
    assert np.mean(difference <= found["epsilon_at_0.1"] + 1e-12) >= 0.9
    assert np.mean(difference < found["epsilon_at_0.1"] - 1e-12) < 0.9


@pytest.mark.skipif(not installed(), reason="nmslib is not installed")
def test_the_graph_finds_most_of_the_best_classes() -> None:
    model, X, y, _ = some_weights()
    found = oracles.quality(Graph(), model, X, y)
    assert found["recall"] > 0.8
