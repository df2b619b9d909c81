"""FastXML and PfastreXML: parts of a node, hyperplanes, trees and scores against plain loops."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from test_baselines import K, problem, trained

from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.models.forest import Tree
from xcbench.core.solvers.ranking_trees import SEEDS, part_by_ranking, sparse_logistic
from xcbench.core.statistics import inverse_propensity
from xcbench.methods.fastxml import TreeOptions
from xcbench.methods.pfastrexml import PropensityTreeOptions


def discounted(gains: np.ndarray, right: np.ndarray, orders: Any) -> float:
    """Mean over rows of sum_r gain of the label at rank r of the part's order, over log2(1 + r)."""
    value = 0.0
    for row, side in zip(gains, right, strict=True):
        value += sum(row[k] / np.log2(2 + r) for r, k in enumerate(orders[int(side)]))
    return value / len(gains)


def best_orders(gains: np.ndarray, right: np.ndarray) -> list[tuple[int, ...]]:
    """Of all orders of the labels, a part's best."""
    orders = list(permutations(range(gains.shape[1])))
    return [
        max(orders, key=lambda o: discounted(gains[side], np.zeros(side.sum()), [o]))
        if side.any()
        else orders[0]
        for side in (~right, right)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_parts_rank_as_well_as_the_best_orders_and_rows_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((6, 4)) < 0.5).astype(float)
    Y[np.arange(6), rng.integers(0, 4, 6)] = 1
    gains = Y * rng.random((6, 1))
    right, values = part_by_ranking(sp.csr_array(gains), rng.random(6) < 0.5)
    assert all(later >= value - 1e-12 for value, later in pairwise(values))
    orders = best_orders(gains, right)
    assert values[-1] == pytest.approx(discounted(gains, right, orders))
    highest = max(
        discounted(gains, np.array(sides), best_orders(gains, np.array(sides)))
        for sides in product([False, True], repeat=6)
    )
    assert values[-1] <= highest + 1e-12
    alone = discounted(gains, np.zeros(6), [best_orders(gains, np.zeros(6, bool))[0]])
    assert values[-1] >= alone - 1e-12  # two orders serve no worse than one
    for i in range(6):  # nor is any row better off under the order of the other part
        moved = right.copy()
        moved[i] = ~moved[i]
        assert discounted(gains, moved, orders) <= values[-1] + 1e-9


def test_the_hyperplane_is_near_the_optimum_of_its_objective() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 9)) * (rng.random((60, 9)) < 0.5)
    X[:, 4] = 0  # a feature that no row has
    right = X[:, 0] + X[:, 1] - 0.6 * X[:, 2] + 0.1 * rng.normal(size=60) > 0.4
    signs = np.where(right, 1.0, -1.0)
    share = np.where(right, right.mean(), 1 - right.mean())

    def objective(w: np.ndarray) -> float:
        losses = np.logaddexp(0, -signs * (X @ w[:9] + w[9])) / share
        return float(np.abs(w).sum() + 0.5 * losses.sum())

    halves = minimize(
        lambda v: objective(v[:10] - v[10:]), np.full(20, 0.1), bounds=[(0, None)] * 20, tol=1e-12
    )
    features, weights, b = sparse_logistic(sp.csr_array(X), right, 0.5, True, rng)
    w = np.zeros(10)
    w[features], w[9] = weights, b
    assert 4 not in features and np.all(weights != 0)
    assert objective(w) <= 1.002 * halves.fun


