"""``xcbench board`` and ``xcbench advise`` as a person calls them."""

from __future__ import annotations

import resource
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from workspace import ROOT, Workspace
from xcbench.board import limits, protocol
from xcbench.cli import advise
from xcbench.cli.main import main
from xcbench.plan.job import Job
from xcbench.run.execute import execute


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        (["board", "part=all"], "part=all"),
        (["board", "task=nothing"], "task=nothing"),
        (["board", "method=nothing"], "method=nothing"),
        (["board", "method=[umax]", "task=digits"], "method=[umax]"),
        (["board", "task=", "method=umax"], "task= is not possible"),
        (["board", "part="], "part= is not possible"),
        (["board", "method.lr=3"], "method.lr=3 is not possible: the protocol"),
        (["board", "dataset=bibtex", "task=digits"], "dataset=bibtex"),
        (["board", "budget.seconds=1"], "budget.seconds=1"),
        (["board", "seed=3"], "seed=3"),
        (["board", "task=digits", "name=board"], "name=board is the whole board"),
        (["board", "task=digits", "part=check"], "part=check checks the whole board"),
        (["board", "task=digits", "name=a/b"], "name=a/b"),
        (["advise"], "dataset=NAME"),
        (["advise", "dataset=digits", "seconds=soon"], "seconds=soon"),
        (["advise", "dataset=digits", "probabilities=maybe"], "probabilities=maybe"),
        (["advise", "dataset=digits", "method=nothing"], "method=nothing"),
        (["advise", "dataset=digits", "experiment=first"], "experiment=first"),
        (["advise", "dataset=digits", "evaluation.rows=0"], "evaluation.rows=0"),
        (["advise", "dataset=digits", "plan=true"], "plan=true"),
        (["advise", "dataset=file"], "dataset.train=FILE"),
        (["advise", "dataset=digits,usps"], "dataset=digits,usps"),
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


def test_the_committed_protocol_is_the_present_one(tmp_path: Path) -> None:
    protocol.write(tmp_path)
    now, committed = (it / "PROTOCOL.md" for it in (tmp_path, ROOT / "reports" / "board"))
    assert now.read_text("utf-8") == committed.read_text("utf-8")


def test_every_measured_task_of_the_committed_board_has_numbers_or_a_reason() -> None:
    known, table = protocol.read(), pd.read_csv(ROOT / "reports" / "board" / "board.csv")
    methods = set(table["method"])
    assert "gce" in methods  # which a package from outside announces
    assert set(known.methods) <= methods
    assert set(table["task"]) <= {*known.tasks}
    assert len(table) == len(methods) * table["task"].nunique()
    assert (table["accuracy"].notna() ^ table["reason"].notna()).all()
    most = known.studies * (known.trials + known.survivors(1))
    assert (table["trials"] <= most).all() and (table["seeds"] <= known.seeds).all()


def contents(folder: Path) -> dict[Path, bytes]:
    """What is in the files of a folder that are no locks."""
    return {path: path.read_bytes() for path in folder.rglob("[!.]*") if path.is_file()}


def test_a_partial_board_leaves_the_committed_one_alone(workspace: Workspace) -> None:
    whole, partial = (workspace.path / "reports" / name for name in ("board", "board-partial"))
    shutil.copytree(ROOT / "reports" / "board", whole)
    before = contents(whole)
    done = workspace.xcbench("board", "task=digits", "method=class_sums")
    assert done.code == 0, done.text
    assert contents(whole) == before
    assert (partial / "index.html").exists() and not (partial / "checks.csv").exists()
    drawn = contents(partial)
    (partial / "PROTOCOL.md").write_text("of an earlier day")  # and the rows are there already
    assert workspace.xcbench("board", "task=digits", "part=report").code == 0
    assert contents(partial) == drawn
    assert [path.name for path in (partial / "cells").iterdir()] == ["digits"]
    for name in ("tuning.csv", "runs.csv"):  # the chosen task, with the methods of both
        files = (folder / "cells" / "digits" / name for folder in (whole, partial))
        old, new = (pd.read_csv(file, dtype=str) for file in files)
        assert set(new["grid"]) == set(old["grid"]) and not new["cell"].duplicated().any()
        same = [frame[frame["grid"] != "digits/class_sums"] for frame in (old, new)]
        names = ["grid", "status", "test_log_loss", "test_error"]
        pd.testing.assert_frame_equal(
            *(frame.set_index("cell").sort_index()[names] for frame in same)
        )


def test_a_plan_counts_searches_and_final_cells_by_their_seconds(workspace: Workspace) -> None:
    done = workspace.xcbench("board", "task=digits", "method=umax,softmax", "plan=true")
    # Two trials of the speed at most, two searches of 12 s and 4 times 4 s, three final cells of
    # 60 s and of 4 s; exact softmax has no limit.
    assert "41 cells: 0 valid, 41 to run; about 4 min of training for 40 of them" in done.out


