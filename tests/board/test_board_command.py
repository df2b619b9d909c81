"""``xcbench board`` and ``xcbench advise`` as a person calls them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from workspace import ROOT, Outcome, Workspace
from xcbench.board import protocol, variance
from xcbench.cli.main import main


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        (["board", "part=all"], "part=all"),
        (["board", "task=nothing"], "task=nothing"),
        (["board", "task=digits", "name=board"], "name=board is the whole board"),
        (["board", "task=digits", "part=check"], "part=check checks the whole board"),
        (["board", "task=digits", "name=a/b"], "name=a/b"),
        (["advise"], "dataset=NAME"),
        (["advise", "dataset=digits", "seconds=soon"], "seconds=soon"),
        (["advise", "dataset=digits", "probabilities=maybe"], "probabilities=maybe"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    words: list[str],
    mention: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and mention in said and said.count("\n") == 1


def test_every_task_and_method_of_the_committed_board_has_numbers_or_a_reason() -> None:
    board = pd.read_csv(ROOT / "reports" / "board" / "board.csv")
    methods, known = set(board["method"]), protocol.read()
    assert "gce" in methods  # which a package from outside announces
    assert len(board) == len(methods) * len(known.tasks)
    assert (board["accuracy"].notna() ^ board["reason"].notna()).all()
    assert (board["trials"] <= known.trials).all() and (board["seeds"] <= known.seeds).all()


def test_a_partial_board_leaves_the_committed_one_alone(workspace: Workspace) -> None:
    whole, partial = (workspace.path / "reports" / name for name in ("board", "board-partial"))
    shutil.copytree(ROOT / "reports" / "board", whole)
    before = {path.name: path.read_bytes() for path in whole.iterdir() if path.is_file()}
    done = workspace.xcbench("board", "task=digits", "method=class_sums")
    assert done.code == 0, done.text
    assert {path.name: path.read_bytes() for path in whole.glob("[!.]*") if path.is_file()} == {
        name: content for name, content in before.items() if not name.startswith(".")
    }
    assert (partial / "index.html").exists() and not (partial / "checks.csv").exists()
    for name in ("tuning.csv", "runs.csv"):  # the chosen task, with the methods of both
        old, new = (pd.read_csv(folder / name, dtype=str) for folder in (whole, partial))
        old = old[old["grid"] == "digits"]
        assert set(new["grid"]) == {"digits"} and not new["cell"].duplicated().any()
        same = [frame[frame["method"] != "class_sums"].set_index("cell") for frame in (old, new)]
        names = ["method", "status", "test_log_loss", "test_error"]
        pd.testing.assert_frame_equal(*(frame.sort_index()[names] for frame in same))
        assert sum(new["method"] == "class_sums") == sum(old["method"] == "class_sums")


def test_a_plan_of_a_board_counts_and_writes_nothing(workspace: Workspace) -> None:
    done = workspace.xcbench("board", "task=digits", "method=class_sums,prior", "plan=true")
    assert done.code == 0, done.text
    assert "digits: 2 cells: 0 valid, 2 to run\n" in done.out  # final cells follow the trials
    assert "board: 2 cells: 0 valid, 2 to run; nothing was run" in done.out
    assert not (workspace.path / "reports").exists()


def test_a_report_with_an_analysis_is_not_written_again_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "reports" / "board", tmp_path / "board")
    before = (tmp_path / "board" / "tables.md").read_bytes()
    monkeypatch.setattr(variance, "find_spec", lambda _: None)  # as without statsmodels
    with pytest.raises(SystemExit) as ended:
        main(["board", "part=report", f"reports_dir={tmp_path}"])
    error = capsys.readouterr().err
    assert ended.value.code == 2 and "pip install 'xcbench[board]'" in error
    assert (tmp_path / "board" / "tables.md").read_bytes() == before


@pytest.mark.slow
def test_a_board_runs_and_goes_on_where_it_was(workspace: Workspace) -> None:
    words = ("board", "task=digits", "method=prior,class_sums,umax", "part=tuning,runs,report")
    first = workspace.xcbench(*words)
    assert first.code == 0, first.text
    table = pd.read_csv(workspace.path / "reports" / "board-partial" / "board.csv")
    digits = table[table["task"] == "digits"].set_index("method")
    assert (digits["seeds"] == 5).all() and digits.loc["umax", "trials"] == 4
    assert digits.loc["umax", "accuracy"] > digits.loc["prior", "accuracy"]
    best = max(digits.index, key=lambda method: digits.loc[method, "accuracy"])
    assert _references(workspace, first) == {best}  # exact softmax is not among the methods
    again = workspace.xcbench(*words)
    assert again.code == 0 and "[1/" not in again.out, again.text


def _references(workspace: Workspace, done: Outcome) -> set[str]:
    """The reference of a board of digits, as the output, the page and all tables have it."""
    folder = workspace.path / "reports" / "board-partial"
    texts = [done.out, *((folder / name).read_text() for name in ("index.html", "tables.md"))]
    sentences = [re.findall(r"The reference is (\w+), the most accurate", text) for text in texts]
    assert [len(names) for names in sentences] == [1, 1, 1]
    names = {name for (name,) in sentences}
    tables = (pd.read_csv(folder / f"{name}.csv") for name in ("board", "differences"))
    return names.union(*(table["reference"].dropna() for table in tables))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["prior", "class_sums"])
def test_a_board_of_one_method_has_a_page(workspace: Workspace, method: str) -> None:
    done = workspace.xcbench("board", "task=digits", f"method={method}", "part=tuning,runs,report")
    assert done.code == 0 and not done.err, done.text
    assert f"The reference is {method}" in done.out
    assert (workspace.path / "reports" / "board-partial" / "index.html").exists()


@pytest.mark.slow
def test_advice_for_a_file_names_a_method_and_a_command(workspace: Workspace) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 300)
    X = rng.normal(size=(300, 8)) + 4 * np.eye(8)[y]
    dump_svmlight_file(X, y, str(workspace.path / "rows.svm"))
    done = workspace.xcbench(
        "advise", "dataset=file", "dataset.train=rows.svm", "seconds=20", "probabilities=true"
    )
    assert done.code == 0, done.text
    assert "use " in done.out and "next: xcbench run dataset=file" in done.out
