"""Theorems of the adversarial-softmax paper against closed forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from xcbench.papers import Measured
from xcbench.papers.adv.theory import equivalence, problem, signal_to_noise, theorems


def test_closed_form_is_the_trace_of_the_matrices() -> None:
    """Eq. 12 with C and H of all positives and negatives, by plain linear algebra."""
    p, q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.1, 0.2, 0.3, 0.4])
    sigma = p / (p + q)  # of log p - log q
    H = np.diag(p * sigma * (1 - sigma) + q * sigma * (1 - sigma))
    C = np.zeros((4, 4))
    for y in range(4):
        for k in range(4):
            g = np.zeros(4)
            g[y] -= 1 - sigma[y]
            g[k] += sigma[k]
            C += p[y] * q[k] * np.outer(g, g)
    inverse, curvature = signal_to_noise.closed_form(p[None], q[None])
    assert inverse == pytest.approx(np.trace(C @ np.linalg.inv(H)), rel=1e-12)
    assert curvature == pytest.approx(np.trace(H), rel=1e-12)
    eigenvalues = np.sort(np.linalg.eigvals(C @ np.linalg.inv(H)).real)
    np.testing.assert_allclose(eigenvalues, [1 - 2 * curvature, 1, 1, 1], atol=1e-12)


def test_measured_ratios_are_the_closed_form() -> None:
    rows = signal_to_noise.measure()["signal_to_noise"].set_index("noise")
    np.testing.assert_allclose(rows["eta"], rows["eta_closed"], rtol=0.03)
    np.testing.assert_allclose(rows["curvature"], rows["curvature_closed"], rtol=0.01)
    K = problem.CLASSES
    assert rows["eta_closed"].between(1 / K, 1 / (K - 1) + 1e-12).all()
    assert rows["eta_closed"].idxmax() == "p_D itself"
    assert rows.loc["adversarial tree", "curvature"] > 1.5 * rows.loc["uniform", "curvature"]


def test_optima_of_free_scores() -> None:
    p_data = problem.data()
    rows = equivalence.measure()["equivalence"].set_index(["model", "noise"])
    free = rows.loc["free scores"]
    assert free["removed"].max() < 1e-6
    for name, p_noise in problem.noises(p_data).items():
        bare = p_data / p_noise  # of e^f, f = log p_D - log p_n
        bare /= bare.sum(axis=1, keepdims=True)
        known = equivalence.distance(bare, p_data)
        assert free.loc[name, "bare"] == pytest.approx(known, abs=1e-6)
    linear = rows.loc["linear"]
    assert linear.loc["p_D itself", "removed"] < 1e-6  # there f = 0 is right
    assert linear.loc["uniform", "removed"] > 1e-3


def test_the_expected_loss_is_an_expectation() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(3), 2)
    scores = rng.normal(size=(2, 3))
    by_hand = (p * np.logaddexp(0, -scores) + q * np.logaddexp(0, scores)).sum()
    loss = equivalence.negative_sampling(p, q)
    value, gradient = loss(scores)
    assert value == pytest.approx(by_hand, rel=1e-12)
    best = minimize(lambda s: loss(s.reshape(2, 3))[0], scores.ravel(), tol=1e-12).x
    np.testing.assert_allclose(best.reshape(2, 3), np.log(p / q), atol=1e-4)
    np.testing.assert_allclose(gradient, q / (1 + np.exp(-scores)) - p / (1 + np.exp(scores)))


def test_eta_is_the_same_in_any_coordinates_and_a_draw_costs_a_path() -> None:
    none = Measured(pd.DataFrame(), pd.DataFrame())
    assert theorems.invariance(none) == [pytest.approx(1, abs=1e-6)]
    assert theorems.cost_of_a_draw(none) == [1.0]
