"""The step in the proof of MEMOIR's Theorem 1, worked by hand and at random."""

from __future__ import annotations

import numpy as np

from xcbench.papers import Measured
from xcbench.papers.memoir import theory


def test_the_printed_step_fails_at_margin_0() -> None:
    # rho 1, eps 1: loss 1 at margin 0; an oracle off by 1 reports margin 1, loss 1 - 1 / 2.
    one = np.ones(1)
    assert theory.ramp(0 * one, one) == 1
    assert theory.ramp(one, 2 * one) == 0.5


def test_the_step_needs_its_factor() -> None:
    nothing = Measured(None, None)  # type: ignore[arg-type]
    assert theory.with_factor(nothing) == [1.0]
    assert theory.as_printed(nothing)[0] < 0.6


def test_inexact_margins_are_as_inexact_as_said() -> None:
    margin, inexact, rho, eps = theory.pairs(3)
    assert (margin <= inexact).all() and (inexact <= margin + eps * rho).all()
