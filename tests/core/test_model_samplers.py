"""Samplers that see the model: what they draw, how likely, when they look, and with what result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy.stats import chi2
from test_descent import assert_same, model_of, part_by_part, solver_of, trained

from xcbench.core import samplers
from xcbench.core.dataset import Dataset, Split
from xcbench.core.engines import installed
from xcbench.core.models.linear import LinearModel
from xcbench.core.samplers import Sampler
from xcbench.core.samplers.feature_tree import FeatureTree
from xcbench.core.samplers.kernel import OfFeatures, Quadratic
from xcbench.core.samplers.midx import k_means
from xcbench.core.samplers.rff import Fourier
from xcbench.core.samplers.sketch import Sketch
from xcbench.core.solvers import Streams, lockstep
from xcbench.methods import contract
from xcbench.methods.options import FourierOptions, KernelOptions, MIDXOptions, SampledOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.umax import UmaxOptions
from xcbench.plugins import PluginRef

K, D, N, M = 41, 12, 5, 4
DRAWS = 20_000  # of a row
CASES = {
    "softmax": ("softmax", {}),
    "kernel, exact": ("kernel", {"alpha": 100.0, "dimensions": 0}),
    "kernel, tree": ("kernel", {"alpha": 100.0, "dimensions": 12}),
    "kernel, projected": ("kernel", {"alpha": 100.0, "dimensions": 5}),
    "rff": ("rff", {"features": 64, "nu": 1.0, "dimensions": 12}),
    "rff, projected": ("rff", {"features": 16, "nu": 1.0, "dimensions": 4}),
    "midx": ("midx", {"codewords": 4, "dimensions": 12}),
    "midx, projected": ("midx", {"codewords": 3, "dimensions": 5}),
    "midx, a codeword a class": ("midx", {"codewords": 1000, "dimensions": 12}),
}
rng = np.random.default_rng(0)
X = rng.normal(size=(N, D)).astype(np.float32)
Y = np.array([0, 40, 7, 32, 31])  # at the edges of leaves too
MODEL = LinearModel.of(
    rng.normal(size=(K, D)).astype(np.float32) * np.float32(0.3),
    rng.normal(size=K).astype(np.float32),
)
SCORES = X.astype(np.float64) @ MODEL.V.T.astype(np.float64) + MODEL.b
OTHERS = np.arange(K) != Y[:, None]


def data(rows=X, y=Y, n_classes=K):
    split = Split(rows, y)
    return Dataset(None, split, split, np.bincount(y, minlength=n_classes))


def ready(case, negatives=M):
    name, options = CASES[case]
    made = samplers.make(name, K, negatives, refresh=1, **options)
    return made.fitted(data()).seen(MODEL)


def many(case):
    """Many draws of every row; rows and q of each draw, and the probabilities (N, K) of all."""
    rows = np.repeat(np.arange(N), DRAWS // M)
    drawn, log_weight = ready(case).draw(np.random.default_rng(1), rows, Y[rows], 1)
    q, every = np.full((N, K), np.nan), np.exp(-log_weight) / M
    q[rows[:, None], drawn] = every
    np.testing.assert_allclose(q[rows[:, None], drawn], every, rtol=1e-4)  # one q a class
    return rows, drawn, log_weight, q


def normalised(weights):
    weights = np.where(OTHERS, weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("case", CASES)
def test_classes_are_drawn_as_often_as_q_says(case):
    rows, drawn, _, q = many(case)
    count = np.zeros((N, K))
    np.add.at(count, (rows[:, None], drawn), 1)
    assert (count[~OTHERS] == 0).all()
    expected = q * DRAWS
    large = OTHERS & (expected >= 5)
    difference = np.where(large, (count - expected) ** 2 / np.where(large, expected, 1), 0.0)
    assert difference.sum() < chi2.ppf(0.999, large.sum())


@pytest.mark.parametrize("case", CASES)
def test_probabilities_of_the_others_sum_to_1(case):
    _, _, _, q = many(case)
    missed = (np.isnan(q) & OTHERS).sum(axis=1)  # too rare for so many draws
    lacking = 1.0 - np.nansum(q, axis=1)
    assert (lacking > -1e-6).all() and (lacking < 1e-6 + missed * 10 / DRAWS).all()
    assert (missed < K / 4).all()


@pytest.mark.parametrize("case", CASES)
def test_the_partition_sum_is_estimated_without_bias(case):
    rows, drawn, log_weight, _ = many(case)
    exact = np.where(OTHERS, np.exp(SCORES), 0.0).sum(axis=1)
    terms = np.exp(log_weight + SCORES[rows[:, None], drawn])
    estimate = terms.sum(axis=1).reshape(N, -1)
    error = estimate.std(axis=1) / np.sqrt(estimate.shape[1])
    np.testing.assert_array_less(abs(estimate.mean(axis=1) - exact), 4 * error + 1e-6 * exact)


@pytest.mark.parametrize(
    ("case", "weights"),
    [
        ("softmax", np.exp(SCORES)),
        ("midx, a codeword a class", np.exp(SCORES)),
        ("kernel, exact", 100 * (SCORES - MODEL.b.min()) ** 2 + 1),
        ("kernel, tree", 100 * (SCORES - MODEL.b.min()) ** 2 + 1),
    ],
)
def test_where_nothing_is_approximated_q_is_the_formula(case, weights):
    q = many(case)[3]
    drawn = ~np.isnan(q)
    np.testing.assert_allclose(q[drawn], normalised(weights)[drawn], rtol=2e-5)


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("rff")])
def test_at_the_class_prior_frequent_classes_are_drawn_more(case):
    """Scores are then logs of frequencies, all negative; a square of them has rare classes most."""
    p = np.arange(1.0, K + 1)
    prior = LinearModel.of(np.zeros((K, D), np.float32), np.log(p / p.sum()).astype(np.float32))
    sampler = replace(ready(case), proposal=ready(case).proposal.seen(prior))
    rows = np.zeros(DRAWS // M, int)
    drawn, _ = sampler.draw(np.random.default_rng(1), rows, Y[rows], 1)
    count = np.bincount(drawn.ravel(), minlength=K)
    assert count[K // 2 :].sum() > 1.5 * count[: K // 2].sum()


def test_with_every_score_known_one_draw_gives_the_partition_sum():
    drawn, log_weight = ready("softmax", 1).draw(np.random.default_rng(0), np.arange(N), Y, 1)
    estimate = np.exp(log_weight + SCORES[np.arange(N)[:, None], drawn])[:, 0]
    np.testing.assert_allclose(estimate, (np.exp(SCORES) * OTHERS).sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_two_classes_leave_one(case):
    """Whatever the weights: none yet, or some so far apart that exponentials vanish."""
    for scale in (0.0, 1.0, 1e4):
        model = LinearModel.of(MODEL.V[:2] * np.float32(scale), MODEL.b[:2] * np.float32(scale))
        sampler = replace(ready(case), proposal=ready(case).proposal.seen(model))
        y = np.array([0, 1, 0, 1, 0])
        drawn, log_weight = sampler.draw(np.random.default_rng(0), np.arange(N), y, 1)
        assert (drawn == 1 - y[:, None]).all()
        np.testing.assert_allclose(log_weight, -np.log(M), atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_weights_that_are_not_finite_give_classes_all_the_same(case):
    """The checkpoint says that training diverged; until then compiled code reads their weights."""
    broken = LinearModel.of(np.full_like(MODEL.V, np.nan), MODEL.b)
    with np.errstate(all="ignore"):
        drawn, _ = ready(case).seen(broken).draw(np.random.default_rng(0), np.arange(N), Y, 1)
    assert ((drawn >= 0) & (drawn < K)).all()


def test_the_product_of_features_is_the_kernel():
    v = np.random.default_rng(3).normal(size=(6, 5))
    quadratic = Quadratic(7.0)
    phi = quadratic.features(v)
    np.testing.assert_allclose(phi @ phi.T, 7.0 * (v @ v.T) ** 2 + 1.0, rtol=1e-12)
    assert quadratic.kernel(v @ v.T) == pytest.approx(phi @ phi.T)


def test_fourier_features_are_shared_and_have_the_kernel_as_their_mean():
    """E phi(u)·phi(v) = e^{-nu |u - v|²/2}; as many frequencies as make their error small."""
    z = np.random.default_rng(4).normal(size=(8, 5)).astype(np.float32)
    fourier = Fourier(200_000, 1.5).fitted(5)
    phi, u = fourier.coordinates(z), z / np.linalg.norm(z, axis=1, keepdims=True)
    square = np.square(u[:, None] - u).sum(axis=2)
    np.testing.assert_allclose(phi @ phi.T, np.exp(-1.5 * square / 2), atol=0.01)
    again = Fourier(200_000, 1.5).fitted(5)
    np.testing.assert_array_equal(fourier.frequencies, again.frequencies)
    assert fourier.least == pytest.approx(np.exp(-3.0))


@pytest.mark.parametrize("n_classes", [1, 3, 4, 5, 17, 64])
def test_a_node_has_the_sum_over_its_classes(n_classes):
    v = np.random.default_rng(5).normal(size=(n_classes, 3)).astype(np.float32)
    tree = FeatureTree.of(lambda part: part, v, 4, 0.1)
    leaves = len(tree.sums) // 2
    assert tree.sizes[1] == n_classes
    np.testing.assert_allclose(tree.sums[1], v.sum(axis=0), rtol=1e-4, atol=1e-5)
    for leaf in range(leaves):
        part = v[4 * leaf : 4 * leaf + 4]
        assert tree.sizes[leaves + leaf] == len(part)
        np.testing.assert_allclose(tree.sums[leaves + leaf], part.sum(axis=0), rtol=1e-5)


def test_a_sketch_keeps_inner_products_in_the_mean_and_the_bias_exactly():
    generator = np.random.default_rng(6)
    x, w = generator.normal(size=(1, 400)).astype(np.float32), generator.normal(size=(1, 400))
    sketch = Sketch.of(400, 30)
    two = np.concatenate([w, w]).astype(np.float32)
    model = LinearModel.of(two, np.array([2.0, -0.5], np.float32))
    model.scale = 3.0
    h, k = sketch.rows(x, np.arange(1)), sketch.classes(model)
    assert h.shape == (1, 31) and k.shape == (2, 31)
    assert (h[0, -1] * k[:, -1] == [7.5, 0.0]).all()  # above the lowest
    assert abs(sketch.A).sum(axis=1) == pytest.approx(1.0)
    signs = sketch.A.toarray()
    spread = 3.0 * np.linalg.norm(x) * np.linalg.norm(w) / np.sqrt(30)
    assert abs((h @ k[0]).item() - 7.5 - 3.0 * (x @ w.T).item()) < 4 * spread
    np.testing.assert_allclose(h[0, :-1], x[0] @ signs, rtol=1e-5)


def test_k_means_finds_groups_and_with_a_codeword_a_class_keeps_each():
    w = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    w += np.random.default_rng(7).normal(size=w.shape).astype(np.float32) * np.float32(0.01)
    c, near = k_means(w, len(w))
    np.testing.assert_allclose(c[near], w, atol=1e-6)
    c, near = k_means(w, 3)
    assert np.square(w - c[near]).sum() <= np.square(w - w.mean(axis=0)).sum()


# ------------------------------------------------------------------------------- in training
SETTINGS = {
    "softmax": SampledOptions(name="css", sampler="softmax"),
    "kernel": UmaxOptions(name="umax", sampler="kernel"),
    "kernel, tree": OneVsEachOptions(
        name="ove", sampler="kernel", kernel=KernelOptions(dimensions=6)
    ),
    "rff": SampledOptions(name="css", sampler="rff", rff=FourierOptions(features=32, nu=1.0)),
    "midx": UmaxOptions(name="umax", sampler="midx", midx=MIDXOptions(codewords=3, dimensions=4)),
}


def settings_of(name, **others):
    changed = {"batch_size": 7, "lr": 0.02, "negatives": 3, "refresh": 20, **others}
    return replace(SETTINGS[name], **changed)


@pytest.mark.skipif(not installed("numba"), reason="Numba is not installed")
@pytest.mark.parametrize("order", ["shuffled", "iid"])
@pytest.mark.parametrize("dataset", ["small", "digits"])
@pytest.mark.parametrize("name", SETTINGS)
def test_both_engines_give_the_same(request, name, dataset, order):
    """A low rate: draws that follow the weights make what rounding moves grow with long steps."""
    rows = request.getfixturevalue(dataset)
    solver = solver_of(settings_of(name, order=order, l2=1.0, lr=0.002), rows)
    stops = [0.5, 1]
    expected = trained(part_by_part(solver), model_of("numpy", rows), rows, stops)
    result = trained(solver, model_of("numba", rows), rows, stops)
    assert_same(result[0], expected[0], 1e-8)
    np.testing.assert_allclose(result[1], expected[1], rtol=1e-8)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_seed_and_other_stops_give_the_same(small, name):
    def weights(stops):
        solver = solver_of(settings_of(name), small)
        return trained(solver, model_of("numpy", small, dtype="float32"), small, stops)[0]

    first, again, often = weights([2]), weights([2]), weights([0.01, 0.3, 0.31, 1, 1.9, 2])
    for part, values in first.items():
        np.testing.assert_array_equal(again[part], values)
        np.testing.assert_array_equal(often[part], values)


@dataclass(frozen=True)
class Watching(Sampler):
    """Uniform draws; notes the biases that it saw, and for how many rows it drew."""

    n_classes: int
    negatives: int
    refresh: int = 1
    looks: list[np.ndarray] = field(default_factory=list)
    drew: list[int] = field(default_factory=list)

    def seen(self, model: LinearModel) -> Watching:
        assert model.b is not None
        self.looks.append(model.b.copy())
        return self

    def draw(self, rng, rows, y, batch_size):
        self.drew.append(len(y))
        return (y[:, None] + rng.integers(1, self.n_classes, (len(y), 1))) % self.n_classes, 0.0


@pytest.mark.parametrize(
    ("refresh", "batch_size", "rows"), [(1, 7, 7), (7, 7, 7), (20, 7, 14), (30, 1, 30), (0, 7, 0)]
)
def test_it_looks_before_each_draw_and_draws_so_far_ahead(small, refresh, batch_size, rows):
    n = len(small.train)
    watching = Watching(small.info.classes, 1, refresh)
    solver = solver_of(UmaxOptions(name="umax", lr=0.1, batch_size=batch_size, init="zero"), small)
    solver.sampler = watching
    model = model_of("numpy", small)
    list(solver.fit(small, model, Streams.of(0), [2]))
    if not refresh:
        assert not watching.looks and watching.drew[:2] == [n, n]
        return
    of_pass = [min(rows, n - first) for first in range(0, n, rows)]
    assert watching.drew[: 2 * len(of_pass)] == [*of_pass, *of_pass]
    assert len(watching.looks) == len(watching.drew)
    moved = np.abs(np.diff(watching.looks, axis=0)).max(axis=1)
    assert (moved > 0).all()  # every step of the weights is seen
    np.testing.assert_array_equal(watching.looks[0], 0.0)


def test_samplers_that_look_train_alone(small):
    for sampler, together in (("others", True), ("softmax", False)):
        solver = solver_of(UmaxOptions(name="umax", lr=0.1, sampler=sampler), small)
        assert lockstep.takes(solver) == together


def test_a_plugin_that_looks_is_tried_with_a_model(small):
    contract.sampler(PluginRef(Watching, "mine"), small.info, 1, 1)
    others = samplers.make("others", 6, 2)
    assert others.seen(MODEL) is others and others.refresh == 0
    assert isinstance(ready("rff").proposal, OfFeatures)


def test_data_without_features_have_biases():
    model = LinearModel.of(np.zeros((K, 0), np.float32), MODEL.b)
    for name, options in CASES.values():
        made = samplers.make(name, K, M, refresh=1, **options)
        sampler = made.fitted(data(np.zeros((N, 0), np.float32))).seen(model)
        drawn, log_weight = sampler.draw(np.random.default_rng(0), np.arange(N), Y, 1)
        assert (drawn != Y[:, None]).all() and np.isfinite(log_weight).all()
