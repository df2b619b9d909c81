"""The step in the proof of MEMOIR's Theorem 1, worked by hand and at random."""

from __future__ import annotations

import numpy as np
import pytest

from xcbench.papers import Measured
from xcbench.papers.memoir.theory import convergence, hashing, margin_loss


def test_the_printed_step_fails_at_margin_0() -> None:
    # rho 1, eps 1: loss 1 at margin 0; an oracle off by 1 reports margin 1, loss 1 - 1 / 2.
    one = np.ones(1)
    assert margin_loss.ramp(0 * one, one) == 1
    assert margin_loss.ramp(one, 2 * one) == 0.5


NOTHING = Measured(None, None)  # type: ignore[arg-type]


def test_the_step_needs_its_factor() -> None:
    nothing = NOTHING
    assert margin_loss.with_factor(nothing) == [1.0]
    assert margin_loss.as_printed(nothing)[0] < 0.6


def test_inexact_margins_are_as_inexact_as_said() -> None:
    margin, inexact, rho, eps = margin_loss.pairs(3)
    assert (margin <= inexact).all() and (inexact <= margin + eps * rho).all()


# ---------------------------------------------------------------- Theorems 2 and 3
def test_the_optima_are_optima() -> None:
    """Nothing near them is lower, and the objectives are convex."""
    problem = convergence.Problem.drawn(5)
    shape = convergence.CLASSES, convergence.FEATURES
    rng = np.random.default_rng(0)
    for best, f in (
        (convergence.optimum_of_l2(problem, 0.1), lambda W: convergence.of_l2(problem, 0.1, W)),
        (convergence.optimum_of_l1(problem), lambda W: convergence.of_l1(problem, W)),
    ):
        aside = [best + 0.05 * rng.normal(size=shape) for _ in range(50)]
        assert f(best) <= min(map(f, aside))


def test_a_rival_is_as_inexact_as_said_and_no_more() -> None:
    scores = np.array([0.9, 0.5, 1.0, 0.45, -1.0])
    assert convergence.rival(scores, 2, 0.0) == 0
    assert convergence.rival(scores, 2, 0.41) == 1
    assert convergence.rival(scores, 2, 10.0) == 4


def test_theorem_2_holds_and_theorem_3_needs_another_radius() -> None:
    assert convergence.share_of_bound_2(NOTHING)[0] < 1
    assert convergence.length_of_optimum(NOTHING)[0] <= 1
    assert convergence.share_of_bound_3(NOTHING)[0] > 10
    assert convergence.share_of_bound_3_from_optimum(NOTHING)[0] < 1


def test_bound_2_by_hand() -> None:
    # lambda 4, eps 0.5, T 1: (2 + 2.5) / 8 and psi = 1 / 2, as its other part is above 1
    assert convergence.bound_2(4.0, 0.5, 1) == pytest.approx(0.5625 + 0.5)


# ---------------------------------------------------------------- Eq. 9
def test_eq_9_needs_arccos_and_its_exponent_is_rho() -> None:
    assert abs(hashing.farthest_share(NOTHING, hashing.equal_bits)[0]) < 0.01
    assert abs(hashing.farthest_share(NOTHING, hashing.as_printed)[0]) > 0.3
    assert hashing.exponent(NOTHING)[0] == pytest.approx(hashing.RHO, abs=0.1)
    assert (hashing.queries()["recall"] > 0.4).all()


def test_planted_vectors_have_their_inner_products() -> None:
    inner = np.array([0.9, 0.45, -0.3])
    x, w = hashing.pair(np.random.default_rng(1), inner)
    np.testing.assert_allclose(w @ x, inner, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1)
