"""Tests of many comparisons at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from xcbench.show import effects


def test_one_comparison_is_wilcoxons_test() -> None:
    values = np.random.default_rng(0).normal(0.4, 1, (9, 1))
    exact = stats.wilcoxon(values[:, 0], method="exact").pvalue
    assert effects.jointly(values) == pytest.approx([exact])


@pytest.mark.parametrize("tasks", [7, 12])
def test_joint_tests_lie_between_single_ones_and_holms(tasks: int) -> None:
    rng = np.random.default_rng(tasks)
    for _ in range(5):
        values = rng.normal(rng.normal(0, 1, 6), 1, (tasks, 6)) + rng.normal(size=(tasks, 1))
        single = stats.wilcoxon(values, axis=0, method="exact").pvalue
        joint = effects.jointly(values)
        assert np.all(joint >= single - 1e-12)
        assert np.all(joint <= np.asarray(effects.holm([*single])) + 1e-12)


def test_copies_of_a_comparison_cost_nothing_jointly() -> None:
    values = np.repeat(np.random.default_rng(1).normal(0.8, 1, (10, 1)), 30, axis=1)
    exact = stats.wilcoxon(values[:, 0], method="exact").pvalue
    assert effects.jointly(values) == pytest.approx([exact] * 30)
    assert min(effects.holm([exact] * 30)) == pytest.approx(min(1, 30 * exact))


@pytest.mark.parametrize(
    "noise", [lambda rng, size: rng.normal(size=size), np.random.Generator.standard_cauchy]
)
def test_false_differences_are_as_rare_as_said(noise: Callable[..., np.ndarray]) -> None:
    rng, trials, false = np.random.default_rng(2), 300, 0
    for _ in range(trials):
        losses = noise(rng, size=(8, 6))
        losses[:, 5] += 50  # one method differs: the others' pairs must not profit
        pairs = np.transpose([losses[:, i] - losses[:, j] for i in range(6) for j in range(i)])
        null = [i < 5 for i in range(6) for j in range(i)]
        false += (effects.jointly(pairs)[null] <= 0.05).any()
    assert stats.binomtest(int(false), trials, 0.05, alternative="greater").pvalue > 1e-3


def test_a_group_of_tasks_is_one_change_of_sign() -> None:
    """Of equal differences all 2^g changes of sign but two have a smaller statistic."""
    values = np.ones((6, 1))
    assert effects.jointly(values) == pytest.approx([2 / 2**6])
    assert effects.jointly(values, [*"aabbcc"]) == pytest.approx([2 / 2**3])


def test_many_tasks_draw_their_changes_of_sign() -> None:
    values = np.random.default_rng(3).normal(0.5, 1, (20, 1))
    exact = stats.wilcoxon(values[:, 0], method="exact").pvalue
    drawn = effects.jointly(values)[0]
    error = np.sqrt(exact * (1 - exact) / 2**effects.EXACT)
    assert abs(drawn - exact) <= 4 * error + 2**-effects.EXACT
