"""Augment and reduce: its loop written out, and what its methods learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import logistic, norm
from test_solvers import fit

from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.augment_reduce import LOGISTIC, PROBIT, averaged
from xcbench.core.solvers import Streams
from xcbench.methods import registry
from xcbench.methods.ar_softmax import SoftmaxAugmentReduceOptions
from xcbench.methods.augment_reduce import LatentAugmentReduceOptions
from xcbench.methods.options import SampledOptions
from xcbench.methods.ove import OneVsEachOptions
from xcbench.methods.softmax import SoftmaxOptions

LINKS = {"probit": (PROBIT, norm), "logistic": (LOGISTIC, logistic)}
SOFTMAX = LogOdds(averaged, is_bound=True, start=np.log(2.0))
NAMES = ("softmax", "probit", "logistic")


def by_hand(dataset, name, clock, start, drawn, order, noise, lr, n, m, local_lr, entropy):
    """Algorithms 1 and 2 with dense weights: observations one by one, no logarithm of eta."""
    X, y, K = dataset.train.X.toarray(), dataset.train.y, dataset.info.classes
    W, b = start
    N, D = X.shape
    s_W, s_b = np.zeros((K, D)), np.zeros(K)
    eta, mu, gamma = np.full(N, 2.0), np.zeros(N), np.full(N, np.log(np.e - 1))
    t = epoch = 0
    for epoch, (rows, classes, numbers) in enumerate(zip(order, drawn, noise, strict=True), 1):
        for first in range(0, N, n):
            t += 1
            alpha = local_lr * (1 + (t if clock == "iterations" else epoch)) ** -0.9
            batch = range(first, min(first + n, N))
            g_W, g_b = np.zeros((K, D)), np.zeros(K)
            scale = N / len(batch) * (K - 1) / m
            for place in batch:
                i, S = rows[place], classes[place]
                psi = W @ X[i] + b
                gap = psi[y[i]] - psi[S]
                if name == "softmax":
                    tilde = 1 + (K - 1) / m * np.exp(-gap).sum()
                    eta[i] = (1 - alpha) * eta[i] + alpha * tilde
                    weight = np.exp(-gap) / eta[i]
                else:
                    peer = {"probit": norm, "logistic": logistic}[name]

                    def grad(x, peer=peer):
                        return np.exp(peer.logpdf(x) - peer.logcdf(x))

                    s = np.log1p(np.exp(gamma[i]))
                    eps = mu[i] + s * numbers[place, 0]
                    own = -eps if name == "probit" else 1 - 2 * expit(eps)
                    of_eps = own + (K - 1) / m * grad(eps + gap).sum()
                    of_s = of_eps * numbers[place, 0] + (1 / s if entropy else 0)
                    mu[i] += alpha * of_eps
                    gamma[i] += alpha * of_s * (1 - np.exp(-s))
                    eps = mu[i] + np.log1p(np.exp(gamma[i])) * numbers[place, 1]
                    weight = grad(eps + gap)
                for k, number in zip(S, scale * weight, strict=True):
                    for which, sign in ((k, -1), (y[i], 1)):
                        g_W[which] += sign * number * X[i]
                        g_b[which] += sign * number
            for w, s, g in ((W, s_W, g_W), (b, s_b, g_b)):
                s[...] = g**2 if t == 1 else 0.1 * g**2 + 0.9 * s
                w += lr * t**-0.5 * g / (1 + np.sqrt(s))
    return W, b


@pytest.mark.parametrize(
    "name, clock, entropy",
    [
        ("softmax", "iterations", True),
        ("softmax", "epochs", True),
        ("probit", "iterations", True),
        ("probit", "epochs", False),
        ("logistic", "epochs", True),
    ],
)
def test_the_loop_is_the_papers_algorithm(small, name, clock, entropy):
    schema = SoftmaxAugmentReduceOptions if name == "softmax" else LatentAugmentReduceOptions
    settings = schema(
        name=f"ar_{name}", batch_size=70, negatives=3, lr=0.1, init="normal", local_clock=clock
    )
    if name != "softmax":
        settings = replace(settings, entropy=entropy, local_step="gradient")
    solver = registry.method_of(settings).build(settings, small.info)
    model = LinearModel(8, 40, True, "float64")
    progress = list(solver.fit(small, model, Streams.of(4), [1.0, 3.0]))
    again = Streams.of(4)
    start = LinearModel(8, 40, True, "float64")
    start.draw(again.weights, "normal")
    draws, peer = [], LINKS.get(name)
    for _ in range(3):
        order = again.order.permutation(300)
        labels = small.train.y[order]
        drawn = solver.sampler.draw(again.classes, order, labels, 70)[0]
        noise = peer[0].sample(again.noise, (300, 2)) if peer else np.zeros((300, 2))
        draws.append((order, drawn, noise))
    order, drawn, noise = zip(*draws, strict=True)
    W, b = by_hand(
        small,
        name,
        clock,
        (start.V, start.b),
        drawn,
        order,
        noise,
        lr=0.1,
        n=70,
        m=3,
        local_lr=settings.local_lr,
        entropy=entropy,
    )
    np.testing.assert_allclose(model.V, W, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.b, b, rtol=1e-6, atol=1e-8)
    assert progress[2].objective < progress[1].objective


def test_where_the_bound_is_taken_moves_no_weight(small):
    weights, bounds = [], []
    for place in ("before", "after"):
        settings = SoftmaxAugmentReduceOptions(
            name="ar_softmax", batch_size=70, negatives=3, lr=0.1, bound_at=place
        )
        solver = registry.method_of(settings).build(settings, small.info)
        model = LinearModel(8, 40, True, "float64")
        bounds.append([*solver.fit(small, model, Streams.of(4), [1.0])][-1].objective)
        weights.append(model.V)
    np.testing.assert_array_equal(*weights)
    assert bounds[1] < bounds[0]  # minus the bound


FIVE = {
    "exact": SoftmaxOptions(name="softmax", solver="minibatch"),
    "ove": OneVsEachOptions(name="ove", sampler="others"),
    "ar_softmax": SoftmaxAugmentReduceOptions(name="ar_softmax"),
    "ar_probit": LatentAugmentReduceOptions(name="ar_probit"),
    "ar_logistic": LatentAugmentReduceOptions(name="ar_logistic"),
}


@pytest.mark.parametrize(
    "name, sampling",
    [*((name, "others") for name in FIVE), ("ar_softmax", "frequency"), ("ar_probit", "all")],
)
def test_all_methods_learn_digits_under_one_optimiser(digits, name, sampling):
    settings = replace(FIVE[name], optimizer="ar", init="normal", batch_size=50, lr=0.2)
    if isinstance(settings, SampledOptions):
        settings = replace(settings, negatives=2, sampler=sampling)
    _, trace = fit(digits, settings, epochs=6, checkpoints=2, dtype="float32")
    assert trace.status == "done" and trace.curve["train_error"].iloc[-1] < 0.07
    assert trace.curve["bound"].iloc[2] > trace.curve["bound"].iloc[1]


def test_with_every_class_the_reported_bound_lies_below_the_log_likelihood(digits):
    """Softmax A&R over all classes: below, and after epochs of averaging close."""
    settings = SoftmaxAugmentReduceOptions(
        name="ar_softmax", sampler="all", batch_size=100, lr=0.02, init="normal"
    )
    _, trace = fit(digits, settings, epochs=30, checkpoints=30)
    bound, loss = trace.curve["bound"].iloc[-1], trace.curve["train_log_loss"].iloc[-1]
    assert -loss - 0.1 < bound < -loss


def test_methods_say_their_link():
    links = {name: method.link for name, method in registry.builtin().items()}
    assert links["ar_probit"] == "probit" and links["ar_logistic"] == "logistic"
    none = {name for name, link in links.items() if link is None}
    assert none == {
        "class_sums",
        "cluster_svm",
        "fastxml",
        "gbce",
        "hsm",
        "lml_ovr",
        "lml_tree",
        "logistic_ovr",
        "mach",
        "memoir_l1",
        "memoir_l2",
        "omikuji",
        "one_vs_all",
        "pd_sparse",
        "pfastrexml",
        "plt",
        "pruned_ovr",
        "recall_tree",
        "sce",
        "sgd_ovr",
        "snm",
        "svm_cs",
        "svm_ovr",
    }
    others = links.keys() - none - {"ar_probit", "ar_logistic"}
    assert {links[name] for name in others} == {"softmax"}
