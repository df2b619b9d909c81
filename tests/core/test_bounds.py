"""Bounds of the one-vs-each paper: their order, optima, and estimates from drawn classes."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime, brentq, minimize, minimize_scalar
from scipy.special import expit, log_softmax, logsumexp
from test_solvers import fit

from xcbench.core.dataset import Dataset, Split
from xcbench.core.objectives import LogOdds, Pairwise
from xcbench.core.objectives.bouchard import Tightest, best_alpha, one_vs_rest
from xcbench.core.objectives.grouped import Grouped
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.ove_grouped import GroupedOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.papers.ove import experiments

OVE = Pairwise(one_vs_each, is_bound=True)
EXACT = LogOdds(softmax, is_bound=True)
BOUCHARD = Pairwise(one_vs_rest, is_bound=True, shifted=True)

# A row of scores, the true class first: of two to ten classes, alike or far apart.
ROWS = st.integers(2, 10).flatmap(
    lambda K: arrays(float, (1, K), elements=st.floats(-40, 40, allow_subnormal=False))
)


def value(objective, scores, local=0.0, log_weight=0.0):
    return objective(scores, log_weight, np.full(len(scores), local), 0.1, np.ones(len(scores)))[0]


def no_less(above, below):
    return (above >= below - 1e-9 * (1 + np.abs(below))).all()


# ---------------------------------------------------------------- order of the bounds
@given(ROWS)
@settings(deadline=None, max_examples=300)
def test_a_larger_group_is_tighter_from_one_vs_each_to_the_exact_log_likelihood(scores):
    K, exact = scores.shape[1], log_softmax(scores, axis=1)[:, 0]
    bounds = [-value(Grouped(group), scores) for group in range(K)]
    np.testing.assert_allclose(bounds[0], -value(OVE, scores), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(bounds[-1], exact, rtol=1e-10, atol=1e-14)
    for below, above in pairwise(bounds):
        assert no_less(above, below)


@given(ROWS, st.floats(-50, 50))
@settings(deadline=None, max_examples=300)
def test_bouchards_bound_is_tightest_at_the_best_alpha_and_never_above_the_exact(scores, alpha):
    exact = log_softmax(scores, axis=1)[:, 0]
    tightest = -value(Tightest(BOUCHARD), scores)
    assert no_less(exact, tightest)
    assert no_less(tightest, -value(BOUCHARD, scores, alpha))
    # Eq. 12 as it is printed, its product over every class.
    printed = scores[:, 0] - alpha - np.logaddexp(0, scores - alpha).sum(axis=1)
    np.testing.assert_allclose(-value(BOUCHARD, scores, alpha), printed, rtol=1e-9, atol=1e-9)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=8), st.data())
@settings(deadline=None, max_examples=200)
def test_proposition_1(parts, data):
    """P(A) >= prod_i P(A | A or B_i), in exact fractions; merging events makes it no looser."""
    total = sum(parts)
    true, *others = (Fraction(part, total) for part in parts)

    def bound(events):
        product = Fraction(1)
        for event in events:
            product *= true / (true + event)
        return product

    i, j = data.draw(st.integers(0, len(others) - 1)), data.draw(st.integers(0, len(others) - 1))
    merged = [event for k, event in enumerate(others) if k not in (i, j)]
    merged.append(others[i] + others[j] if i != j else others[i])
    assert true >= bound(merged) >= bound(others)
    scores = np.log(np.array([[float(p) for p in (true, *others)]]))
    assert np.exp(-value(OVE, scores))[0] == pytest.approx(float(bound(others)), rel=1e-11)


# ---------------------------------------------------------------- optima without features
@pytest.mark.parametrize(
    ("frequent", "group", "rare", "share"),
    [
        *((10, 0, 5, 1), (10, 1, 5, 1), (10, 14, 5, 1)),  # one-vs-each, twice, and all classes
        *((4, 3, 5, 2 / 4), (10, 9, 5, 2 / 10)),  # the group and one more
        *((3, 3, 300, 1 / 3), (9, 9, 300, 1 / 9)),
    ],
)
def test_a_group_moves_the_optimal_scores_away_from_the_frequencies(frequent, group, rare, share):
    """Proposition 2 holds for one-vs-each and for the log-likelihood, not between them.

    Frequent classes have one sample each, rare ones 1e-4. A sample of a rare class is compared once
    with the sum of the group, and once with each frequent class outside it; a sample of a frequent
    class once with each rare one. So ``1 + frequent - group`` stands against ``frequent``. The
    group has the first rare class too where a sample's own class is one of it.
    """
    count, kinds = 1e-4, (0, frequent, frequent + 1)  # a frequent class, the first rare one, others

    def loss(first_and_others):
        scores = np.repeat([0.0, *first_and_others], [frequent, 1, rare - 1])
        rows = np.array([np.append(scores[y], np.delete(scores, y)) for y in kinds])
        return value(Grouped(group), rows) @ [frequent, count, count * (rare - 1)]

    options = {"xatol": 1e-6, "fatol": 1e-15}
    optimum = minimize(loss, [np.log(count)] * 2, method="Nelder-Mead", options=options).x
    assert np.exp(optimum) / count == pytest.approx(share, rel=1e-2)


# ---------------------------------------------------------------- grads
@pytest.mark.parametrize("log_weight", [0.0, 0.8])
@pytest.mark.parametrize(
    "objective", [BOUCHARD, Tightest(BOUCHARD), Grouped(0), Grouped(2), Grouped(7)]
)
def test_grads_are_gradients(objective, log_weight):
    scores = np.random.default_rng(0).normal(scale=2, size=(4, 6))
    local = np.full(4, 1.1)
    grad = objective(scores, log_weight, local, 0.1, np.ones(4))[1]
    for row in range(4):

        def of_row(f):
            return objective(f[None], log_weight, local[:1], 0.1, np.ones(1))[0][0]

        central = approx_fprime(scores[row], of_row, 1e-7)
        np.testing.assert_allclose(grad[row], central, atol=2e-6)


def test_alpha_moves_along_its_gradient():
    scores = np.random.default_rng(1).normal(size=(5, 4))
    alpha, rate, step = np.full(5, 0.7), 1e-2, 1e-6
    moved = BOUCHARD(scores, 0.3, alpha, rate, np.ones(5))[2]
    above, below = (value(BOUCHARD, scores, 0.7 + s, 0.3) for s in (step, -step))
    np.testing.assert_allclose(moved, alpha - rate * (above - below) / (2 * step), rtol=1e-8)


# ---------------------------------------------------------------- the best alpha
def test_the_best_alpha_of_two_classes_is_the_mean_score():
    scores = np.random.default_rng(2).normal(scale=5, size=(50, 2))
    alpha = best_alpha(scores, 0.0, np.zeros(50))
    np.testing.assert_allclose(alpha, scores.mean(axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("K", [3, 50])
def test_the_best_alpha_solves_its_equation(scale, K):
    scores = np.random.default_rng(K).normal(scale=scale, size=(20, K))
    for start in (np.full(20, -1e3), np.zeros(20), scores.max(axis=1)):
        for row, alpha in zip(scores, best_alpha(scores, 0.0, start), strict=True):
            # Where the sum is 1 over a whole range, any of it is the best: compare the values.
            solution = minimize_scalar(
                lambda a, row=row: a + np.logaddexp(0, row - a).sum(),
                bounds=(row.min() - 1, logsumexp(row) + 1),
                method="bounded",
                options={"xatol": 1e-10},
            )
            assert expit(row - alpha).sum() == pytest.approx(1, abs=1e-9)
            assert alpha + np.logaddexp(0, row - alpha).sum() <= solution.fun + 1e-9
    if scale == 0:
        assert best_alpha(scores, 0.0, np.zeros(20)) == pytest.approx(np.log(K - 1))


# ---------------------------------------------------------------- optima
def counted(dataset, counts):
    """A problem without features: class k has counts[k] rows, only biases count."""
    y = np.repeat(np.arange(len(counts)), counts)
    rows = Split(np.zeros((len(y), 1), np.float32), y)
    info = replace(dataset.info, train=len(y), test=len(y), features=1, classes=len(counts))
    return Dataset(replace(info, sparse=False), rows, rows, np.asarray(counts))


def optimum(name, **options):
    schema = {
        "softmax": SoftmaxOptions,
        "ove": OneVsEachOptions,
        "ove_grouped": GroupedOptions,
        "bouchard": BouchardOptions,
    }[name]
    return schema(name=name, solver="lbfgs", tolerance=1e-8, **options)


@pytest.fixture(scope="module")
def fitted(small):
    """Models and curves at the optima of `small`, by method, l2 and bias: each fitted once."""

    @cache
    def at(name, l2, bias=True):
        options = {"group": 3} if name == "ove_grouped" else {}
        return fit(small, optimum(name, l2=l2, bias=bias, **options))

    return at


@pytest.mark.parametrize("name", ["softmax", "ove", "ove_grouped"])
def test_without_features_one_vs_each_finds_the_frequencies(small, name):
    """Proposition 2: the optimum is f_k = log N_k + c."""
    counts = [40, 20, 10, 5, 1]
    options = {"group": 4} if name == "ove_grouped" else {}
    model, _ = fit(counted(small, counts), optimum(name, **options))
    np.testing.assert_allclose(model.b - model.b[0], np.log(np.array(counts) / 40), atol=1e-6)


def test_without_features_bouchards_bound_doubles_the_log_of_the_frequencies(small):
    """Proposition 3: f_k = 2 log N_k + c for two classes."""
    model, _ = fit(counted(small, [30, 7]), optimum("bouchard"))
    assert model.b[0] - model.b[1] == pytest.approx(2 * np.log(30 / 7), abs=1e-6)


def one_row(name, f, y, frequent):
    """Minus the bound of a row with scores f, from its equation."""
    others = [k for k in range(len(f)) if k != y]
    if name == "softmax":
        return logsumexp(f) - f[y]
    if name == "bouchard":
        alpha = brentq(lambda a: expit(f - a).sum() - 1, f.min() - 20, logsumexp(f) + 20)
        return alpha - f[y] + np.logaddexp(0, f - alpha).sum()
    group = [k for k in frequent if k != y][:3] if name == "ove_grouped" else []
    rest = [k for k in others if k not in group]
    return logsumexp(f[[y, *group]]) - f[y] + np.logaddexp(0, f[rest] - f[y]).sum()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ["softmax", "ove", "ove_grouped", "bouchard"])
def test_the_full_batch_ends_where_the_gradient_vanishes(small, fitted, name, bias):
    """The value from the method's equation, row by row; its gradient by finite differences."""
    model, trace = fitted(name, 2.0, bias)
    X, y = small.train.X.toarray().astype(float), small.train.y
    counts = np.bincount(y, minlength=8)
    frequent = sorted(range(8), key=lambda k: (-counts[k], k))
    scores = X @ model.V.T + (model.b if bias else 0)

    def mean(scores):
        return np.mean([one_row(name, f, k, frequent) for f, k in zip(scores, y, strict=True)])

    end = trace.curve.iloc[-1]
    assert end["bound"] == pytest.approx(-mean(scores), rel=1e-9)
    assert end["largest_gradient"] <= 1e-8
    rng = np.random.default_rng(3)
    for _ in range(3):
        W = rng.normal(size=model.V.shape)
        b = rng.normal(size=8) if bias else np.zeros(8)
        aside, step = X @ W.T + b, 1e-4
        central = (mean(scores + step * aside) - mean(scores - step * aside)) / (2 * step)
        l2 = 2.0 / len(y) * ((W * model.V).sum() + (b @ model.b if bias else 0))
        assert central + l2 == pytest.approx(0, abs=1e-6)


