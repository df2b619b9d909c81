"""The adversarial tree: its probabilities, its draws, its nodes, and what it is fitted on."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.stats import chi2
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from xcbench.core import samplers
from xcbench.core.dataset import Dataset, Split
from xcbench.core.samplers import principal
from xcbench.core.samplers.segments import Segments
from xcbench.core.samplers.tree import Fit, Tree, fit

K, N, L2 = 11, 3000, 0.1


@cache
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian classes; class 4 has no row."""
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(K, 3))
    y = rng.choice([k for k in range(K) if k != 4], N)
    return centres[y] + rng.normal(size=(N, 3)), y


@cache
def tree(stale: bool = False) -> Tree:
    return fit(*rows(), K, Fit(L2, stale))


@pytest.mark.parametrize("stale", [False, True])
def test_probabilities_of_the_classes_sum_to_one(stale):
    """Padding has probability 0: the classes alone sum to one."""
    z, y = rows()
    p = np.exp(tree(stale).log_all(z[:50]).astype(float))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert p.min() > 0 and len(set(tree(stale).leaf)) == K
    of_one = np.exp(tree(stale).log_p(z[:50], y[:50]))
    np.testing.assert_allclose(of_one, p[np.arange(50), y[:50]], rtol=1e-4)


@pytest.mark.parametrize("excepted", [False, True])
def test_classes_are_drawn_as_often_as_their_probability_says(excepted):
    """And no path ends in padding. Without the true class, the others keep their ratios."""
    size, (z, y) = 60_000, rows()
    row = np.zeros(size // 2, int)
    p = np.exp(tree().log_all(z[:1])[0].astype(float))
    if excepted:
        p[y[0]] = 0
    p /= p.sum()
    drawn, log_p = tree().draw(np.random.default_rng(1), z[row], 2, y[row] if excepted else None)
    count = np.bincount(drawn.ravel(), minlength=K)
    assert drawn.min() >= 0 and (count[p == 0] == 0).all()
    often = p * size > 5
    chi_square = ((count - size * p)[often] ** 2 / (size * p)[often]).sum()
    assert chi_square < chi2.ppf(0.999, often.sum() - 1)
    np.testing.assert_allclose(np.exp(log_p), p[drawn], rtol=1e-4)


def test_where_the_true_class_is_all_but_certain_the_others_keep_their_ratios():
    """1 - p(y) is 8e-18, which no difference from 1 could tell."""
    sure = Tree(np.array([[0, 0.0], [0, -40], [0, 40], [0, 0]]), np.array([4, 5, 6, 7]))
    z, y = np.zeros((20_000, 1)), np.full(20_000, 1)
    drawn, log_p = sure.draw(np.random.default_rng(0), z, 1, y)
    share = np.bincount(drawn[:, 0], minlength=4) / len(y)
    np.testing.assert_allclose(share, [0.5, 0, 0.25, 0.25], atol=0.015)
    np.testing.assert_allclose(np.exp(log_p), np.array([0.5, 0, 0.25, 0.25])[drawn], rtol=1e-9)


@pytest.mark.parametrize("stale", [False, True])
def test_the_root_is_the_optimum_of_its_objective(stale):
    z, y = rows()
    result, leaf = tree(stale).weights[1], tree(stale).leaf
    sign = np.where(leaf[y] >> (tree(stale).depth - 1) & 1, 1.0, -1.0)

    def loss(w):
        score = sign * (z @ w[:-1] + w[-1])
        return np.logaddexp(0, -score).sum() + L2 * w @ w

    best = minimize(loss, np.zeros(4), tol=1e-12)
    np.testing.assert_allclose(result, best.x, rtol=1e-3, atol=1e-4)
    assert loss(result) <= best.fun + 1e-8


@pytest.mark.parametrize("stale", [False, True])
def test_every_node_is_the_optimum_of_its_objective(stale):
    """Down to those of two classes, whose sides are fixed at once."""
    (z, y), result = rows(), tree(stale)
    parted = 0
    for node in range(1, 1 << result.depth):
        below = result.depth + 1 - node.bit_length()  # levels down to the leaves
        here = result.leaf[y] >> below == node
        sign = np.where(result.leaf[y[here]] >> (below - 1) & 1, 1.0, -1.0)
        if len(set(sign)) < 2:
            continue

        def loss(w, x=z[here], sign=sign):
            return np.logaddexp(0, -sign * (x @ w[:-1] + w[-1])).sum() + L2 * w @ w

        best = minimize(loss, np.zeros(4), tol=1e-12)
        assert loss(result.weights[node]) <= best.fun * (1 + 1e-5)
        parted += len(set(y[here])) == 2
    assert parted >= 2


def test_objectives_never_fall_with_the_discrete_step_of_the_text():
    """With that of the published code some do, so that the count can tell."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 200, 3000)
    z = (rng.normal(size=(200, 5)) * [3, 1, 1, 1, 1])[y] + rng.normal(size=(3000, 5))
    assert fit(z, y, 200, Fit(L2)).fell == 0
    assert fit(z, y, 200, Fit(L2, stale=True)).fell > 0


def test_no_exchange_of_two_classes_gains_at_the_root():
    """Eq. 9: at the end, sides follow the sums of scores, as far as either side has leaves."""
    z, y = rows()
    w, depth = tree().weights[1], tree().depth
    delta = np.bincount(y, z @ w[:-1] + w[-1], minlength=K)
    right = tree().leaf >> (depth - 1) & 1 == 1
    assert delta[right].min() >= delta[~right].max()
    assert max(right.sum(), (~right).sum()) <= 2 ** (depth - 1)


def test_a_planted_hierarchy_is_recovered():
    """Class k lies at the corner of a box that its bits name; the longest edge splits first."""
    rng = np.random.default_rng(4)
    name = rng.permutation(16)
    bits = name[:, None] >> np.arange(4)[::-1] & 1
    y = np.arange(16).repeat(40)
    z = (bits * [40.0, 20.0, 10.0, 5.0])[y] + rng.normal(size=(len(y), 4))
    leaf = fit(z - z.mean(axis=0), y, 16, Fit(L2)).leaf
    for level in range(1, 5):
        groups = set(zip(leaf >> (4 - level), name >> (4 - level), strict=True))
        assert len(groups) == 2**level


def test_the_fit_depends_on_nothing_but_the_rows():
    z, y = rows()
    again = np.random.default_rng(5).permutation(N)
    other = fit(z[again], y[again], K, Fit(L2))
    assert (other.leaf == tree().leaf).all()
    np.testing.assert_allclose(other.weights, tree().weights, atol=1e-8)


def test_sums_over_groups():
    rng = np.random.default_rng(6)
    group, z, factor = rng.choice([0, 2, 3], 500), rng.normal(size=(500, 3)), rng.random(500)
    segments = Segments(group, 4)
    placed, factors = segments.put(z), segments.put(factor)
    with_constant = segments.put(np.column_stack([z, np.ones(500)]))
    np.testing.assert_array_equal(segments.put_with_constant(z), with_constant)
    weights = rng.normal(size=(4, 3))
    for v in range(4):
        own = group == v
        moment = (z[own].T * factor[own]) @ z[own]
        np.testing.assert_allclose(segments.second_moment(placed, factors)[v], moment, atol=1e-12)
        np.testing.assert_allclose(
            segments.weighted_sum(placed, factors)[v], factor[own] @ z[own], atol=1e-12
        )
        np.testing.assert_allclose(
            segments.sum(segments.scores(placed, weights))[v], (z[own] @ weights[v]).sum()
        )


@pytest.mark.parametrize("scale", ["plain", "unit_variance", "whitened"])
@pytest.mark.parametrize("widest", [0, 2048])
def test_principal_components(scale, widest, monkeypatch):
    """Against scikit-learn, dense and sparse, with and without the covariance matrix."""
    monkeypatch.setattr(principal, "WIDEST", widest)
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 12)) @ rng.normal(size=(12, 12)) + rng.normal(size=12)
    X[X < 0.5] = 0
    X[:, 5] = 2.0  # tells nothing
    scaled = StandardScaler().fit_transform(X) if scale == "whitened" else X
    expected = PCA(4, whiten=scale != "plain").fit_transform(scaled)
    for Z in (X, sp.csr_array(X)):
        result = principal.fitted(Z, 4, scale == "whitened", scale == "unit_variance")(Z)
        sign = np.sign((result * expected).sum(axis=0))
        # scikit-learn divides variances by N - 1
        np.testing.assert_allclose(result, sign * expected, rtol=3e-3, atol=3e-3)


@pytest.mark.parametrize("newton_steps", [0, 1, 3])
def test_the_first_split_by_scores_is_of_the_text(newton_steps):
    """On either side of 0 (Eq. 9), unlike halves; where it starts from, the objective never falls.

    Three classes lie far to the left, so that eight of eleven go right.
    """
    z, y = rows()
    z = z + np.where(np.isin(y, [1, 5, 9]), -9.0, 3.0)[:, None]
    result = fit(z, y, K, Fit(L2, by_scores=True, newton_steps=newton_steps))
    right = result.leaf >> (result.depth - 1) & 1 == 1
    assert right.sum() == 8 and not right[[1, 5, 9]].any()
    assert result.fell == 0


def dataset() -> Dataset:
    z, y = rows()
    split = Split(z.astype(np.float32), y)
    return Dataset(None, split, split, np.bincount(y, minlength=K))  # type: ignore[arg-type]


def test_weighted_draws_of_the_tree_give_unbiased_sums():
    """Terms vanish at the true class; their sum over the others is recovered, for each row."""
    sampler = samplers.make("tree", K, 3).fitted(dataset())
    rng, g = np.random.default_rng(8), np.random.default_rng(9).random(K)
    row = np.repeat(np.arange(5), 20_000)
    y = rows()[1][row]
    classes, log_weight = sampler.draw(rng, row, y, 1)
    assert (classes != y[:, None]).all()
    estimate = (np.exp(log_weight) * g[classes]).sum(axis=1).reshape(5, -1)
    exact = g.sum() - g[rows()[1][:5]]
    error = (estimate.mean(axis=1) - exact) / (estimate.std(axis=1) / np.sqrt(20_000))
    assert np.abs(error).max() < 4


def test_log_probabilities_of_training_rows_are_those_of_any_rows():
    noise = samplers.noise("tree", dimensions=2, pca="plain")
    ready, (z, y) = noise.fitted(dataset()), rows()
    everything = ready.log_all(z[:40])
    np.testing.assert_allclose(
        ready.log_true(np.arange(40), y[:40]), everything[np.arange(40), y[:40]], atol=1e-4
    )
