"""The statistics of the board: ranks, tests, intervals, regrets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from xcbench.board import comparisons, conclusions, page, protocol, results
from xcbench.board.results import Board
from xcbench.show.effects import Effect

PROTOCOL = protocol.read()


def test_a_conclusion_survives_where_it_holds_on_all_tasks() -> None:
    tasks = TASKS[:4]
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 4, tasks) == "survives"
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 3, tasks) == "survives on average"
    assert conclusions.verdict(Effect(-1, -2, -0.5, 5), 0, tasks) == "does not survive"
    assert conclusions.verdict(Effect(-1, -2, -0.5, 5), 1, tasks) == "does not survive on average"
    assert conclusions.verdict(Effect(1, -0.5, 2.5, 5), 3, tasks) == "undecided"
    assert conclusions.verdict(Effect(1, 0.01, 1.99, 5), 3, tasks) == "undecided"  # by its draws
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 1, ["a"]) == "too few datasets"
    same = ["bibtex", "bibtex-labels"]
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 2), 2, same) == "too few datasets"


TASKS = ("a", "b", "c", "d", "e", "f", "g", "h")


def board_of(losses: dict[str, list[list[float]]], validated: dict[str, list[float]]) -> Board:
    """A board of log losses by method: tasks × seeds; and of validation losses by task."""
    rows = [
        {"task": task, "method": method, "seed": seed, "role": results.RANKED,
         "test_log_loss": loss, "accuracy": 1 / loss, "validation_log_loss": validated[method][at],
         "validation_accuracy": 1 / validated[method][at]}
        for method, table in losses.items()
        for at, (task, line) in enumerate(zip(TASKS, table, strict=False))
        for seed, loss in enumerate(line)
    ]  # fmt: skip
    finals, nothing = pd.DataFrame(rows), pd.DataFrame()
    names = TASKS[: finals["task"].nunique()]
    tasks = {name: protocol.Task(name, (), held_out=name == "h") for name in names}
    known = replace(PROTOCOL, tasks=tasks)
    return Board(known, {"runs": finals}, nothing, finals, nothing, nothing)


def a_board() -> Board:
    """Eight tasks: `good` wins seven times by ever more, `bad` is always behind both."""
    base = np.arange(1.0, 9.0)
    good, fair = base.copy(), base + np.arange(1, 9) / 10
    good[0] = 1.15  # the smallest difference of all is against it: fair has 1.1
    losses = {"good": good, "fair": fair, "bad": base + 3}
    return board_of(
        {name: [[it, it] for it in line] for name, line in losses.items()},
        {"good": [*good], "fair": [*fair], "bad": [*(base + 3)]},
    )


def test_methods_are_compared_with_the_leader_by_signed_ranks() -> None:
    ranked = comparisons.ranked(a_board())
    ranked = ranked[ranked["measure"] == "test_log_loss"].set_index("method")
    assert dict(ranked["average rank"]) == {"good": 9 / 8, "fair": 15 / 8, "bad": 3}
    # Of 2^8 signs, one has no rank against the leader, one the rank 1: twice 1 and 2 of 256.
    assert ranked.loc["bad", "p"] == pytest.approx(2 / 256)
    assert ranked.loc["fair", "p"] == pytest.approx(4 / 256)
    assert ranked.loc["bad", "p by Holm"] == pytest.approx(4 / 256)
    assert ranked.loc["fair", "p by Holm"] == pytest.approx(4 / 256)
    assert dict(ranked["result"]) == {"good": "leader", "fair": "behind", "bad": "behind"}
    # Of 2^8 joint signs, two give the largest statistic to pairs that differ the same way on each
    # task, and two to the pair that differs the other way on one.
    assert comparisons.decided_pairs(a_board(), "test_log_loss") == (3, 3, 3, 4 / 256)


def test_a_task_is_measured_without_a_method_that_is_not_installed_any_more() -> None:
    names = [*PROTOCOL.tasks][:2]
    rows = pd.DataFrame({"task": [names[0]] * 3 + [names[1]] * 2, "method": [*"ABCAB"]})
    rows["method"] = rows["method"].map({"A": "ove", "B": "umax", "C": "gone"})
    rows["seed"] = 0
    board = replace(a_board(), protocol=PROTOCOL, rows={"runs": rows})
    assert board.measured == names
    assert replace(board, rows={"runs": rows[1:]}).measured == names[1:]


def test_too_few_tasks_tell_nothing_apart() -> None:
    board = board_of({"a": [[1.0], [1.0]], "b": [[2.0], [3.0]]}, {"a": [1, 1], "b": [2, 2]})
    ranked = comparisons.ranked(board)
    assert set(ranked["result"]) == {"leader", "no difference found"}
    log_loss = ranked[ranked["measure"] == "test_log_loss"]
    words = page.leading(board, "test_log_loss", log_loss)
    assert "(by Holm none of 1 can be, on 2 tasks)" in words
    assert "(none can be: a pair that differs the same way on each task has p = 0.5)" in words
    ranked = comparisons.ranked(a_board())
    log_loss = ranked[ranked["measure"] == "test_log_loss"]
    assert "by Holm" not in page.leading(a_board(), "test_log_loss", log_loss)


def test_a_method_without_a_number_ranks_last_and_has_no_test() -> None:
    losses = {"a": [[1.0], [2.0]], "b": [[2.0], [np.nan]], "c": [[3.0], [1.0]]}
    board = board_of(losses, {name: [1.0, 1.0] for name in losses})
    ranked = comparisons.ranked(board)
    ranked = ranked[ranked["measure"] == "test_log_loss"].set_index("method")
    assert dict(ranked["average rank"]) == {"a": 1.5, "c": 2.0, "b": 2.5}
    assert np.isnan(ranked.loc["b", "p"]) and ranked.loc["b", "result"] == "not tested"
    assert dict(ranked["tasks"]) == {"a": 2, "c": 2, "b": 1}
    words = page.leading(board, "test_log_loss", ranked.reset_index())
    assert "0 of the 1 other tested are behind it (by Holm none of 1 can be" in words
    assert "Without a number on a task, where they rank last, and not tested: `b`." in words


def test_an_interval_is_over_tasks_and_seeds_together() -> None:
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=(30, 3)))
    values.index = values.index.map("data{}".format)
    found = comparisons.interval(values)
    assert found.mean == pytest.approx(values.to_numpy().mean())
    # Means of tasks and, within them, of seeds drawn again: variances of both add up.
    means = values.mean(axis="columns")
    within = values.var(axis="columns", ddof=0).mean() / 3
    error = np.sqrt((means.var(ddof=0) + within) / 30)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.08)
    assert comparisons.interval(values * 0 + 1).low == 1


def test_other_draws_of_a_bootstrap_move_its_ends_by_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By half of what a verdict leaves undecided, as a standard error."""
    values = pd.DataFrame(np.random.default_rng(2).normal(size=(12, 3)))
    values.index = values.index.map("data{}".format)
    draw = np.random.default_rng
    ends = []
    for seed in range(20):
        monkeypatch.setattr(np.random, "default_rng", lambda _, seed=seed: draw(seed))
        found = comparisons.interval(values)
        ends.append((found.low, found.high))
    errors, width = np.std(ends, axis=0), np.diff(np.mean(ends, axis=0))[0]
    assert (2 * errors < 1.5 * conclusions.DRAWN * width).all()


