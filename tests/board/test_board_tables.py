"""The board's tables, page and figures, of cells whose numbers are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench.board import figures, findings, page, protocol, results, variance
from xcbench.board import tables as of_board
from xcbench.board.protocol import Task
from xcbench.board.results import Board
from xcbench.committed.results_cache import ResultsCache
from xcbench.store.cell import CURVE_COLUMNS, Cell

TASKS = (Task("one", ()), Task("two", (), every_label=True), Task("three", ()), Task("four", ()))
PROTOCOL = replace(protocol.read(), tasks=TASKS)


def cell(
    task: str,
    method: str,
    seed: int,
    status: str = "done",
    message: str = "",
    lr: float | None = None,
    l2: float = 0.0,
    **checkpoints: list[float],
) -> Cell:
    """A cell with some columns; the others are 1 at the first checkpoint and 2 at the second."""
    columns = {name: [1.0, 2.0] for name in (*CURVE_COLUMNS, "predict_seconds", *results.MEANS)}
    columns.pop("accuracy")
    curve = pd.DataFrame(columns | checkpoints)
    return Cell(
        f"{abs(hash((task, method, seed, lr, status))):016x}"[:16],
        task,
        method,
        seed,
        "numpy",
        1,
        "d",
        {"method": {"name": method, "lr": lr, "l2": l2}, "evaluation": {"rows": 40}},
        status,
        message or None,
        {"train": 90, "test": 50, "features": 7, "classes": 3, "nonzeros_per_row": 2.0},
        curve=curve if status != "skipped" else curve[:0],
    )


def softmax(task: str, seed: int, lr: float, valid: list[float], **more) -> Cell:
    return cell(task, "softmax", seed, lr=lr, validation_log_loss=valid, **more)


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


TUNING = {
    "one": [
        softmax("one", 0, 0.1, [0.9, 0.5]),
        softmax("one", 0, 0.2, [0.52, 0.6], l2=1e-3),
        softmax("one", 0, 0.4, [0.7, 0.6], l2=1e-3),
        softmax("one", 0, 0.8, [9.0, 9.0], l2=1e-3, status="diverged"),
        cell("one", "graph", 0, "skipped", "nmslib is not installed"),
    ],
    "two": [
        softmax("two", 0, 0.1, [0.9, 0.8]),
        softmax("two", 0, 0.2, [0.4, 0.6], l2=1e-3),
        svm("two", 0, [0.80, 0.70], lr=1.0),
        svm("two", 0, [0.77, 0.60], lr=2.0),
        svm("two", 0, [0.70, 0.75], lr=3.0),
    ],
    "three": [softmax("three", 0, 0.1, [9.0, 9.0], status="diverged")],
    "four": [softmax("four", 0, 0.1, [0.5, 0.6])],
}
RUNS = {
    "one": [
        softmax("one", seed, 0.1, [0.9, 0.5], test_error=[0.6, 0.2 + seed / 10],
                test_log_loss=[0.8, 0.5 + seed / 10], train_seconds=[1.0, 3.0 + seed],
                predict_seconds=[0.0, 0.8], status="timeout" if seed else "done")
        for seed in (0, 1)
    ] + [
        svm("one", seed, [0.0, 0.0], test_error=[0.5, 0.1 + seed / 20], train_seconds=[2.0, 4.0])
        for seed in (0, 1)
    ],
    "two": [
        softmax("two", seed, 0.2, [0.4, 0.6], test_precision_at_1=[0.5 + seed / 10, 0.9],
                test_log_loss=[0.7, 9.0])
        for seed in (0, 1)
    ] + [svm("two", seed, [0.8, 0.6], test_error=[0.5, 0.5]) for seed in (0, 1)],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "board"
    folder.mkdir()
    for part, cells in (("tuning", TUNING), ("runs", RUNS)):
        cache = ResultsCache.empty()
        for task, some in cells.items():
            cache = cache.joined(ResultsCache.of(task, some))
        cache.write(folder, part)
    return folder


@pytest.fixture(scope="module")
def board(folder: Path) -> Board:
    return results.read(folder, PROTOCOL)


def test_every_method_has_numbers_or_a_reason(board: Board) -> None:
    summary = board.summary.set_index(["task", "method"])
    assert len(summary) == 4 * 3
    reasons = {key: reason for key, reason in summary["reason"].items() if reason}
    assert reasons == {
        ("one", "graph"): "nmslib is not installed",
        ("two", "graph"): "not run: its turn has not come; `xcbench board task=two` runs it",
        ("three", "graph"): "not run: its turn has not come; `xcbench board task=three` runs it",
        ("three", "softmax"): "all trials diverged",
        ("three", "svm_ovr"): "not run: its turn has not come; `xcbench board task=three` runs it",
        ("four", "graph"): "not run: its turn has not come; `xcbench board task=four` runs it",
        ("four", "softmax"): "not run: its final cells; `xcbench board task=four` runs them",
        ("four", "svm_ovr"): "not run: its turn has not come; `xcbench board task=four` runs it",
    }
    assert (summary["accuracy"].notna() == (summary["reason"] == "")).all()


def test_means_are_of_the_checkpoint_that_validation_chooses(board: Board) -> None:
    summary = board.summary.set_index(["task", "method"])
    one = summary.loc[("one", "softmax")]  # the second checkpoint
    assert one["accuracy"] == pytest.approx(1 - (0.2 + 0.3) / 2)
    assert one["accuracy_sd"] == pytest.approx(0.1 / np.sqrt(2))
    assert one["test_log_loss"] == pytest.approx(0.55)
    assert one["row_seconds"] == pytest.approx(0.8 / 40)  # of the rows that were evaluated
    assert (one["trials"], one["seeds"], one["capped"], one["settings"]) == (4, 2, 1, "lr=0.1")
    two = summary.loc[("two", "softmax")]  # the first one, and precision at 1
    assert two["accuracy"] == pytest.approx(0.55) and two["test_log_loss"] == pytest.approx(0.7)
    assert summary.loc[("two", "svm_ovr"), "accuracy"] == pytest.approx(0.8)
    assert summary.loc[("one", "svm_ovr"), "accuracy"] == pytest.approx(1 - 0.125)


def test_seconds_to_shares_of_the_accuracy_of_softmax(board: Board) -> None:
    summary = board.summary.set_index(["task", "method"])
    # 95 % of 0.75 is 0.7125: seed 1 of softmax ends at 0.7, svm_ovr reaches it at its last.
    assert np.isnan(summary.loc[("one", "softmax"), "seconds_to_95"])
    assert summary.loc[("one", "svm_ovr"), "seconds_to_95"] == 4
    assert summary.loc[("two", "svm_ovr"), "seconds_to_99"] == 1  # 0.8 from the first one on


def test_cells_are_counted(board: Board) -> None:
    _, counts = page.intro(board)
    assert counts.startswith(
        f"{3 + 2 + 3 + 1} trials, of which 0 met the cap; 8 final cells, of which 1 met the cap."
    )


def test_tables(board: Board, folder: Path) -> None:
    tables = of_board.of(board) | of_board.analyses(board, folder.parent)
    near = tables["sensitivity"].set_index("method")
    # 0.5 and 0.52 of 0.5, 0.52, 0.6; 0.4 alone of 0.8, 0.4. P@1: 0.8 and 0.77 of 0.8, 0.77, 0.75.
    assert dict(near["share"]) == pytest.approx({"softmax": (2 / 3 + 1 / 2) / 2, "svm_ovr": 2 / 3})
    assert dict(near["tasks"]) == {"softmax": 2, "svm_ovr": 1}
    assert dict(near["trials"]) == {"softmax": 5, "svm_ovr": 3}
    apart = tables["differences"].set_index(["task", "method", "measure"])
    assert list(apart.index) == [("one", "svm_ovr", "accuracy"), ("two", "svm_ovr", "accuracy")]
    assert apart["difference"].to_numpy() == pytest.approx([0.125, 0.25])
    assert (apart["seeds"] == 2).all()
    shapes = of_board.shapes(board)
    assert shapes.loc["one"].to_dict() == {
        "classes": 3, "train": 90, "features": 7, "nonzeros_per_row": 2.0
    }  # fmt: skip
    assert "variance" not in tables  # only softmax has probabilities
    assert ("design" in tables) == variance.installed()


def test_findings_are_of_the_searches_and_seeds(board: Board) -> None:
    gains = findings.tuning_gain(board)  # the default rate: 0.5 of task one, 0.8 of task two
    assert dict(gains) == pytest.approx({
        ("four", "softmax"): 0, ("one", "softmax"): 0, ("two", "softmax"): 50,
    })  # fmt: skip
    assert dict(findings.of_defaults(board)) == {
        ("four", "softmax"): 100, ("one", "softmax"): 100, ("two", "softmax"): 0
    }  # fmt: skip
    beside = findings.best_less_exact(board)
    assert dict(beside) == pytest.approx({0: (10 + 30) / 2, 1: (15 + 20) / 2})
    assert dict(findings.without_probabilities(board)) == pytest.approx(dict(beside))


def test_the_page_has_every_task_and_its_figures(board: Board, folder: Path) -> None:
    page.write(folder, board)
    text = (folder / "index.html").read_text("utf-8")
    for mention in ("nmslib is not installed", "all trials diverged", *(it.name for it in TASKS)):
        assert mention in text
    files = {path.name for path in (folder / "figures").iterdir()}
    assert {"overview.png", "profile-loss.png", "profile-error.png", "front-mib.pdf"} <= files
    assert all(f"figures/{name}" in text for name in files if name.endswith(".pdf"))
    overview = next(figure for name, figure, _ in figures.every(board) if name == "overview")
    shown = [cell.get_text() for cell in overview.axes[0].texts]
    assert shown.count("100") == 2 and "86" in shown and "69" in shown  # 75 of 87.5
    table = (folder / "tables.md").read_text("utf-8")
    assert table.index("svm_ovr", table.index("## one")) < table.index(
        "softmax", table.index("## one")
    )
