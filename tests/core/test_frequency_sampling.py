"""Samplers that know the data: frequent classes, a group handled exactly, one from outside."""

import numpy as np
import pytest

from xcbench.core import samplers
from xcbench.core.dataset import Dataset, Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import LogOdds, Pairwise
from xcbench.core.objectives.bouchard import one_vs_rest
from xcbench.core.objectives.grouped import Grouped
from xcbench.core.objectives.one_vs_each import one_vs_each
from xcbench.core.objectives.softmax import softmax
from xcbench.core.samplers import GroupFirst, Sampler
from xcbench.core.solvers import Streams
from xcbench.errors import UserError
from xcbench.methods import contract, registry
from xcbench.methods.ove_grouped import GroupedOptions
from xcbench.methods.umax import UmaxOptions
from xcbench.plugins import PluginRef

OVE = Pairwise(one_vs_each, is_bound=True)
EXACT = LogOdds(softmax, is_bound=True)
BOUCHARD = Pairwise(one_vs_rest, is_bound=True, shifted=True)

COUNTS = np.array([50, 0, 8, 8, 20, 1])
ROWS = np.empty(0)  # their numbers play no part


def ready(sampler):
    rows = Split(np.zeros((1, 1)), np.zeros(1, int))
    return sampler.fitted(Dataset(None, rows, rows, COUNTS))


