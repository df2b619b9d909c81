"""The board's tables, page and figures, of cells whose numbers are counted by hand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench.board import advice, checks, figures, findings, page, protocol, results, tables
from xcbench.board.protocol import Task
from xcbench.board.results import Board
from xcbench.committed import results_cache
from xcbench.committed.results_cache import ResultsCache
from xcbench.errors import UserError
from xcbench.plan import sweeps
from xcbench.store.cell import CURVE_COLUMNS, Cell

TASKS = (
    Task("one", ()),
    Task("two", (), every_label=True),
    Task("three", (), held_out=True),
    Task("four", ()),
)
PROTOCOL = replace(protocol.read(), tasks={it.name: it for it in TASKS}, trials=4, at=(1, 4))


def cell(
    task: str,
    method: str,
    seed: int,
    status: str = "done",
    message: str = "",
    lr: float | None = None,
    l2: float = 0.0,
    seconds: float | None = 60,
    epochs: float = 50,
    patience: int | None = 2,
    **checkpoints: list[float],
) -> Cell:
    """A cell with some columns; the others are 1 at the first checkpoint and 2 at the second."""
    means = [name for name in results.MEANS if name not in ("accuracy", "took")]
    means.remove("validation_accuracy")
    more = ("predict_seconds", "validation_error")
    columns = {name: [1.0, 2.0] for name in (*CURVE_COLUMNS, *more, *means)}
    curve = pd.DataFrame(columns | checkpoints)
    return Cell(
        f"{abs(hash((task, method, seed, lr, l2, seconds, status))):016x}"[:16],
        task,
        method.partition("_sgd")[0],
        seed,
        "numpy",
        1,
        "d",
        {
            "method": {"name": method, "lr": lr, "l2": l2},
            "budget": {"seconds": seconds, "epochs": epochs, "patience": patience},
        },
        status,
        message or None,
        {"train": 90, "test": 50, "features": 7, "classes": 3, "nonzeros_per_row": 2.0},
        curve=curve if status != "skipped" else curve[:0],
    )


def sgd(task: str, seed: int, lr: float, valid: list[float], **more) -> Cell:
    return cell(task, "softmax_sgd", seed, lr=lr, validation_log_loss=valid, **more)


def svm(task: str, seed: int, precision: list[float], **more) -> Cell:
    """No probabilities; in tasks where every label counts, P@1 counts."""
    return cell(
        task,
        "svm_ovr",
        seed,
        test_log_loss=[np.nan] * 2,
        validation_log_loss=[np.nan] * 2,
        validation_error=[0.5, 0.4],
        validation_precision_at_1=precision,
        test_precision_at_1=precision,
        **more,
    )


def exact(task: str, l2: float, valid: float, loss: float, gradient: float) -> Cell:
    """Exact softmax, whose seconds have no limit."""
    return cell(
        task, "softmax", 0, l2=l2, seconds=None, patience=None, validation_log_loss=[9.0, valid],
        test_log_loss=[9.0, loss], test_error=[0.9, 0.25], largest_gradient=[np.nan, gradient],
        test_precision_at_1=[0.1, 0.5],
    )  # fmt: skip


def prior(task: str) -> Cell:
    return cell(
        task, "prior", 0, patience=None, test_log_loss=[2.5, 2.0], test_error=[0.9, 0.9],
        validation_log_loss=[2.6, 2.1], test_precision_at_1=[0.1, 0.1],
    )  # fmt: skip


TUNING = {
    "one/softmax_sgd": [
        sgd("one", 0, 0.1, [9.0, 0.5], seconds=1),
        sgd("one", 0, 0.2, [9.0, 0.52], l2=1e-3, seconds=1),
        sgd("one", 0, 0.4, [9.0, 0.6], l2=1e-3, seconds=1),
        sgd("one", 0, 0.8, [9.0, 9.0], l2=1e-3, seconds=1, status="diverged"),
        sgd("one", 0, 0.1, [9.0, 0.4], seconds=4),
    ],
    "two/svm_ovr": [
        svm("two", 0, [0.10, 0.80], lr=1.0, seconds=1),
        svm("two", 0, [0.10, 0.77], lr=2.0, seconds=1),
        svm("two", 0, [0.10, 0.75], lr=3.0, seconds=1),
    ],
}
RUNS = {
    "one/softmax_sgd": [
        sgd("one", seed, 0.1, [0.9, 0.5], test_error=[0.6, 0.2 + seed / 10],
            test_log_loss=[0.8, 0.5 + seed / 10], train_seconds=[1.0, 3.0 + seed],
            predict_seconds=[0.0, 0.8], status="timeout" if seed else "done")
        for seed in (0, 1)
    ],
    "one/svm_ovr": [
        svm("one", seed, [0.0, 0.0], test_error=[0.5, 0.1 + seed / 20], train_seconds=[2.0, 4.0])
        for seed in (0, 1)
    ],
    "one/softmax": [exact("one", 10, 0.7, 0.7, 1e-6), exact("one", 1, 0.4, 0.45, 1e-6),
                    exact("one", 0.1, 0.6, 0.3, 1e-6)],
    "one/prior": [prior("one")],
    "one/tree": [cell("one", "tree", 0, "skipped", "not run: no package")],
    "two/softmax_sgd": [
        sgd("two", seed, 0.2, [0.4, 0.6], test_precision_at_1=[0.5 + seed / 10, 0.9],
            test_log_loss=[0.7, 9.0], train_seconds=[1.0, 90.0])
        for seed in (0, 1)
    ],
    "two/svm_ovr": [svm("two", seed, [0.8, 0.6], test_error=[0.5, 0.5]) for seed in (0, 1)],
    "two/softmax": [exact("two", 10, 0.7, 0.7, 1e-3)],
    "two/prior": [prior("two")],
    "two/tree": [cell("two", "tree", 0, "failed", "ended: these cells took more than 360 s")],
    "three/prior": [prior("three")],
    "five/prior": [prior("five")],  # a task of an earlier protocol
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "board"
    for part, cells in (("tuning", TUNING), ("runs", RUNS)):
        for grid, some in cells.items():
            place = folder / "cells" / grid.partition("/")[0]
            place.mkdir(parents=True, exist_ok=True)
            new = ResultsCache.of(grid, some)
            results_cache.update(place, part, lambda cache, new=new: cache.joined(new))
    return folder


@pytest.fixture(scope="module")
def board(folder: Path) -> Board:
    return results.read(folder, PROTOCOL)


def test_every_method_has_numbers_or_a_reason(board: Board) -> None:
    summary = board.summary.set_index(["task", "method"])
    assert len(summary) == 3 * 5
    reasons = {key: reason for key, reason in summary["reason"].items() if reason}
    missing = {
        ("three", name): "not run: `xcbench board task=three` runs it"
        for name in ("softmax", "softmax_sgd", "svm_ovr", "tree")
    }
    assert reasons == missing | {
        ("one", "tree"): "not run: no package",
        ("two", "tree"): "ended: these cells took more than 360 s",
    }
    assert (summary["accuracy"].notna() == (summary["reason"] == "")).all()


def test_a_partial_board_says_what_is_not_measured_yet(board: Board) -> None:
    assert board.measured == ["one", "two"]
    assert board.unmeasured == ["three", "four"]  # of three there is one method alone
    said = board.of_measured()
    assert "three" in set(board.summary["task"]) | set(board.trials["task"])
    for table in (*said.rows.values(), said.trials, said.finals, said.curves, said.summary):
        assert set(table["task"]) <= {"one", "two"}
    assert said.unmeasured == board.unmeasured


def test_a_task_without_a_seed_of_a_method_is_not_measured(board: Board) -> None:
    runs = board.rows["runs"]
    last = runs["task"].eq("two") & runs["method"].eq("softmax_sgd") & runs["seed"].eq(1)
    interrupted = replace(board, rows=board.rows | {"runs": runs[~last]})
    assert interrupted.measured == ["one"]


def test_means_are_of_the_checkpoint_that_validation_chooses(board: Board) -> None:
    summary = board.summary.set_index(["task", "method"])
    one = summary.loc[("one", "softmax_sgd")]  # the second checkpoint
    assert one["accuracy"] == pytest.approx(1 - (0.2 + 0.3) / 2)
    assert one["accuracy_sd"] == pytest.approx(0.1 / np.sqrt(2))
    assert one["test_log_loss"] == pytest.approx(0.55)
    assert one["row_seconds"] == pytest.approx(0.8 / 50)  # all test rows
    assert (one["trials"], one["seeds"], one["stopped"], one["settings"]) == (5, 2, 1, "lr=0.1")
    two = summary.loc[("two", "softmax_sgd")]  # the first one, and precision at 1
    assert two["accuracy"] == pytest.approx(0.55) and two["test_log_loss"] == pytest.approx(0.7)
    assert summary.loc[("two", "svm_ovr"), "accuracy"] == pytest.approx(0.8)
    assert summary.loc[("one", "svm_ovr"), "accuracy"] == pytest.approx(1 - 0.125)


def test_who_is_ranked(board: Board) -> None:
    roles = board.summary.set_index(["task", "method"])["role"].dropna()
    assert roles["one", "softmax_sgd"] == results.RANKED
    assert roles["two", "softmax_sgd"] == results.OVER  # 90 s, over 1.1 times 60
    assert roles["one", "softmax"] == results.REFERENCE and roles["one", "prior"] == results.LINE
    assert set(board.ranked["method"]) == {"softmax_sgd", "svm_ovr"}


def test_validation_rows_choose_the_decay_of_exact_softmax(board: Board) -> None:
    one = board.summary.set_index(["task", "method"]).loc[("one", "softmax")]
    assert (one["seeds"], one["settings"]) == (1, "l2=1")
    assert one["test_log_loss"] == pytest.approx(0.45)


def test_validation_rows_choose_the_shorter_or_the_longer_training_of_a_seed(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "board")
    more = [
        sgd("one", seed, 0.1, [0.8, loss], seconds=4, epochs=5, train_seconds=[0.5, 2.0],
            test_log_loss=[0.8, 0.4], test_error=[0.6, 0.1], train_log_loss=[2.4, 2.1])
        for seed, loss in ((0, 0.3), (1, 0.6))
    ]  # fmt: skip
    new = ResultsCache.of("one/softmax_sgd", more)
    results_cache.update(tmp_path / "board/cells/one", "runs", lambda cache: cache.joined(new))
    board = results.read(tmp_path / "board", PROTOCOL)
    row = board.summary.set_index(["task", "method"]).loc[("one", "softmax_sgd")]
    assert (row["seeds"], row["stopped"]) == (2, 1)
    assert row["test_log_loss"] == pytest.approx((0.4 + 0.6) / 2)  # the shorter, then the longer
    shorter = findings.shorter(board)  # on two, no seed has two trainings
    assert list(shorter.index) == ["one"] and shorter.loc["one"].tolist() == [100, 0]
    closer = findings.closer(board)  # of seed 0: the longer one ends at 2 on training rows
    assert list(closer.index) == ["one"] and closer.loc["one"].tolist() == [100]
    at = results.anytime(board).set_index(["task", "method", "seconds"])["validation_log_loss"]
    assert at["one", "softmax_sgd", 1] == pytest.approx(0.8)
    assert at["one", "softmax_sgd", 4] == pytest.approx((0.3 + 0.5) / 2)
    share = checks.of_rows(board).set_index("check").loc["share"].iloc[0]
    assert share["of"].startswith("10 final cells")  # also those that were not chosen


def test_quality_at_a_time_is_that_of_what_came_before(board: Board) -> None:
    table = results.anytime(board).set_index(["task", "method", "seconds"])
    assert table.loc[("one", "softmax_sgd", 1), "validation_log_loss"] == pytest.approx(0.9)
    assert table.loc[("one", "softmax_sgd", 4), "validation_log_loss"] == pytest.approx(0.5)
    assert ("one", "svm_ovr", 1) not in table.index  # its first checkpoint is at 2 s
    assert table.loc[("two", "svm_ovr", 4), "validation_accuracy"] == pytest.approx(0.8)


def test_advice_by_seconds(board: Board) -> None:
    table = advice.in_seconds(board, results.anytime(board))
    some = table[table["measure"] == "accuracy"].set_index(["task", "seconds"])
    assert some.loc[("one", 1), "method"] == "softmax_sgd"  # alone
    # At 4 s validation errors are 2 of softmax_sgd and 0.4 of svm_ovr.
    assert some.loc[("one", 4), "method"] == "svm_ovr"
    assert (some["K"] == 3).all() and (some["N"] == 90).all()
    shown = advice.by_seconds(table).set_index(["measure", "task"])
    assert shown.loc[("precision", "one"), "in 4 s"].startswith("svm_ovr (0.")
    assert shown.loc[("precision", "one"), "K"] == 3


def test_sentences_name_ties_and_what_is_not_ranked(board: Board) -> None:
    quality = results.anytime(board)
    tie = pd.DataFrame(
        {
            "measure": "accuracy",
            "seconds": [1, 1, 1, 1, 4, 15, 15],
            "method": ["one", "other", "other", "one", "one", "one", "other"],
        }
    )
    regrets = pd.DataFrame({"measure": ["accuracy"] * 2, "regret": [0.02, 0.0]})
    words = page.in_time(tie, regrets)
    assert "in 1 s `one` and `other` (2 of 4 tasks each); in 4 s `one` (1 of 1 task)" in words
    assert "in 15 s another one on each of 2 tasks" in words
    assert "1.0 points below" in words
    assert page.in_time(advice.in_seconds(board, quality[:0]), regrets).startswith("No method")
    assert page.unranked(board) == ""
    once = board.summary["method"] == "prior"  # 0.1 on both tasks: never better
    other = replace(
        board, summary=board.summary.assign(role=board.summary["role"].mask(once, results.ONCE))
    )
    assert "on 0 of 2 tasks the best of them is better" in page.unranked(other)


def test_the_checks_of_rows_can_fail(board: Board) -> None:
    table = checks.of_rows(board).set_index(["check", "of"])["result"]
    trials = table["trials of a search that trained"]
    assert dict(trials) == {"1 search: two svm_ovr": "fails", "1 search": "holds"}  # 3, 4
    assert table["optimum of exact softmax", "one"] == "holds"
    assert table["optimum of exact softmax", "two"] == "fails"  # 1e-3 is above the tolerance
    (ended,) = [name for name in table["share"].index if "ended by themselves" in name]
    assert ended.startswith("8 ") and table["share", ended] == "fails"  # 7 of 8
    (numbers,) = [name for name in table["share"].index if "with a number" in name]
    assert numbers.startswith("9 ") and table["share", numbers] == "fails"  # 8: one was ended
    (above,) = [name for name in table["share"].index if "the prior" in name]
    assert above.startswith("2 ") and table["share", above] == "holds"
    assert table["over the cap, not ranked", "two softmax_sgd"] == "fails"


@pytest.mark.parametrize("change", [{"status": "failed"}, {"epoch": 0.0}])
def test_a_trial_that_failed_or_made_no_step_is_missing_in_its_search(
    board: Board, change: dict[str, object]
) -> None:
    rows = board.rows["tuning"].copy()
    rows.loc[rows.index[0], list(change)] = list(change.values())
    table = checks.of_rows(replace(board, rows={**board.rows, "tuning": rows}))
    trials = table[table["check"] == "trials of a search that trained"].set_index("of")["number"]
    assert dict(trials) == {"2 searches: one softmax_sgd, two svm_ovr": 3}


def test_cells_of_tasks_not_measured_yet_are_not_checked(board: Board) -> None:
    late = board.finals[board.finals["method"] == "softmax_sgd"].assign(
        task="four", status="timeout"
    )
    more = replace(board, finals=pd.concat([board.finals, late], ignore_index=True))
    pd.testing.assert_frame_equal(checks.of_rows(more), checks.of_rows(board))


def test_methods_above_the_class_prior_are_named(board: Board) -> None:
    assert findings.above_prior(board).loc["one"].tolist() == [0, 0]
    finals, summary = board.finals, board.summary
    mine = finals["method"] == "softmax_sgd"
    late = mine & (finals["seed"] == 1) & (finals["task"] == "one")
    worse = replace(
        board, finals=finals.assign(test_log_loss=finals["test_log_loss"].mask(late, 3))
    )
    assert findings.above_prior(worse).loc["one"].tolist() == [0, 100]
    of = (summary["method"] == "softmax_sgd") & (summary["task"] == "one")
    losses = summary["test_log_loss"].mask(of, 3.0)
    table = checks.of_rows(replace(board, summary=summary.assign(test_log_loss=losses)))
    (row,) = table[table["check"] == "above the prior"].to_dict("records")
    assert row["of"] == "one softmax_sgd" and row["result"] == "fails"
    assert (row["number"], row["beside"]) == (3, 2)
    assert "above the prior" not in set(checks.of_rows(board)["check"])


def test_sensitivity_is_of_first_trials(board: Board) -> None:
    near = tables.sensitivity(board).set_index("method")
    # 0.5 and 0.52 of 0.5, 0.52 and 0.6; P@1: 0.8 and 0.77 of 0.8, 0.77 and 0.75.
    assert dict(near["share"]) == pytest.approx({"softmax_sgd": 2 / 3, "svm_ovr": 2 / 3})
    assert dict(near["searches"]) == {"softmax_sgd": 1, "svm_ovr": 1}


def test_findings_are_of_tasks_and_seeds(board: Board) -> None:
    assert findings.tuning_gain(board).to_numpy() == pytest.approx(np.zeros((1, 1)))
    assert findings.of_defaults(board).to_numpy().tolist() == [[100.0]]
    beside = findings.without_probabilities(board)
    assert beside.loc["one"].tolist() == pytest.approx([10, 15])  # of ranked ones, by seed
    assert beside.loc["two"].isna().all()  # none has probabilities
    exact = findings.best_less_exact(board)  # 0.45 less 0.5 and 0.6; no ranked one on two
    assert exact.loc["one"].tolist() == pytest.approx([-0.05, -0.15])
    assert list(exact.index) == ["one"]


def test_rates_at_an_end_of_those_drawn_are_counted(board: Board) -> None:
    drawn = [("one", "umax", seed, lr, 1.0, 1.0) for seed in (0, 1, 2) for lr in (0.1, 0.2, 0.3)]
    names = ["task", "method", "seed", "lr", "epoch", "budget.seconds"]
    chosen = [("one", "umax", 0, 0.2), ("one", "umax", 1, 0.1), ("one", "umax", 2, 0.3)]
    chosen += [("one", "svm_ovr", 0, np.nan), ("two", "ove", 0, 0.1)]  # no rate, and no search
    some = replace(
        board,
        trials=pd.DataFrame(drawn, columns=names),
        finals=pd.DataFrame(chosen, columns=names[:4]),
    )
    ends = findings.at_an_end(some)
    chance = 200 / 3
    assert ends.index.tolist() == ["one"]
    assert ends.loc["one"].tolist() == pytest.approx([-chance, 100 - chance, 100 - chance])


def test_trees_on_whitened_components_are_compared_with_plain_ones(board: Board) -> None:
    method, other = "adv_whitened_tree", "negative_sampling"
    assert findings.more_loss(board, method, other).empty
    names = {"softmax_sgd": method, "softmax": other}
    renamed = board.finals.assign(method=board.finals["method"].replace(names))
    numbers = findings.more_loss(replace(board, finals=renamed), method, other).loc["one"]
    assert numbers.tolist() == pytest.approx([0.05, 0.15])  # 0.5 and 0.6 less 0.45


def test_one_label_a_sample_is_compared_where_every_label_counts(board: Board) -> None:
    """Less the lead on the task of the same data where one label counts."""
    tasks = {name: Task(name, (), every_label="-" in name) for name in ("a", "a-labels", "b")}
    accuracy = {"a": (0.5, 0.4), "a-labels": (0.8, 0.3), "b": (0.9, 0.1)}
    rows = [
        (task, method, 0, number)
        for task, pair in accuracy.items()
        for method, number in zip(("svm_ovr", "svm_cs"), pair, strict=True)
    ]
    finals = pd.DataFrame(rows, columns=["task", "method", "seed", "accuracy"])
    known = replace(board.protocol, tasks=tasks)
    numbers = findings.rivals(replace(board, protocol=known, finals=finals))
    assert numbers.loc["a-labels"].tolist() == pytest.approx([50 - 10])
    assert list(numbers.index) == ["a-labels"]


def test_hours_are_those_of_whole_trainings(board: Board) -> None:
    hours = tables.hours(board).set_index("task")
    took = board.curves.groupby(["task", "cell"])["train_seconds"].max()
    for task, seconds in took.groupby("task").sum().items():
        assert hours.loc[task, "final cells"] == pytest.approx(seconds / 3600)
    assert (hours["total"] == hours["searches"] + hours["final cells"]).all()


def test_a_cell_that_cannot_be_trained_again_says_why(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = cell("one", "softmax_sgd", 0, "skipped", "not run: data (one.svm not found)")
    monkeypatch.setattr(checks.runner, "run", lambda jobs: [absent])
    with sweeps.hydra({}), pytest.raises(UserError, match="cannot be trained again: not run: data"):
        list(checks.again(protocol.Conditions(PROTOCOL, {}), board))


def test_a_method_that_is_not_installed_is_not_trained_again(board: Board) -> None:
    finals = board.finals[board.finals["role"] == "ranked"]
    gone = replace(board, finals=finals.assign(method="gone"))
    with sweeps.hydra({}):
        assert not list(checks.again(protocol.Conditions(PROTOCOL, {}), gone))


def test_a_cell_that_its_seconds_ended_is_not_trained_again(board: Board) -> None:
    late = replace(board, finals=board.finals.assign(status="timeout"))
    with sweeps.hydra({}):
        assert not list(checks.again(protocol.Conditions(PROTOCOL, {}), late))


def test_a_cell_trained_again_is_the_same_after_the_same_passes() -> None:
    row = pd.Series({"task": "one", "method": "m", "seed": 0})
    before = pd.DataFrame({"epoch": [0, 1, 2, 4], "validation_log_loss": [9, 3, 2, 2.5]})

    def judged(passes: float, valid: float) -> object:
        new = pd.DataFrame({"epoch": [0, passes], "validation_log_loss": [9, valid]})
        return checks.compared(row, new, before, "validation_log_loss")["result"]

    assert judged(2, 2.00001) == judged(4, 2.5) == judged(1.9999999, 2) == "holds"
    assert judged(2, 2.001) == judged(4, 2) == "fails"


def test_the_page_asks_three_questions_first_and_has_every_task(board: Board, folder: Path) -> None:
    page.write(folder, board)
    text = (folder / "index.html").read_text("utf-8")
    titles = [page.QUESTIONS["test_log_loss"], page.QUESTIONS["accuracy"], page.SECONDS, "Findings"]
    places = [text.index(f">{title}") for title in titles]
    assert places == sorted(places)
    for mention in ("Not measured yet: three, four.", "no package", "ended: these cells took"):
        assert mention in text
    files = {path.name for path in (folder / "figures").iterdir()}
    assert {"overview.png", "front-seconds.png", "ranks-accuracy.png", "front-mib.pdf"} <= files
    assert all(f"figures/{name}" in text for name in files if name.endswith(".pdf"))
    drawings = {it.name: it for it in figures.every(board, tables.of_board(board))}
    shown = [cell.get_text() for cell in drawings["overview"].make().axes[0].texts]
    assert shown.count("100") == 3 and "86" in shown and "69" in shown  # 75 of 87.5, 55 of 80
    table = (folder / "tables.md").read_text("utf-8")
    assert table.index("svm_ovr", table.index("## one")) < table.index(
        "softmax_sgd", table.index("## one")
    )