def test_tasks_of_a_dataset_are_drawn_together() -> None:
    """Two tasks of each dataset with the same numbers tell no more than one of each."""
    rng = np.random.default_rng(1)
    values = pd.DataFrame(rng.normal(size=(20, 1)).repeat(3, axis=1))
    values.index = values.index.map("data{}".format)
    twice = pd.concat([values, values.rename("{}-labels".format)])
    named_apart = twice.rename(lambda task: task.replace("-", "_"))
    one, both, apart = map(comparisons.interval, (values, twice, named_apart))
    assert both.high - both.low == pytest.approx(one.high - one.low, rel=0.08)
    assert apart.high - apart.low == pytest.approx((one.high - one.low) / np.sqrt(2), rel=0.08)


def test_ranks_on_other_tasks_are_held_against_those_held_out() -> None:
    predicted = comparisons.predicted(a_board()).set_index("measure")
    assert (predicted["task"] == "h").all() and (predicted["other tasks"] == 7).all()
    assert dict(predicted["tau"]) == {"test_log_loss": 1, "accuracy": 1}


def test_the_regret_of_advice_is_counted_on_test_rows() -> None:
    losses = {"a": [[1.0], [1.0], [5.0]], "b": [[2.0], [3.0], [2.0]]}
    validated = {"a": [1.0, 4.0, 4.0], "b": [2.0, 3.0, 5.0]}
    regrets = comparisons.regrets(board_of(losses, validated))
    regrets = regrets[regrets["measure"] == "test_log_loss"].set_index("task")
    assert list(regrets["tried"]) == ["a", "b", "a"] and list(regrets["regret"]) == [0, 2, 3]
    assert regrets.loc["b", "untried"] == "a" and regrets.loc["b", "regret untried"] == 0


def test_equal_recommendations_have_their_mean_regret() -> None:
    """Means of the same accuracies in another order differ by rounding, and are ties."""
    validated = {"a": [0.1 + 0.2, 1.0], "b": [0.3, 2.0], "c": [0.9, 3.0]}
    losses = {"a": [[1.0], [1.0]], "b": [[2.0], [2.0]], "c": [[1.0 + 1e-9], [3.0]]}
    board = board_of(losses, validated)
    regrets = comparisons.regrets(board)
    first = regrets[regrets["measure"] == "test_log_loss"].iloc[0]
    assert (first["tried"], first["regret"], first["best"]) == ("a, b", 0.5, "a, c")
    ranks = comparisons.ranked(board).set_index(["measure", "method"])["average rank"]
    assert ranks["test_log_loss", "a"] == 1.25  # 1.5 with c, and 1
