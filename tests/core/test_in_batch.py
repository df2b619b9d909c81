"""Labels of a minibatch as negatives: what is drawn, weights, and what their sums estimate."""

from __future__ import annotations

import numpy as np
import pytest

from xcbench.core.dataset import Dataset, Split
from xcbench.core.objectives import LogOdds
from xcbench.core.objectives.softmax import softmax
from xcbench.core.samplers import InBatch
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.options import InBatchOptions, SampledOptions

COUNTS = np.array([50, 3, 8, 0, 20, 19])
Y = np.repeat(np.arange(6), COUNTS)
K, N = len(COUNTS), len(Y)


def ready(correction: str = "new", mix: float = 0.0) -> InBatch:
    rows = Split(np.zeros((N, 1)), Y)
    return InBatch(K, 5, correction, mix).fitted(
        Dataset(None, rows, rows, COUNTS)  # type: ignore[arg-type]
    )


def of_batches(sampler: InBatch, batch: int, batches: int, seed: int = 0):
    """Classes and log-weights of the first rows of minibatches of a shuffled order."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.choice(N, batch, replace=False) for _ in range(batches)])
    drawn, log_weight = sampler.draw(rng, rows, Y[rows], batch)
    return Y[rows], drawn, log_weight


def test_negatives_are_the_labels_of_the_other_rows() -> None:
    y = np.array([0, 1, 2, 0, 4, 5, 4])
    drawn, log_weight = ready().draw(np.random.default_rng(0), np.arange(7), y, 4)
    assert drawn[:4].tolist() == [[1, 2, 0], [0, 2, 0], [0, 1, 0], [0, 1, 2]]
    assert np.isneginf(log_weight[:4]).tolist() == [
        [False, False, True],  # row 0 has the label of row 3
        [False] * 3,
        [False] * 3,
        [True, False, False],
    ]
    short = [[False, True, True], [False, False, True], [True, False, True]]
    assert np.isneginf(log_weight[4:]).tolist() == short


@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_sums_over_the_other_classes_are_unbiased(mix: float) -> None:
    """E[sum of weight e^f over draws] is the sum over k != y, over 10^5 batches; 3 is in it."""
    f = np.random.default_rng(1).normal(size=K)
    y, drawn, log_weight = of_batches(ready("new", mix), 6, 100_000)
    some = ~np.isneginf(log_weight).all(axis=1)
    estimate = np.exp(f[drawn] + log_weight).sum(axis=1)
    for k in range(K):
        rows = (y == k) & some
        exact = np.exp(f).sum() - np.exp(f[k]) - (0 if mix else np.exp(f[3]))
        if rows.any():
            error = estimate[rows].std() / np.sqrt(rows.sum() / 6)  # rows of a batch share draws
            assert abs(estimate[rows].mean() - exact) < 4 * error, k


@pytest.mark.parametrize("correction", ["old", "none"])
@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_the_bias_of_the_others_is_their_formula(correction: str, mix: float) -> None:
    f = np.random.default_rng(2).normal(size=K)
    y, drawn, log_weight = of_batches(ready(correction, mix), 6, 60_000)
    estimate = np.exp(f[drawn] + log_weight).sum(axis=1)
    S, q = drawn.shape[1], (1 - mix) * COUNTS / N + mix / K
    for k in np.unique(y):
        others = (np.arange(K) != k) & (q > 0)
        weight = q[k] if correction == "old" else q[others]
        exact = S * (weight * np.exp(f[others])).sum()
        rows = y == k
        error = estimate[rows].std() / np.sqrt(rows.sum() / 6)
        assert abs(estimate[rows].mean() - exact) < 4 * error + 0.02 * exact, k


@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_draws_have_their_probabilities(mix: float) -> None:
    """Chi-square of one label, and one uniform draw, of every batch, given that they are not y."""
    y, drawn, _ = of_batches(ready("new", mix), 6, 60_000, seed=3)
    y, drawn = y[::6], drawn[::6]
    for column, p in ((0, COUNTS / N), *([(-1, np.full(K, 1 / K))] if mix else [])):
        for k in (0, 4):
            of = drawn[y == k, column]
            of = of[of != k]
            expected = np.where(np.arange(K) == k, 0, p) * len(of) / (1 - p[k])
            count = np.bincount(of, minlength=K)
            possible = expected > 0
            assert (count[~possible] == 0).all()
            chi_square = ((count - expected)[possible] ** 2 / expected[possible]).sum()
            assert chi_square < 18.5  # 0.1 % point with 4 degrees of freedom


def test_the_new_correction_is_the_gradient_of_its_paper() -> None:
    """-(1 - P_y) d/df (f_y - log sum_j e^{f_j - log p_j}), P_y the estimate with the true class."""
    y, drawn, log_weight = of_batches(ready(), 6, 4)
    scores = np.random.default_rng(4).normal(size=(len(y), 6))
    objective = LogOdds(softmax, is_bound=False)
    _, grad, _ = objective(scores, log_weight, np.zeros(len(y)), 0.1, np.ones(len(y)))
    for row in range(len(y)):
        left = drawn[row] != y[row]
        p = COUNTS[drawn[row]] / (N - COUNTS[y[row]])
        terms = np.where(left, np.exp(scores[row, 1:]) / np.where(left, p, 1), 0)
        true = np.exp(scores[row, 0])
        share = true / (true + terms.sum() / left.sum())
        np.testing.assert_allclose(grad[row, 0], share - 1, rtol=1e-12)
        np.testing.assert_allclose(grad[row, 1:], (1 - share) * terms / terms.sum(), rtol=1e-12)


def test_the_old_correction_is_softmax_over_the_batch_with_every_score_corrected() -> None:
    y, drawn, log_weight = of_batches(ready("old"), 6, 4)
    scores = np.random.default_rng(5).normal(size=(len(y), 6))
    value, _, _ = LogOdds(softmax, is_bound=False)(
        scores, log_weight, np.zeros(len(y)), 0.1, np.ones(len(y))
    )
    for row in range(len(y)):
        left = np.concatenate([[True], drawn[row] != y[row]])
        classes = np.concatenate([[y[row]], drawn[row]])[left]
        corrected = scores[row][left] - np.log(COUNTS[classes] / N)
        assert value[row] == pytest.approx(np.log(np.exp(corrected).sum()) - corrected[0])


def test_a_batch_of_one_is_refused(digits) -> None:
    settings = SampledOptions(name="css", sampler="in_batch", batch_size=1)
    with pytest.raises(UserError, match=r"set method\.batch_size"):
        registry.check(registry.method_of(settings), settings, digits.info)


def test_options_reach_the_sampler(digits) -> None:
    settings = SampledOptions(name="css", sampler="in_batch", in_batch=InBatchOptions("old", 0.25))
    made = registry.method_of(settings).sampler(settings, digits.info)
    assert (made.log_q, made.mix, made.correction) == ("old", 0.25, None)