@pytest.mark.parametrize("bias", [True, False])
def test_the_hyperplane_is_the_one_of_scikit_learn(bias: bool) -> None:
    """LIBLINEAR is called without the checks around it; the numbers are those with them."""
    rng = np.random.default_rng(1)
    X = sp.random_array((80, 30), density=0.2, rng=rng, format="csr")
    right = rng.random(80) < 0.3
    smaller = min(right.mean(), 1 - right.mean())
    seed = int(np.random.default_rng(2).integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the penalty's new name, and of ten steps
        library = LogisticRegression(
            penalty="l1",
            solver="liblinear",
            C=6.0,
            class_weight="balanced",
            fit_intercept=bias,
            tol=0.01 / smaller,
            max_iter=10,
            random_state=seed,
        ).fit(sp.csr_matrix(X), right)
    features, weights, b = sparse_logistic(X, right, 3.0, bias, np.random.default_rng(2))
    w = np.zeros(30)
    w[features] = weights
    np.testing.assert_array_equal(w, library.coef_[0])
    assert b == (library.intercept_[0] if bias else 0.0)


def test_rows_without_features_stay_together() -> None:
    """They were an error of the library: no feature to part them by."""
    dataset = many_labels()
    X = sp.csr_array(dataset.train.X) * 0.0  # type: ignore[operator]
    X.eliminate_zeros()
    empty = replace(dataset, train=replace(dataset.train, X=X))
    tree = trained(TreeOptions("fastxml", trees=1, leaf=8), empty).trees[0]
    assert len(tree.children) == 0 and tree.leaves.shape[0] == 1


def many_labels() -> Dataset:
    """`problem` with one to three classes a row."""
    single, rng = problem(), np.random.default_rng(1)
    labels = [
        sorted({int(y), *rng.integers(0, K, rng.integers(0, 3)).tolist()}) for y in single.train.y
    ]
    start = np.cumsum([0, *map(len, labels)])
    sets = LabelSets(start, np.concatenate(labels), np.ones(len(labels)))
    rows = Split(single.train.X, np.array([labels_of_row[0] for labels_of_row in labels]), sets)
    return replace(single, train=rows, test=rows)


def leaf_by_hand(tree: Tree, x: np.ndarray) -> int:
    W, node = tree.W.toarray(), 0
    while node >= 0:
        node = int(tree.children[node, int(W[node] @ x + tree.b[node] >= 0)])
    return -1 - node


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_scores_are_means_of_the_labels_of_rows_in_the_same_leaf(engine: str) -> None:
    if engine == "numba":
        pytest.importorskip("numba")
    dataset = many_labels()
    model = trained(TreeOptions("fastxml", trees=3, leaf=8), dataset)
    model.engine = engine
    X, Y = dataset.train.X.toarray(), dataset.train.labels(K).toarray()  # type: ignore[union-attr]
    expected = np.zeros((len(X), K))
    for tree in model.trees:
        leaf = np.array([leaf_by_hand(tree, x) for x in X])
        np.testing.assert_array_equal(tree.leaf_of(sp.csr_array(X, dtype=float), engine), leaf)
        assert len(tree.children) > 3 and set(leaf) == set(range(len(tree.children) + 1))
        expected += np.array([Y[leaf == own].mean(axis=0) for own in leaf]) / 3
    _, scores = next(model.passes(dataset.train.X))
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_a_leaf_keeps_its_most_frequent_labels() -> None:
    dataset = many_labels()
    leaves = [
        trained(TreeOptions("fastxml", trees=1, leaf=40, labels=n), dataset).trees[0].leaves
        for n in (K, 2)
    ]
    for whole, kept in zip(*(matrix.toarray() for matrix in leaves), strict=True):
        assert np.count_nonzero(kept) <= 2
        np.testing.assert_allclose(np.sort(kept)[-2:], np.sort(whole)[-2:])


def test_pfastrexml_weighs_labels_and_ranks_by_mean_rows() -> None:
    dataset = many_labels()
    settings = PropensityTreeOptions("pfastrexml", trees=2, leaf=8, alpha=0.7, gamma=5.0)
    model = trained(settings, dataset)
    X, Y = dataset.train.X.toarray(), dataset.train.labels(K).toarray()  # type: ignore[union-attr]
    weight = 1 + (np.log(len(X)) - 1) * 2.5**0.55 / (Y.sum(axis=0) + 1.5) ** 0.55
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = np.zeros((len(X), K))
    leaves = [np.array([leaf_by_hand(tree, x) for x in X]) for tree in model.trees]
    for i, k in product(range(len(X)), range(K)):
        trees = np.mean([(Y[leaf == leaf[i], k] * weight[k]).mean() for leaf in leaves])
        distance = np.sum((unit[i] - unit[Y[:, k] > 0].mean(axis=0)) ** 2)
        expected[i, k] = trees**0.7 / (1 + np.exp(5 * distance)) ** 0.3
    _, scores = next(model.passes(dataset.train.X))
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)


def test_inverse_propensities_are_those_of_the_sigmoid() -> None:
    """p = 1 / (1 + C exp(-A log(N_k + B))), C = (log N - 1)(B + 1)^A."""
    counts, A, B = np.array([0, 1, 10, 1000]), 0.6, 2.6
    C = (np.log(5000) - 1) * (B + 1) ** A
    p = 1 / (1 + C * np.exp(-A * np.log(counts + B)))
    np.testing.assert_allclose(inverse_propensity(counts, 5000, A, B), 1 / p)


def test_rows_made_of_one_row_train_as_one() -> None:
    """With ``label=each`` a row a label; the trees are those of the rows as they were."""
    dataset = many_labels()
    train, sets = dataset.train, dataset.train.sets
    assert sets is not None
    count = np.diff(sets.start)
    row = np.repeat(np.arange(len(train)), count)
    each = sets.take(row)
    pairs = Split(train.X[row], sets.classes, replace(each, weight=1 / count[row]))
    many = trained(TreeOptions("fastxml", trees=2, leaf=8), replace(dataset, train=pairs))
    once = trained(TreeOptions("fastxml", trees=2, leaf=8), dataset)
    for tree, other in zip(many.trees, once.trees, strict=True):
        np.testing.assert_array_equal(tree.W.toarray(), other.W.toarray())
        np.testing.assert_array_equal(tree.leaves.toarray(), other.leaves.toarray())


def test_trees_are_where_a_budget_can_stop() -> None:
    settings = TreeOptions("fastxml", trees=8, leaf=20)
    assert len(trained(settings, problem(), until=2).trees) == 4
    assert len(trained(settings, problem()).trees) == 8


def test_threads_share_no_generator():
    """LIBLINEAR's seeds of one thread are not those that another draws meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: SEEDS.generator).result() is not SEEDS.generator
