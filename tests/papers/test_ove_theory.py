"""Statements of the one-vs-each paper as numbers, and that these can fail."""

import numpy as np
import pandas as pd
import pytest

from xcbench.papers import Measured
from xcbench.papers.ove import theory

NONE = Measured(pd.DataFrame(), pd.DataFrame())


def test_the_product_of_two_softmaxes_lies_between() -> None:
    assert abs(theory.between_one_vs_each_and_softmax(NONE)[0]) < 1e-9


def test_bouchards_bound_doubles_the_log_frequencies() -> None:
    assert theory.doubled_frequencies(NONE) == [pytest.approx(2, abs=1e-4)]
    best = np.array([2 * np.log(3), np.log(3)])  # of shares 3 : 1, alpha in the middle
    share = np.array([0.75, 0.25])
    there = theory._minus_bouchard(best, share)
    for step in 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert theory._minus_bouchard(best + step, share) > there
