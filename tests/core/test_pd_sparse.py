"""PD-Sparse: at the optimum of its convex problem, and its parts against plain searches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from test_ranking_trees import many_labels

from xcbench.core.dataset import Dataset, Split
from xcbench.core.models.sparse import SparseModel
from xcbench.core.solvers import Streams
from xcbench.core.solvers.pd_sparse import PDSparse, Problem
from xcbench.core.solvers.pd_sparse_block import correct, cut
from xcbench.core.solvers.pd_sparse_rows import score_classes
from xcbench.methods import registry
from xcbench.methods.pd_sparse import PDSparseOptions


def small(rows: int) -> Dataset:
    dataset = many_labels()
    few = dataset.train.take(np.arange(rows))
    return Dataset(dataset.info, few, few, dataset.class_counts)


def problem_of(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    train = dataset.train
    X: Any = train.X
    return X.toarray().astype(float), train.labels(dataset.info.classes).toarray() > 0


def primal(W: np.ndarray, X: np.ndarray, Y: np.ndarray, strength: float, C: float) -> float:
    """Objective of weights (K, D), row by row."""
    losses = [
        max([0.0] + [1 + W[n] @ x - W[p] @ x for p, n in product(*map(np.flatnonzero, (y, ~y)))])
        for x, y in zip(X, Y, strict=True)
    ]
    return float((W**2).sum() / 2 + strength * np.abs(W).sum() + C * sum(losses))


def optimum(X: np.ndarray, Y: np.ndarray, strength: float, C: float) -> tuple[float, np.ndarray]:
    """By a generic solver: W = P - Q with P, Q >= 0, and a slack a row."""
    (N, D), K = X.shape, Y.shape[1]
    rows = [
        (i, p, n) for i in range(N) for p in np.flatnonzero(Y[i]) for n in np.flatnonzero(~Y[i])
    ]
    G = np.zeros((len(rows), K, D))
    slack = np.zeros((len(rows), N))
    for r, (i, p, n) in enumerate(rows):
        G[r, p] += X[i]
        G[r, n] -= X[i]
        slack[r, i] = 1.0
    G = G.reshape(len(rows), -1)
    A, size = np.hstack([G, -G, slack]), K * D

    def value(z: np.ndarray) -> tuple[float, np.ndarray]:
        W, l1 = z[:size] - z[size : 2 * size], z[: 2 * size]
        gradient = np.concatenate([W + strength, strength - W, np.full(N, C)])
        return float(W @ W / 2 + strength * l1.sum() + C * z[2 * size :].sum()), gradient

    start = np.concatenate([np.zeros(2 * size), np.ones(N)])
    constraint = {"type": "ineq", "fun": lambda z: A @ z - 1, "jac": lambda z: A}
    solution = minimize(
        value, start, jac=True, method="SLSQP", bounds=[(0, None)] * len(start),
        constraints=[constraint], options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    return solution.fun, (solution.x[:size] - solution.x[size : 2 * size]).reshape(K, D)


def solved(
    dataset: Dataset, solver: PDSparse, engine: str = "numpy", stops: tuple[float, ...] = ()
) -> tuple[SparseModel, list[Any]]:
    model = solver.make_model(engine, dataset.info.classes, dataset.info.features, False, "float64")
    fit = solver.fit(dataset, model, Streams.of(0), stops or (float(solver.passes),))
    return model, list(fit)


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_it_meets_a_generic_convex_solver(C: float) -> None:
    dataset, strength = small(10), 0.05
    X, Y = problem_of(dataset)
    lowest, W = optimum(X, Y, strength, C)
    model, steps = solved(dataset, PDSparse(strength, C, 1500, 1e-8))
    own = model.evaluated().toarray()
    assert steps[-1].extra["duality_gap"] < 1e-7
    assert primal(own, X, Y, strength, C) == pytest.approx(lowest, rel=1e-6)
    np.testing.assert_allclose(own, W, atol=1e-3)
    assert model.nonzeros == np.count_nonzero(W.round(3))  # sparse in the primal


def test_the_dual_rises_and_never_passes_the_primal() -> None:
    dataset = small(30)
    X, Y = problem_of(dataset)
    problem = Problem(dataset.train, dataset.info.classes, 0.1, 1.0)
    rng, last = np.random.default_rng(0), -np.inf
    for _ in range(5):
        problem.compact()
        for rows in np.array_split(rng.permutation(30), 6):
            problem.visit(rows, "numpy", rng)
            value, dual = problem.objectives("numpy")
            assert value == pytest.approx(primal(problem.W.toarray(), X, Y, 0.1, 1.0))
            assert last - 1e-12 <= dual <= value
            last = dual
    for i in range(30):  # feasible, and v is X^T alpha whatever chains hold
        n, labels = problem.used[i], Y[i].sum()
        alpha = problem.alpha[i, :n]
        assert alpha.sum() == pytest.approx(0, abs=1e-12)
        assert np.all(alpha[:labels] >= 0) and np.all(alpha[labels:] < 0)
        assert alpha[:labels].sum() <= 1 + 1e-12
    chains = np.zeros((X.shape[1], dataset.info.classes))
    for f, s in enumerate(problem.head):
        while s >= 0:
            chains[f, problem.class_of[s]] += problem.value[s]
            s = problem.after[s]
    np.testing.assert_allclose(chains, problem.v.toarray(), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_block_is_corrected_to_its_optimum(seed: int) -> None:
    """Against a generic solver on one row; C binds for some."""
    rng = np.random.default_rng(seed)
    labels, n, C, curvature = int(rng.integers(1, 4)), 6, 0.8, 0.7
    scores = rng.normal(size=n)
    alpha = np.zeros(n)
    alpha[0], alpha[-1] = 0.3, -0.3
    other = np.arange(n) >= labels

    def value(d: np.ndarray) -> float:
        return float((scores + other) @ d + curvature / 2 * d @ d)

    signs = np.where(other, -1.0, 1.0)
    solution = minimize(
        value, np.zeros(n), method="SLSQP", options={"ftol": 1e-14},
        bounds=[(-a, C) if s > 0 else (-C - a, -a) for a, s in zip(alpha, signs, strict=True)],
        constraints=[
            {"type": "eq", "fun": lambda d: d.sum()},
            {"type": "ineq", "fun": lambda d: C - (alpha + d)[:labels].sum()},
        ],
    )  # fmt: skip
    change = correct(np.arange(n), alpha, labels, scores, curvature, C)
    assert value(change) == pytest.approx(solution.fun, abs=1e-9)
    np.testing.assert_allclose(change, solution.x, atol=1e-5)


class Passes(list[float]):
    """Numbers that are looked at a limited number of times."""

    left = 100

    def __iter__(self) -> Iterator[float]:
        self.left -= 1
        assert self.left > 0, "no end"
        return super().__iter__()


@pytest.mark.parametrize(
    ("target", "C"),
    [
        ([0.6389468994094263, 0.8903278145694402, 0.6002367897316928, 0.9993002114233454,
          0.8723722335245593], 1.0),
        ([0.5684825291611054, 0.6326721521029818, 0.6272027769525284, 0.3761191527388719], 0.7),
    ],
)  # fmt: skip
def test_a_threshold_that_is_a_term_but_for_rounding_ends_the_search(
    target: list[float], C: float
) -> None:
    """Its term went out and came back in turn, and training never ended."""
    t = cut(Passes(target), C)
    assert sum(max(0.0, u - t) for u in target) == pytest.approx(C, rel=1e-12)


def test_weights_are_those_of_the_dual_wherever_it_is_stopped() -> None:
    """Many looks at the clock cost nothing, and change nothing."""
    dataset, solver = small(30), PDSparse(0.05, 1.0, 2, 0.0)
    model = solver.make_model(
        "numpy", dataset.info.classes, dataset.info.features, False, "float64"
    )
    stops = np.arange(1, 41) / 20
    norms = []
    for number, _ in enumerate(solver.fit(dataset, model, Streams.of(0), stops)):
        if number % 10 == 0:
            W = model.evaluated().toarray()
            norms.append((W**2).sum())
            assert model.square_norm() == pytest.approx(norms[-1])
    assert norms[0] == 0 and len(set(norms)) == 5
    whole, _ = solved(dataset, solver)
    np.testing.assert_array_equal(whole.evaluated().toarray(), W)


def test_the_mean_objective_is_the_same_wherever_it_is_stopped() -> None:
    """Looks at the clock stop a pass anywhere, and depend on the machine."""

    def mean(*stops: float) -> float:
        _, (start, *reports) = solved(small(40), PDSparse(0.05, 1.0, 3, 0.0), stops=stops)
        seen = np.diff([start.observations, *(report.observations for report in reports)])
        return float(np.average([report.objective for report in reports], weights=seen))

    assert mean(3.0) == pytest.approx(mean(0.3, 0.5, 1.2, 1.7, 2.9, 3.0), rel=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_engines_take_the_same_steps(share: float) -> None:
    pytest.importorskip("numba")
    dataset, solver = small(40), PDSparse(0.02, 1.0, 3, 0.0, share)
    one, other = (solved(dataset, solver, engine)[0].evaluated() for engine in ("numpy", "numba"))
    np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=1e-9, atol=1e-12)


def test_sampled_scores_have_the_exact_ones_as_their_mean() -> None:
    """Over uniform numbers that lie evenly, whatever the signs of the row."""
    dataset = small(30)
    problem = Problem(dataset.train, dataset.info.classes, 0.02, 1.0)
    problem.visit(np.arange(30), "numpy", np.random.default_rng(0))
    chain = (problem.head, problem.after, problem.class_of, problem.feature_of, problem.value)
    x = np.where(np.arange(12) % 3 == 0, -1.0, 0.5) * np.linspace(0.1, 1, 12)
    result = np.zeros(dataset.info.classes)
    score_classes((np.arange(12), x), (np.arange(20_000) + 0.5) / 20_000, chain, 0.02, result)
    np.testing.assert_allclose(result, problem.W.toarray() @ x, atol=2e-3)


def test_a_sampled_search_comes_to_the_optimum_of_the_plain_one() -> None:
    dataset = small(8)
    X, Y = problem_of(dataset)
    values = []
    for share in (1.0, 0.2):
        model, steps = solved(dataset, PDSparse(0.05, 1.0, 1500, 1e-7, share))
        assert steps[-1].extra["duality_gap"] < 1e-7
        values.append(primal(model.evaluated().toarray(), X, Y, 0.05, 1.0))
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_one_label_a_row_is_the_multi_class_problem() -> None:
    """Without label sets; rows of zeros and labels of all classes move nothing."""
    whole = small(20)
    single = Split(whole.train.X, whole.train.y)
    dataset = Dataset(whole.info, single, single, whole.class_counts)
    settings = PDSparseOptions("pd_sparse", bias=False, passes=200)
    registry.check(registry.method_of(settings), settings, dataset.info)
    solver = registry.builtin()["pd_sparse"].build(settings, dataset.info)
    model, steps = solved(dataset, solver, stops=(50.0, 200.0))
    X, Y = problem_of(dataset)
    lowest, _ = optimum(X, Y, 0.1, 1.0)
    value = primal(model.evaluated().toarray(), X, Y, 0.1, 1.0)
    assert lowest - 1e-8 <= value <= lowest * 1.002
    assert steps[-1].extra["duality_gap"] <= 1e-3