def noise(exponent, y):
    """Probabilities of `frequency` for an observation of class y."""
    q = (COUNTS + 1.0) ** exponent
    q[y] = 0
    return q / q.sum()


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("y", [0, 1, 5])
def test_frequency_draws_classes_with_their_probabilities(exponent, y):
    size = 60_000
    drawn, _ = ready(samplers.make("frequency", 6, 2, exponent)).draw(
        np.random.default_rng(y), ROWS, np.full(size // 2, y), 1
    )
    count, expected = np.bincount(drawn.ravel(), minlength=6), size * noise(exponent, y)
    assert count[y] == 0
    others = np.arange(6) != y
    chi_square = ((count - expected) ** 2 / np.where(others, expected, 1)).sum()
    assert chi_square < 18.5  # 0.1 % point with 4 degrees of freedom


def test_without_smoothing_frequencies_are_the_empirical_ones():
    """A class without a row is never drawn, and its probability is 0 without a warning."""
    empirical = samplers.noise("frequency", smoothing=0.0)
    fitted = empirical.fitted(Dataset(None, None, None, COUNTS))  # type: ignore[arg-type]
    np.testing.assert_allclose(np.exp(fitted.log_all(ROWS)), COUNTS / COUNTS.sum(), atol=1e-15)
    drawn, log_p = fitted.draw(np.random.default_rng(0), np.arange(2000), 3)
    assert (drawn != 1).all()
    np.testing.assert_allclose(np.exp(log_p), (COUNTS / COUNTS.sum())[drawn])


def test_frequency_stays_off_the_true_class_where_all_weight_is_beside_it():
    """Almost all rows are of the true class: its piece is nearly the whole distribution."""
    sampler = samplers.make("frequency", 3, 4).fitted(
        Dataset(None, None, None, np.array([0, 10**9, 0]))  # type: ignore[arg-type]
    )
    y = np.ones(20_000, int)
    drawn, log_weight = sampler.draw(np.random.default_rng(0), ROWS, y, 1)
    assert set(np.unique(drawn)) == {0, 2} and abs((drawn == 0).mean() - 0.5) < 0.02
    np.testing.assert_allclose(np.exp(log_weight), 2 / 4, rtol=1e-6)


@pytest.mark.parametrize("m", [1, 3])
def test_a_draw_of_frequency_stands_for_one_over_its_expected_count(m):
    y = np.random.default_rng(0).integers(0, 6, 500)
    sampler = ready(samplers.make("frequency", 6, m, 0.7))
    drawn, log_weight = sampler.draw(np.random.default_rng(1), ROWS, y, 1)
    q = np.stack([noise(0.7, k) for k in range(6)])
    np.testing.assert_allclose(np.exp(log_weight), 1 / (m * q[y[:, None], drawn]), rtol=1e-9)


@pytest.mark.parametrize("objective", [OVE, BOUCHARD])
def test_the_expected_grad_from_frequency_draws_is_the_grad_over_all_classes(objective):
    """One draw; every class that can be drawn, times its probability."""
    y, alpha = 2, np.full(1, 0.4)
    scores = np.random.default_rng(4).normal(size=(1, 6))
    q, others = noise(1.0, y), [k for k in range(6) if k != y]
    mean, mean_value = np.zeros(6), 0.0
    for k in others:
        weight = np.full((1, 1), -np.log(q[k]))
        result, grad, _ = objective(scores[:, [y, k]], weight, alpha, 0.1, np.ones(1))
        mean[[y, k]] += q[k] * grad[0]
        mean_value += q[k] * result[0]
    whole, grad, _ = objective(scores[:, [y, *others]], 0.0, alpha, 0.1, np.ones(1))
    np.testing.assert_allclose(mean[[y, *others]], grad[0], rtol=1e-12)
    assert mean_value == pytest.approx(whole[0], rel=1e-12)


def test_the_group_is_the_most_frequent_classes_but_the_true_one():
    y = np.arange(6).repeat(400)
    drawn, log_weight = ready(GroupFirst(6, 1, 2)).draw(np.random.default_rng(0), ROWS, y, 1)
    first_two = {0: {4, 2}, 1: {0, 4}, 2: {0, 4}, 3: {0, 4}, 4: {0, 2}, 5: {0, 4}}
    for k, group in first_two.items():
        rows = drawn[y == k]
        assert {frozenset(row) for row in rows[:, :2].tolist()} == {frozenset(group)}
        rest = set(range(6)) - group - {k}
        count = np.array([(rows[:, 2] == c).sum() for c in sorted(rest)])
        assert count.sum() == 400  # nothing else is drawn
        assert ((count - 400 / 3) ** 2 / (400 / 3)).sum() < 13.8  # 0.1 % point, 2 degrees
    assert (log_weight[:, :2] == 0).all()
    np.testing.assert_allclose(np.exp(log_weight[:, 2]), 3)


def test_a_group_and_all_of_the_rest_are_all_classes_once():
    for group in (0, 2, 5, 9):
        drawn, log_weight = ready(GroupFirst(6, 6, group)).draw(None, ROWS, np.arange(6), 1)
        for y, row in enumerate(drawn):
            assert sorted(row) == [k for k in range(6) if k != y]
        assert (log_weight == 0).all()


def test_the_expected_grad_from_drawn_rest_is_the_grad_over_all_classes():
    y, group, scores = 3, 2, np.random.default_rng(5).normal(size=(1, 6))
    order = [0, 4, 2, 1, 5]  # the group, then the rest
    mean = np.zeros(6)
    for k in order[group:]:
        weight = np.array([[0.0, 0.0, np.log(3)]])
        columns = [y, *order[:group], k]
        mean[columns] += Grouped(group)(scores[:, columns], weight, np.zeros(1), 0, None)[1][0] / 3
    columns = [y, *order]
    whole = Grouped(group)(scores[:, columns], 0.0, np.zeros(1), 0, None)[1][0]
    np.testing.assert_allclose(mean[columns], whole, rtol=1e-12)


def test_samplers_without_knowledge_of_the_data_stay_as_they_are():
    others = samplers.make("others", 6, 2)
    assert others.fitted(None) is others


class MostFrequent(Sampler):
    """A sampler from outside that has seen the data: the class of most rows, but for its own."""

    def __init__(self, n_classes, negatives):
        self.n_classes, self.best = n_classes, None

    def fitted(self, dataset):
        made = MostFrequent(self.n_classes, 1)
        made.best = np.argsort(-dataset.class_counts)[:2]
        return made

    def draw(self, rng, rows, y, batch_size):
        drawn = np.where(y == self.best[0], self.best[1], self.best[0])[:, None]
        return drawn, np.log(1.0 + np.arange(len(y)))[:, None]


def test_a_sampler_from_outside_may_see_the_data(small):
    result = PluginRef(MostFrequent, "mine")
    contract.sampler(result, small.info, 1, 1)
    settings = UmaxOptions(name="umax", lr=0.1, init="zero")
    solver = registry.method_of(settings).build(settings, small.info)
    solver.sampler = MostFrequent(8, 1)
    model = LinearModel(8, small.info.features, True, "float64")
    list(solver.fit(small, model, Streams.of(0), [1.0]))
    best = np.argsort(-np.bincount(small.train.y))[:2]
    drawn = [k for k in range(8) if model.b[k] < 0]
    assert drawn and set(drawn) <= set(best)
    with pytest.raises(UserError, match="weighs classes differently, but method nce"):
        contract.sampler(result, small.info, 1, 1, uniform_for="nce")


def test_a_group_has_a_sampler_of_its_own():
    settings = GroupedOptions(name="ove_grouped", sampler="repeat.WithRepetition")
    reason = registry.method_of(settings).impossible(settings)
    assert "method.sampler=others or all" in reason
