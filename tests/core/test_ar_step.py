"""The adaptive step of the augment-and-reduce paper, against its equations in plain numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from test_solvers import fit

from xcbench.core import models
from xcbench.core.models.linear import LinearModel
from xcbench.core.optimizers import RootOfMean, augment_reduce
from xcbench.core.rows import DenseRows, take
from xcbench.core.solvers import Streams
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.ar_softmax import SoftmaxAugmentReduceOptions
from xcbench.methods.bouchard import BouchardOptions
from xcbench.methods.method import default_rate
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.softmax import SoftmaxOptions
from xcbench.methods.umax import UmaxOptions

ENGINES = ("numpy", "numba") if find_spec("numba") else ("numpy",)
K, D, N = 7, 9, 50


class ByHand:
    """The paper's equations, a dictionary of numbers; averages decay where nothing is touched."""

    def __init__(self, W, b, lr, decay, l2, touched):
        self.w = {(k, j): W[k, j] for k in range(K) for j in range(D)}
        self.w |= {(k, "b"): b[k] for k in range(K)}
        self.s = dict.fromkeys(self.w, 0.0)
        self.lr, self.decay, self.l2, self.touched, self.t = lr, decay, l2, touched, 0

    def step(self, X, classes, grad):
        self.t += 1
        if self.t % 2000 == 0:
            self.lr *= self.decay
        g = defaultdict(float)
        for x, row, numbers in zip(X, classes, grad, strict=True):
            for k, number in zip(row, numbers, strict=True):
                g[k, "b"] += N / len(X) * number
                for j in range(D):
                    g[k, j] += N / len(X) * number * x[j]
        for at, w in self.w.items():
            likely = g[at] != 0
            total = g[at] + (self.l2 * w if likely else 0)
            if likely or not self.touched:
                new = self.t == 1
                self.s[at] = total**2 if new else 0.1 * total**2 + 0.9 * self.s[at]
            rho = self.lr * self.t ** (-0.5 + 1e-16)
            self.w[at] -= rho * total / (1 + math.sqrt(self.s[at]))