def test_a_plan_of_a_board_counts_and_writes_nothing(workspace: Workspace) -> None:
    done = workspace.xcbench("board", "task=digits", "method=class_sums,prior", "plan=true")
    assert done.code == 0, done.text
    assert "digits: 2 cells: 0 valid, 2 to run; about 2 min of training\n" in done.out
    assert "board: 2 cells: 0 valid, 2 to run; about 2 min of training; nothing was run" in done.out
    assert not (workspace.path / "reports").exists()


@pytest.mark.slow
def test_a_board_runs_and_goes_on_where_it_was(workspace: Workspace) -> None:
    words = ("board", "task=digits", "method=prior,class_sums,softmax,umax")
    first = workspace.xcbench(*words)
    assert first.code == 0, first.text
    folder = workspace.path / "reports" / "board-partial"
    digits = pd.read_csv(folder / "board.csv").set_index("method")
    assert dict(digits["seeds"]) == {"class_sums": 1, "prior": 1, "softmax": 3, "umax": 3}
    assert dict(digits["trials"]) == {"class_sums": 0, "prior": 0, "softmax": 0, "umax": 32}
    losses = digits["test_log_loss"].dropna()
    assert set(losses.index) == {"softmax", "umax", "prior"} and losses.idxmax() == "prior"
    assert "Not measured yet: bibtex, " in (folder / "index.html").read_text()
    again = workspace.xcbench(*words)
    assert again.code == 0 and "[1/" not in again.out, again.text


@pytest.mark.slow
@pytest.mark.parametrize("method", ["prior", "class_sums"])
def test_a_board_of_one_method_has_a_page(workspace: Workspace, method: str) -> None:
    done = workspace.xcbench("board", "task=digits", f"method={method}")
    assert done.code == 0 and not done.err, done.text
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


@pytest.mark.slow
def test_advice_says_that_one_of_several_labels_counts(workspace: Workspace) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random((300, 8)) < 0.25
    labels[:, 0] |= ~labels.any(1)
    X = rng.normal(size=(300, 8)) + 4 * labels
    path = str(workspace.path / "rows.svm")
    dump_svmlight_file(X, labels.astype(int), path, multilabel=True)
    own = ("advise", "dataset=file", "dataset.train=rows.svm", "seconds=8")
    one = workspace.xcbench(*own)
    assert "of a row's labels one counts" in one.out, one.text
    assert "next: xcbench run dataset=file" in one.out and "other_labels=drop" in one.out, one.text
    each = workspace.xcbench(*own, "dataset.protocol.label=each")
    assert each.code == 0 and "one counts" not in each.out + each.err, each.text


def test_a_busy_machine_does_not_end_a_short_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files and evaluations take processor seconds beside those of training."""

    def slowly(jobs: Sequence[Job]) -> int:
        until = time.process_time() + 1.5
        while time.process_time() < until:
            pass
        return execute(jobs)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(limits, "execute", slowly)
    with pytest.raises(SystemExit) as ended:
        main(["advise", "dataset=digits", "seconds=0.5"])
    assert ended.value.code == 0
    assert "no result" not in capsys.readouterr().out


def test_the_next_command_of_advise_can_be_pasted() -> None:
    row = pd.Series({"method": "umax", "settings": {"lr": 0.1}})
    words = {"dataset": "file", "dataset.train": "my data.txt"}
    shown = advise._next(row, words, {"runs_dir": "my runs"})
    assert shlex.split(shown)[2:] == [
        *("dataset=file", "dataset.train=my data.txt", "dataset.missing=error", "method=umax"),
        *("method.lr=0.1", "budget.epochs=50", "runs_dir=my runs"),
    ]


@pytest.mark.slow
def test_advice_of_chosen_methods_has_a_command_that_runs(workspace: Workspace) -> None:
    words = ("advise", "dataset=digits", "method=umax,ove,umax", "seconds=4", "runs_dir=mine")
    done = workspace.xcbench(*words)
    assert done.code == 0, done.text
    assert "has no board: methods come in alphabetical order" in done.out
    assert "of 2 methods compared" in done.out and "ar_logistic" not in done.out
    (command,) = (line for line in done.out.splitlines() if line.startswith("next: xcbench "))
    assert "runs_dir=mine" in command
    again = workspace.xcbench(*shlex.split(command)[2:])
    assert again.code == 0, again.text
    small = workspace.xcbench(*words, "mib=1e-9")
    assert small.code == 2 and "the smallest model has " in small.err, small.text


@pytest.mark.slow
def test_the_board_keeps_within_processor_seconds_of_the_shell(workspace: Workspace) -> None:
    """Such a limit cannot be raised; it ends cells as the board would."""
    words = ("board", "task=digits", "method=class_sums", "part=cells")
    done = workspace.xcbench(*words, limits=((resource.RLIMIT_CPU, 600),))
    assert done.code == 0 and "1 done" in done.out, done.text