def test_the_bounds_of_the_optima_are_ordered(fitted):
    """A tighter bound has a higher optimum, here without the l2 penalty's term."""
    of = {}
    for name in ("softmax", "ove_grouped", "ove", "bouchard"):
        end = fitted(name, 2.0, True)[1].curve.iloc[-1]
        of[name] = end["bound"] - end["l2_term"]
    assert of["softmax"] > of["ove_grouped"] > of["ove"] > of["bouchard"]


def test_the_librarys_iterations_are_rows_of_the_curve(small):
    _, trace = fit(small, optimum("ove", l2=1.0))
    curve = trace.curve
    inside, end = curve.iloc[1:-1], curve.iloc[-1]
    assert list(inside["iteration"]) == list(range(1, int(end["iteration"]) + 1))
    assert (np.diff(inside["epoch"]) >= 1).all() and inside["epoch"].iloc[-1] == end["epoch"]
    penalised = inside["bound"] - inside["l2_term"]
    assert (np.diff(penalised) > -1e-12).all()
    assert inside["bound"].iloc[-1] == pytest.approx(end["bound"], rel=1e-12)
    assert inside["train_log_loss"].isna().all() and inside["train_seconds"].isna().all()
    assert curve["train_log_loss"].notna().sum() == 2


@pytest.mark.parametrize(
    "name, stochastic",
    [
        ("bouchard", BouchardOptions(name="bouchard", batch_size=5, lr=0.2, sampler="all")),
        ("bouchard", BouchardOptions(name="bouchard", batch_size=5, lr=0.2, negatives=4)),
        (
            "bouchard",
            BouchardOptions(
                name="bouchard", batch_size=5, lr=0.2, negatives=4, sampler="frequency"
            ),
        ),
        (
            "ove",
            OneVsEachOptions(name="ove", batch_size=5, negatives=4, lr=0.01, sampler="frequency"),
        ),
        (
            "ove_grouped",
            GroupedOptions(name="ove_grouped", batch_size=5, negatives=2, lr=0.01, group=3),
        ),
    ],
)
def test_minibatches_reach_the_optimum_of_the_full_batch(small, fitted, name, stochastic):
    """Bouchard's takes a higher rate: an alpha moves once an epoch, and w and b wait for it."""
    best, _ = fitted(name, 10.0)
    settings = replace(stochastic, l2=10.0, lr_decay=0.98, init="zero")
    model, _ = fit(small, settings, epochs=200)
    result = {"W": model.scale * model.V, "b": model.scale * model.b}
    assert experiments.param_norm(best.weights(), result) < 0.06