@pytest.mark.parametrize("rows", ["sparse", "dense"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("drawn", [2, None])
@pytest.mark.parametrize("touched, l2", [(False, 0.0), (True, 0.0), (True, 0.7)])
def test_the_step_is_the_papers_equations(touched, l2, drawn, engine, rows):
    """Over so many iterations that rate and scale change; few features, few classes a batch."""
    rng = np.random.default_rng(5)
    model = models.make(engine, K, D, True, "float64")
    model.draw(rng, "normal")
    peer = ByHand(model.V, model.b, 0.02, 0.9, l2, touched)
    step = augment_reduce(0.02, 0.9, l2, N, touched).begun(model)
    step.t = peer.t = 1850  # the averages are far from the first iteration's
    step.preconditioner.begins = False
    for _ in range(250):
        X = rng.normal(size=(3, D)) * (rng.random((3, D)) < 0.2)
        y = rng.integers(0, K, (3, 1))
        classes = np.arange(K)[None].repeat(3, 0)
        if drawn:
            classes = np.hstack([y, (y + rng.integers(1, K, (3, drawn))) % K])
        grad = rng.normal(scale=rng.choice([1e-3, 1.0, 30.0]), size=classes.shape)
        data = sp.csr_array(X) if rows == "sparse" else X
        peer.step(X, classes, grad)
        index = np.arange(3)
        taken = take(data, index, model.dtype) if drawn is None else model.take(data, index)
        step.apply(model, taken, None if drawn is None else classes, grad, step.rate(0))
    W = np.array([[peer.w[k, j] for j in range(D)] for k in range(K)])
    np.testing.assert_allclose(model.V, W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.b, [peer.w[k, "b"] for k in range(K)], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("touched", [False, True])
def test_the_first_step_moves_by_the_rate_and_later_ones_by_averages(touched):
    """One weight: s_1 = g_1², then 0.1 g² + 0.9 s, also after two steps without a gradient."""
    model = LinearModel(1, 1, False, "float64")
    step = augment_reduce(0.5, 1.0, 0.0, 1, touched).begun(model)
    moves = []
    for x in (3.0, 0.0, 0.0, 2.0):
        before = model.V[0, 0]
        step.apply(model, DenseRows(np.array([[x]])), np.array([[0]]), np.ones((1, 1)), 0.5)
        moves.append(model.V[0, 0] - before)
    s = 0.1 * 4 + 0.9 * (9 if touched else 9 * 0.81)
    rate = 0.5 * 4 ** (-0.5 + 1e-16)
    np.testing.assert_allclose(moves, [-0.5 * 3 / 4, 0, 0, -rate * 2 / (1 + math.sqrt(s))])


def test_the_averages_keep_their_size_however_long_they_wait():
    """5,000 iterations of another class: 0.9^5000 is no number of either precision."""
    model = LinearModel(2, 1, False, "float32")
    step = augment_reduce(1.0, 1.0, 0.0, 1, touched=False).begun(model)
    row = DenseRows(np.ones((1, 1), np.float32))
    for t in range(5000):
        grad = np.full((1, 1), 1e3 if t % 2 else 1e-3)
        step.apply(model, row, np.array([[1]]), grad, 1.0)
    kept = step.preconditioner
    assert isinstance(kept, RootOfMean) and kept.squares is not None
    average = kept.scale * kept.squares.V[1, 0]
    expected = 0.1 * sum(0.9**i * (1e6 if i % 2 == 0 else 1e-6) for i in range(500))
    assert average == pytest.approx(expected, rel=1e-5)
    assert kept.squares.V[0, 0] == 0 and np.isfinite(model.V).all()


def test_every_fit_begins_anew_and_takes_its_start_from_the_seed(small):
    """A solver that was used before, such as to compile it, gives the same weights."""
    settings = OneVsEachOptions(
        name="ove", optimizer="ar", init="normal", sampler="others", lr=0.02
    )
    registry.check(registry.method_of(settings), settings, small.info)
    solver = registry.method_of(settings).build(settings, small.info)
    ends = []
    for seed in (0, 0, 1):
        model = LinearModel(8, 40, True, "float64")
        for _ in solver.fit(small, model, Streams.of(seed), [0.5]):
            pass
        ends.append(model.V.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    assert np.abs(ends[2] - ends[0]).max() > 0.01
    starts = []
    for other in (settings, SoftmaxOptions(name="softmax", solver="minibatch", init="normal")):
        other = replace(other, lr=1e-30, batch_size=1)
        model, _ = fit(small, other)
        starts.append((model.V.copy(), model.b.copy()))
    np.testing.assert_allclose(starts[0][0], starts[1][0])
    W, b = starts[0]
    assert W.std() == pytest.approx(0.1, rel=0.15) and b.std() == pytest.approx(0.001, rel=0.8)
    assert abs(W.mean()) < 0.02


def test_the_adaptive_step_has_a_rate_of_its_own(small):
    settings = OneVsEachOptions(name="ove", optimizer="ar")
    method = registry.method_of(settings)
    assert default_rate(method, settings, small.info) == 0.04
    assert default_rate(method, replace(settings, optimizer="sgd"), small.info) != 0.02


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            UmaxOptions(name="umax", optimizer="ar"),
            "method.optimizer=ar is not possible for umax.*sgd",
        ),
        (BouchardOptions(name="bouchard", optimizer="ar"), "not possible for bouchard"),
        (
            OneVsEachOptions(
                name="ove", optimizer="ar", l2_on="drawn", batch_size=1, sampler="others"
            ),
            "set method.l2_on=all",
        ),
        (
            SoftmaxAugmentReduceOptions(
                name="ar_softmax", optimizer="sgd", l2_on="drawn", batch_size=1
            ),
            "not possible for ar_softmax; set it to all",
        ),
    ],
)
def test_steps_that_do_not_fit_are_refused(small, settings, sentence):
    with pytest.raises(UserError, match=sentence):
        registry.check(registry.method_of(settings), settings, small.info)
