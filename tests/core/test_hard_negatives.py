"""The hardest of the draws: which they are, limits, finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from xcbench.core.objectives import LogOdds, Pairwise
from xcbench.core.objectives.hard_negatives import Hardest
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax

INNER = {"softmax": LogOdds(softmax, False), "logistic": Pairwise(one_vs_each, False)}


def of(objective, scores, log_weight=0.0):
    return objective(scores, log_weight, np.zeros(len(scores)), 0.1, np.ones(len(scores)))


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 8))


@pytest.mark.parametrize("loss", INNER)
def test_all_of_the_draws_are_the_plain_method(loss: str, scores) -> None:
    for top in (7, 50):
        for one, other in zip(
            of(Hardest(INNER[loss], top), scores, 1.3), of(INNER[loss], scores), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("loss", INNER)
@pytest.mark.parametrize("top", [1, 3])
def test_the_rest_counts_nothing(loss: str, top: int, scores) -> None:
    ordered = np.column_stack([scores[:, 0], -np.sort(-scores[:, 1:], axis=1)])
    value, grad, _ = of(Hardest(INNER[loss], top), ordered, np.log(5.0))
    of_few, grad_of_few, _ = of(INNER[loss], ordered[:, : 1 + top])
    np.testing.assert_allclose(value, of_few, rtol=1e-12)
    np.testing.assert_allclose(grad[:, : 1 + top], grad_of_few, rtol=1e-12)
    assert (grad[:, 1 + top :] == 0).all()


@pytest.mark.parametrize("loss", INNER)
def test_grad_is_the_gradient_of_the_value(loss: str, scores) -> None:
    objective = Hardest(INNER[loss], 3)
    grad = of(objective, scores)[1]
    for column in range(scores.shape[1]):
        aside = 1e-6 * (np.arange(scores.shape[1]) == column)
        central = (of(objective, scores + aside)[0] - of(objective, scores - aside)[0]) / 2e-6
        np.testing.assert_allclose(grad[:, column], central, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", INNER)
def test_draws_that_are_left_out_are_never_the_hardest(loss: str, scores) -> None:
    scores[:, 1] = 100.0
    mask = np.where(np.arange(7) == 0, -np.inf, 0.4) * np.ones((40, 1))
    value, grad, _ = of(Hardest(INNER[loss], 2), scores, mask)
    expected, _, _ = of(Hardest(INNER[loss], 2), np.delete(scores, 1, axis=1))
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert (grad[:, 1] == 0).all()
    nothing = of(Hardest(INNER[loss], 2), scores, np.full((40, 7), -np.inf))
    assert (nothing[1] == 0).all()
