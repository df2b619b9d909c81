"""``xcbench board`` and ``xcbench advise`` as a person calls them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from workspace import ROOT, Outcome, Workspace
from xcbench.board import protocol
from xcbench.cli.main import main


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        (["board", "part=all"], "part=all"),
        (["board", "task=nothing"], "task=nothing"),
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


@pytest.mark.slow
def test_a_board_runs_and_goes_on_where_it_was(workspace: Workspace) -> None:
    words = ("board", "task=digits", "method=prior,class_sums,umax", "part=tuning,runs,report")
    first = workspace.xcbench(*words)
    assert first.code == 0, first.text
    table = pd.read_csv(workspace.path / "reports" / "board" / "board.csv")
    digits = table[table["task"] == "digits"].set_index("method")
    assert (digits["seeds"] == 5).all() and digits.loc["umax", "trials"] == 4
    assert digits.loc["umax", "accuracy"] > digits.loc["prior", "accuracy"]
    best = max(digits.index, key=lambda method: digits.loc[method, "accuracy"])
    assert _references(workspace, first) == {best}  # exact softmax is not among the methods
    again = workspace.xcbench(*words)
    assert again.code == 0 and "[1/" not in again.out, again.text


def _references(workspace: Workspace, done: Outcome) -> set[str]:
    """The reference of a board of digits, as the output, the page and all tables have it."""
    folder = workspace.path / "reports" / "board"
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
    assert (workspace.path / "reports" / "board" / "index.html").exists()


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
