"""The board: its search, its statistics, and what rests on them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

from xcbench.board import advice, comparisons, conclusions, limits, page, protocol, results, tuning
from xcbench.board.advice import Needs
from xcbench.board.comparison import Comparison
from xcbench.board.launch import Launch
from xcbench.board.results import Board
from xcbench.cli import advise
from xcbench.committed.results_cache import ResultsCache
from xcbench.config.settings import Config
from xcbench.core.dataset import Dataset, Info, LabelSets, Split
from xcbench.methods import registry
from xcbench.methods.method import default_rate
from xcbench.plan import planning, sweeps
from xcbench.show import charts, pictures
from xcbench.show.effects import Effect
from xcbench.store import cells
from xcbench.store.ordering import best_of_each
from xcbench.train.clock import Stopwatch

PROTOCOL = protocol.read()


def small_info() -> Info:
    return Info("small", "0", False, 100, 10, 20, 8, True, 5.0, 1.0, 1.0, 0.5, 0.3, 2.0, 0.7)


def drawn(name: str, study: int = 0) -> list[Config]:
    method = registry.find(name).thing
    settings = Config(method=method.schema(name=name))
    points = tuning.drawn(PROTOCOL, settings, small_info(), study)
    return [tuning.with_options(settings, point) for point in points]


@pytest.mark.parametrize("name", ["umax", "ove", "softmax", "svm_ovr", "fastxml", "memoir_l1"])
def test_methods_have_the_same_number_of_trials_and_the_first_is_the_default(name: str) -> None:
    points = [point.method for point in drawn(name)]
    assert len(points) == PROTOCOL.trials
    assert points[0] == registry.find(name).thing.schema(name=name)
    assert len({repr(point) for point in points}) == len(points)


def test_rates_lie_around_the_default_one_and_decay_within_its_range() -> None:
    umax = registry.find("umax").thing
    centre = default_rate(umax, umax.schema(name="umax"), small_info())
    for point in drawn("umax")[1:]:
        assert abs(np.log10(point.method.lr / centre)) <= PROTOCOL.rate_decades + 0.01
        assert PROTOCOL.decay[0] <= point.method.l2 <= PROTOCOL.decay[1]


def test_all_methods_share_places_and_each_search_has_its_own() -> None:
    one, other = (tuning.drawn(PROTOCOL, drawn("umax")[0], small_info(), study) for study in (0, 1))
    ove = tuning.drawn(PROTOCOL, drawn("ove")[0], small_info(), 0)
    assert [point.get("l2") for point in one] == [point.get("l2") for point in ove]
    assert not {point["l2"] for point in one[1:]} & {point["l2"] for point in other[1:]}


def measured(
    method: str,
    losses: Callable[[Config], float],
    status: str = "done",
    speed: float = 1000.0,
    begins: float = 0.0,
) -> list[tuple[str, list[Config]]]:
    """Parts and configurations that a method on digits runs, where they have these losses."""
    launched = []

    def run(part: str, settings: Sequence[Config]) -> ResultsCache:
        launched.append((part, list(settings)))
        points = [
            {"cell": str(i), "status": status, "lr": it.method.lr, "method.l2": it.method.l2}
            for i, it in enumerate(settings)
        ]
        curves = [
            {
                "cell": str(i),
                "validation_log_loss": loss,
                "epoch": at * speed,
                "train_seconds": begins + at,
            }
            for i, it in enumerate(settings)
            for at, loss in enumerate((9.0, losses(it)))
        ]
        return ResultsCache(pd.DataFrame(points), pd.DataFrame(curves))

    with sweeps.hydra({}):
        conditions = protocol.Conditions(PROTOCOL, {})
        tuning.Measurement(conditions, PROTOCOL.tasks["digits"], method, run).measure()
    return launched


def test_the_best_third_of_a_search_goes_on_and_its_best_point_is_final() -> None:
    launched = measured("umax", lambda it: abs(it.method.l2 - 0.1) + it.budget.seconds)
    assert [(part, len(cells)) for part, cells in launched] == [
        ("tuning", 1), ("tuning", 12), ("tuning", 4), ("tuning", 12), ("tuning", 4), ("runs", 3)
    ]  # fmt: skip
    final = launched.pop()[1]
    del launched[0]
    for study in (0, 1):
        (_, first), (_, second) = launched[2 * study : 2 * study + 2]
        nearest = sorted((it.method.l2 for it in first), key=lambda l2: abs(l2 - 0.1))
        assert [it.method.l2 for it in second] == nearest[:4]
        assert {it.budget.seconds for it in first} == {1} and {it.seed for it in first} == {study}
        assert {it.budget.seconds for it in second} == {4}
        taken = [it.method.l2 for it in final if it.seed % 2 == study]
        assert set(taken) == {nearest[0]}
    assert [it.seed for it in final] == [0, 1, 2]
    assert all(it.budget.seconds == 60 and it.budget.patience == 2 for it in final)


@pytest.mark.parametrize("method", ["umax", "memoir_l2"])
def test_cells_make_the_passes_that_fit_their_seconds(method: str) -> None:
    (_, (trial,)), *others = measured(method, lambda it: 1.0, speed=2.0)
    assert trial.budget.seconds == 0.5 and trial.budget.epochs == 1000
    passes = {(it.budget.seconds, it.budget.epochs) for _, cells in others for it in cells}
    assert passes == {(1, 1.6), (4, 6.4), (60, 96)}  # 0.8 of what the speed of 2 allows
    fast = [it for _, cells in measured(method, lambda it: 1.0, speed=1e4)[1:] for it in cells]
    assert {it.budget.epochs for it in fast} == {1000}


def test_a_training_that_begins_late_has_a_longer_trial_of_its_pace() -> None:
    first, second, *others = measured("negative_sampling", lambda it: 1.0, speed=0.0)
    assert [it.budget.seconds for _, (it,) in (first, second)] == [0.5, 5.5]
    assert {it.budget.epochs for _, cells in others for it in cells} == {1000}


def seconds_of(launched: list[tuple[str, list[Config]]]) -> list[tuple[float, float]]:
    """Seconds and passes of the cells of each launch after that of the pace."""
    cells = [some[0].budget for _, some in launched[1:]]
    return [(it.seconds, it.epochs) for it in cells if it.seconds]


def test_trials_last_longer_by_what_is_set_up_first() -> None:
    """Passes fill 0.8 of what is left; a tree of 1.3 s takes two whole seconds."""
    launched = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=1.3)
    search = [(3, 1.6), (6, 6.4)]
    assert seconds_of(launched) == [*search, *search, (60, 92.8)]
    soon = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=0.15)
    assert seconds_of(soon)[0] == (1, 1.6)
    for begins in (11.5, 14.5, 70.0):  # more than a quarter of the final seconds, or than all
        late = measured("negative_sampling", lambda it: 1.0, speed=2.0, begins=begins)
        assert [seconds for seconds, _ in seconds_of(late)] == [1, 4, 1, 4, 60]
        assert all(passes > 0 for _, passes in seconds_of(late))


@pytest.mark.parametrize(("speed", "seconds"), [(10.0, (1, 4)), (0.3, (7,)), (0.1, (1, 4))])
def test_a_library_makes_all_of_its_passes_in_a_trial_if_they_fit(
    speed: float, seconds: tuple[float, ...]
) -> None:
    """All classes take 0.1 s, 3.3 s and 10 s; twice that fits a quarter of 60 s, or does not."""
    launched = measured("svm_ovr", lambda it: 1.0, speed=speed)
    trials = [12, 4][: len(seconds)]  # equal rungs are one
    assert [len(cells) for _, cells in launched] == [1, *trials, *trials, 3]
    assert seconds_of(launched) == [(it, 1000) for it in (*seconds, *seconds, 60)]


def test_a_trial_too_short_to_train_has_no_number() -> None:
    rows = pd.DataFrame({"cell": ["a", "b"], "status": "timeout", "lr": [0.1, 0.2]})
    curves = pd.DataFrame(
        {"cell": list("aab"), "epoch": [0, 1, 0], "validation_log_loss": [1.0, 3.0, 1.0]}
    )
    assert tuning.best_points(rows, curves, False) == [{"lr": 0.1}]


def test_rates_of_plain_steps_alone_fall_in_a_line() -> None:
    for method, schedule in (("umax", "linear"), ("ar_softmax", "geometric")):
        cells = [it for _, some in measured(method, lambda it: 1.0) for it in some]
        assert {it.method.lr_schedule for it in cells} == {schedule}


def test_a_method_whose_trials_are_ended_runs_at_its_defaults() -> None:
    part, cells = measured("umax", lambda it: 1.0, status="failed").pop()
    defaults = registry.find("umax").thing.schema(name="umax", lr_schedule="linear")
    assert part == "runs" and [it.method for it in cells] == 3 * [defaults]


def test_cells_that_their_limit_ends_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "isolated", lambda run: -signal.SIGXCPU)
    with sweeps.hydra({}):
        conditions = protocol.Conditions(PROTOCOL, {"runs_dir": str(tmp_path)})
        trials = [conditions.trial(PROTOCOL.tasks["digits"], "umax", seed, 1.0) for seed in (0, 1)]
    jobs = planning.jobs(trials)
    assert Launch(PROTOCOL, tmp_path, {})._execute(jobs) == 0
    for job in jobs:
        cell = cells.usable(tmp_path, job.cell.cell)
        assert cell is not None and cell.status == "failed"
        assert cell.message == "ended: these cells took more than 40 processor seconds"  # 20 × 2


def test_exact_softmax_takes_ever_less_decay_while_that_helps() -> None:
    launched = measured("softmax", lambda it: abs(np.log10(it.method.l2) + 1))
    assert [[it.method.l2 for it in cells] for _, cells in launched] == [
        [10], [3], [1], [0.3], [0.1], [0.03], [0.1], [0.1]
    ]  # fmt: skip
    assert [it.seed for _, cells in launched for it in cells] == [0, 0, 0, 0, 0, 0, 1, 2]
    assert all(it.budget.seconds is None for _, cells in launched for it in cells)


def test_a_training_that_cannot_be_stopped_runs_once_at_its_defaults() -> None:
    ((part, cells),) = measured("class_sums", lambda it: 1.0)
    assert (part, len(cells)) == ("runs", 1) and cells[0].budget.patience is None


def test_early_stopping_takes_the_first_best_checkpoint_of_every_cell() -> None:
    curves = pd.DataFrame(
        {"cell": list("aaabb"), "validation_error": [0.5, 0.2, 0.2, 0.1, 0.3], "n": range(5)}
    )
    assert best_of_each(curves, "validation_error", "cell")["n"].tolist() == [1, 3]


def test_what_a_model_was_before_training_is_no_result() -> None:
    curves = pd.DataFrame(
        {"cell": list("aaab"), "epoch": [0, 1, 2, 0], "validation_log_loss": [1.0, 3.0, 2.0, 5.0]}
    )
    chosen = tuning.stopped(curves, "validation_log_loss").set_index("cell")["epoch"]
    assert chosen.to_dict() == {"a": 2, "b": 0}  # b is not trained at all


def test_a_front_has_whom_nobody_dominates() -> None:
    rng = np.random.default_rng(1)
    cost, quality = (pd.Series(rng.integers(0, 8, 30)) for _ in range(2))
    dominated = [
        any((cost[j] <= cost[i]) and (quality[j] >= quality[i])
            and (cost[j] < cost[i] or quality[j] > quality[i]) for j in cost.index)
        for i in cost.index
    ]  # fmt: skip
    entries = pd.DataFrame({"train_seconds": cost, "accuracy": quality})
    front = charts.pareto_front(entries, "train_seconds", "accuracy")
    assert not any(dominated[i] for i in front)
    points = {(cost[i], quality[i]) for i in cost.index if not dominated[i]}
    assert {(cost[i], quality[i]) for i in front} == points


def test_a_front_begins_at_the_cheapest_even_if_it_is_never_right() -> None:
    entries = pd.DataFrame({"model_mib": [1.0, 2.0, 3.0], "accuracy": [0.0, 0.0, 0.5]})
    assert list(charts.pareto_front(entries, "model_mib", "accuracy")) == [0, 2]


def test_a_conclusion_survives_where_it_holds_on_all_tasks() -> None:
    tasks = TASKS[:4]
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 4, tasks) == "survives"
    assert conclusions.verdict(Effect(1, 0.5, 1.5, 5), 3, tasks) == "survives on average"
    assert conclusions.verdict(Effect(-1, -2, -0.5, 5), 0, tasks) == "does not survive"
    assert conclusions.verdict(Effect(-1, -2, -0.5, 5), 1, tasks) == "does not survive on average"
    assert conclusions.verdict(Effect(1, -0.5, 2.5, 5), 3, tasks) == "undecided"
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
    assert comparisons.decided_pairs(a_board(), "test_log_loss") == (3, 3, 3)


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
    assert "(by Holm none of 1 can be, on 2 tasks)" in page.leading(
        board, "test_log_loss", log_loss
    )
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


@pytest.mark.parametrize("task", PROTOCOL.tasks.values(), ids=lambda task: task.name)
def test_a_tasks_name_begins_with_its_dataset(task: protocol.Task) -> None:
    assert task.words[0] == f"dataset={protocol.dataset(task.name)}"


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


def test_advice_takes_the_fastest_of_those_about_as_good() -> None:
    table = pd.DataFrame(
        {
            "method": ["slow", "fast", "bad", "sure"],
            "accuracy": [0.9, 0.895, 0.5, 0.8],
            "test_log_loss": [np.nan, np.nan, np.nan, 0.4],
            "train_seconds": [9.0, 1.0, 0.1, 2.0],
            "model_mib": 1.0,
            "row_seconds": 1e-6,
        }
    )
    chosen = {
        "fast": Needs(),
        "sure": Needs(probabilities=True),
        "bad": Needs(seconds=0.5),
    }
    for name, needs in chosen.items():
        result = advice.choice(table, needs)
        assert result is not None and result["method"] == name
    assert advice.choice(table, Needs(mib=0.1)) is None
    equal = table.assign(accuracy=0.9, test_log_loss=[np.nan, 0.5, 0.3, 0.4], train_seconds=1.0)
    best = advice.choice(equal, Needs())
    assert best is not None and best["method"] == "bad"  # of the lowest log loss


def test_advice_asks_first_whom_the_board_ranks_best_in_its_shortest_time(tmp_path: Path) -> None:
    assert advise._order(tmp_path, Needs())[0] == min(advise._order(tmp_path, Needs()))
    (tmp_path / "board").mkdir()
    rows = [
        ("a", "umax", 1, 0.9, 2.0), ("a", "ove", 1, 0.8, 1.0), ("a", "svm_ovr", 1, 0.95, np.nan),
        ("b", "umax", 1, 0.9, 2.0), ("b", "ove", 1, 0.8, 1.0), ("b", "svm_ovr", 60, 0.99, np.nan),
    ]  # fmt: skip
    columns = ["task", "method", "seconds", "validation_accuracy", "validation_log_loss"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "board" / "anytime.csv", index=False)
    assert advise._order(tmp_path, Needs())[:3] == ["svm_ovr", "umax", "ove"]
    probable = advise._order(tmp_path, Needs(probabilities=True))
    assert probable[:2] == ["ove", "umax"] and "svm_ovr" not in probable


def test_rows_of_one_article_stay_together_when_some_are_set_aside() -> None:
    labels = [[0, 1], [1, 2, 3], [2], [0, 3], [1, 3]]
    flat = np.array([k for row in labels for k in row])
    article = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    sets = [labels[a] for a in article]
    start = np.cumsum([0, *map(len, sets)])
    own = LabelSets(start, np.concatenate(sets), 1 / np.array([len(row) for row in sets]))
    X = sp.csr_array(article[:, None].astype(np.float32))
    train = Split(X, flat, own)
    whole = Dataset(replace(small_info(), train=len(flat)), train, train, np.bincount(flat))
    for seed in range(5):
        held = whole.held_out(0.4, seed)
        assert held.validation is not None
        aside, kept = ({*part.X.toarray().ravel()} for part in (held.validation, held.train))
        assert not aside & kept
        assert len(held.train) + len(held.validation) == len(train)
        assert held.class_counts.sum() == held.info.train == len(held.train)


def test_the_clock_of_the_processor_stands_still_while_nothing_is_computed() -> None:
    with Stopwatch(processor=True) as clock, clock.running():
        time.sleep(0.1)
    assert clock.seconds < 0.05


def test_the_protocol_is_written_as_its_file_has_it(tmp_path: Path) -> None:
    protocol.write(tmp_path)
    text = (tmp_path / "PROTOCOL.md").read_text()
    assert f"each has {PROTOCOL.trials} trials" in text
    assert all(f"| {name} |" in text for name in PROTOCOL.tasks)


def test_the_last_digit_of_a_layout_does_not_change_a_figure(tmp_path: Path) -> None:
    drawn = []
    for shift in (0.0, 1e-13):  # another processor rounds otherwise
        fig = Figure()
        ax = fig.add_axes((0.1 + shift, 0.1, 0.8, 0.8))
        ax.plot([0, 1], [0, 1], "o-", label="a line")
        ax.legend()
        drawn.append(pictures.write(fig, tmp_path / "line.png"))
    assert "clip-path" in drawn[0] and drawn[0] == drawn[1]


def test_a_comparison_spends_six_tenths_of_its_time_on_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, ran = [0.0], []

    class Timed(Comparison):
        """Every cell takes 20 seconds."""

        table = pd.DataFrame()

        def prepared(self):
            return None

        def _jobs(self, method, info):
            return [SimpleNamespace(cell=SimpleNamespace(method=method))]

        def _drawn(self, info):
            return iter(self._jobs("drawn", info) * 9)

        def _run(self, job):
            ran.append(job.cell.method)
            self.entries[job.cell.method] = {}
            now[0] += 20
            return "done"

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    task = protocol.Task("own", ())
    Timed(None, task, 90, Needs(), list("abcdefg")).run()  # type: ignore[arg-type]
    assert ran == ["a", "b", "c", "drawn", "drawn"]  # to 54 s, and to 90 s


def test_a_board_without_rows_is_read(tmp_path: Path) -> None:
    board = results.read(tmp_path, PROTOCOL)
    assert board.summary.empty and not board.measured
