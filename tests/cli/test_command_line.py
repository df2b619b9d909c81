"""Commands as a user types them: launches and what they say."""

from __future__ import annotations

import json
import math
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from workspace import FINAL_METRICS, SMALL, ZIPF, NewWorkspace, Workspace


def test_settings_that_were_swept_have_a_column(workspace: Workspace) -> None:
    workspace.run(
        "-m", *SMALL, *ZIPF, "method=ove", "dataset.synthetic.signal=0.25,0.75"
    ).succeeded()
    frame = workspace.frame()
    assert len(frame) == 2
    assert sorted(frame["dataset.synthetic.signal"]) == [0.25, 0.75]


# ---------------------------------------------------------------- launches again
def test_second_launch_runs_nothing_and_force_runs_again(new_workspace: NewWorkspace) -> None:
    workspace = new_workspace("again")
    words = ("-m", *SMALL, *ZIPF, "method=ove", "seed=0", "method.lr=1,1,1.0")
    first = workspace.run(*words).succeeded()
    assert "1 cell: 1 done" in first.out
    cells, numbers = workspace.cells(), workspace.frame()
    second = workspace.run(*words).succeeded()
    assert "every cell was there already: nothing was run (force=true" in second.out
    assert "[1/1]" not in second.out
    assert workspace.cells() == cells
    forced = workspace.run(*words, "force=true").succeeded()
    assert "[1/1]" in forced.out
    assert "already" not in forced.out
    assert set(workspace.cells()) == set(cells)
    assert workspace.cells() != cells
    clocks = ["train_seconds"]
    again = workspace.frame()
    assert_frame_equal(again.drop(columns=clocks), numbers.drop(columns=clocks), check_exact=True)


def test_one_cell_with_mlflow_by_either_command(workspace: Workspace) -> None:
    words = ("dataset=digits", *SMALL[1:])
    # Plain ASCII is all that some terminals take.
    done = workspace.run_fresh(*words, PYTHONIOENCODING="ascii").succeeded()
    assert done.err == ""
    assert "1 cell: 1 done" in done.out
    with closing(sqlite3.connect(workspace.path / "runs" / "mlflow.db")) as store:
        assert store.execute("select status from runs").fetchall() == [("FINISHED",)]
    workspace.xcbench("run", *words, "runs_dir=other", "mlflow=false").succeeded()
    (row,), (same,) = (
        workspace.frame(f"runs_dir={runs}").drop(columns="train_seconds").to_numpy().tolist()
        for runs in ("runs", "other")
    )
    assert str(row) == str(same)


def test_plan_lists_and_runs_nothing(workspace: Workspace) -> None:
    words = ("-m", *SMALL, *ZIPF, "method=ove,umax", "seed=0,1")
    planned = workspace.run(*words, "plan=true").succeeded()
    lines = planned.out.splitlines()
    assert lines[-1].startswith("4 cells, 4 to run; nothing was run")
    assert [" to run " in line for line in lines[:-1]] == [True] * 4
    assert not (workspace.path / "runs" / "cells").exists()
    assert workspace.frame().empty
    workspace.run(*words, "seed=0").succeeded()
    assert {line.split()[0] for line in lines[:-1]} > set(workspace.cells())
    planned = workspace.run(*words, "plan=true", "force=true")
    assert len(workspace.cells()) == 2
    lines = planned.out.splitlines()
    assert [line.split()[0] for line in lines if " done " in line] == [
        line.split()[0] for line in lines[:-1] if line.split()[0] in workspace.cells()
    ]


# ---------------------------------------------------------------- rates
def test_rate_of_methods_without_one(workspace: Workspace) -> None:
    for words in (
        ("method=softmax", "method.lr=0.1"),
        ("-m", "method=softmax", "method.lr=0.1,1"),
    ):
        workspace.run(*words, *SMALL, *ZIPF).refused("softmax", "learning rate")
        assert not workspace.cells()
    workspace.run("-m", *SMALL, *ZIPF, "method=softmax,ove", "method.lr=0.1,1").succeeded()
    frame = workspace.frame()
    assert sorted(frame["method"]) == ["ove", "ove", "softmax"]
    assert frame["lr"][frame["method"] == "softmax"].isna().all()
    assert sorted(frame["lr"].dropna()) == [0.1, 1]


# ---------------------------------------------------------------- diverged and failed
def test_diverged_cell_is_a_result(workspace: Workspace) -> None:
    words = ("-m", *SMALL, *ZIPF, "method=vanilla", "method.lr=0.01,1e6")
    words = (*words, "method.step=gradient", "method.init=zero")
    done = workspace.run(*words).succeeded()
    assert "2 cells: 1 diverged, 1 done" in done.out
    curve = workspace.frame("--curves", "status=diverged")
    assert curve["train_log_loss"].iloc[0] == pytest.approx(math.log(20))
    end = curve.iloc[-1]
    assert end["iteration"] > 0
    assert end[["bound", *FINAL_METRICS]].isna().all()
    frame = workspace.frame().set_index("status")
    assert list(frame.index) == ["done", "diverged"]
    assert frame.loc["diverged", FINAL_METRICS].isna().all()
    assert "not finite" in str(frame.loc["diverged", "message"])
    again = workspace.run(*words)
    assert "every cell was there already" in again.out


@pytest.mark.parametrize("lockstep", ["true", "false"])
def test_a_diverged_cell_keeps_no_weights(workspace: Workspace, lockstep: str) -> None:
    words = (
        "-m",
        *SMALL,
        *ZIPF,
        "method=vanilla",
        "method.lr=0.01,0.02,1e300",
        "method.step=gradient",
    )
    workspace.run(*words, "save_weights=true", f"lockstep={lockstep}").succeeded()
    statuses = workspace.frame().set_index("cell")["status"]
    assert sorted(statuses) == ["diverged", "done", "done"]
    for name, status in statuses.items():
        files = {path.name for path in (workspace.path / "runs" / "cells" / str(name)).iterdir()}
        weights = {"weights.npz", "inputs.npz"}
        assert files & weights == (weights if status == "done" else set())


def test_failed_cell_does_not_cost_the_others(workspace: Workspace) -> None:
    # The weights of 1000 classes and 3 million features take 12 GB.
    limits = ((resource.RLIMIT_AS, 4 * 2**30),)
    words = ("-m", *SMALL, *ZIPF[:3], "dataset.synthetic.nonzeros=5", "method=ove", "seed=0,1")
    words = (*words, "dataset.synthetic.train=1000", "dataset.synthetic.classes=1000")
    # The limit is below what the system has, and the cells are to be tried.
    tried = ("dataset.synthetic.features=3000000,50", "budget.memory=100")
    done = workspace.run(*words, *tried, limits=limits)
    assert done.code == 1, done.text
    assert "4 cells: 2 done, 2 failed" in done.out
    assert "out of memory" in done.out
    assert "Traceback" not in done.text
    assert done.err == ""
    frame = workspace.frame()
    assert sorted(frame["status"]) == ["done", "done", "failed", "failed"]
    failed = frame[frame["status"] == "failed"]
    assert failed["message"].str.contains("out of memory").all()
    assert failed[["iteration", *FINAL_METRICS]].isna().all(axis=None)
    for name in failed["cell"]:
        content = (workspace.path / "runs" / "cells" / name / "cell.json").read_text()
        assert json.loads(content)["traceback"].startswith("Traceback (most recent call last)")
    # Failed is not finished.
    before = workspace.cells()
    again = workspace.run(*words, *tried, limits=limits)
    assert again.code == 1, again.text
    assert "4 cells: 2 done, 2 failed" in again.out
    assert "2 of them were there already" in again.out
    after = workspace.cells()
    assert {name for name in after if after[name] != before[name]} == set(failed["cell"])


# ---------------------------------------------------------------- data that are not there
def test_twin_says_so_in_capitals(workspace: Workspace) -> None:
    words = ("mlflow=false", "dataset=eurlex", "budget.epochs=0.05", "budget.checkpoints=1")
    done = workspace.run(*words, "dataset.synthetic.train=900", "method=ove").succeeded()
    shout = next(line for line in done.out.splitlines() if "TWIN" in line)
    assert "THE FILES OF EURLEX ARE NOT HERE" in shout
    assert "'eurlex-twin'" in shout
    assert shout.replace("'eurlex-twin'", "").upper() == shout.replace("'eurlex-twin'", "")
    frame = workspace.frame()
    assert list(frame["dataset"]) == ["eurlex-twin"]


def write_tiny_eurlex(folder: Path) -> tuple[str, ...]:
    """Files in the repository's format, and the settings that accept them."""
    rows = {"train": 12, "test": 6}
    folder.mkdir(parents=True)
    for role, number in rows.items():
        lines = [f"{i % 3} {i % 5}:1.5 {5 + i % 2}:2" for i in range(number)]
        content = "\n".join([f"{number} 7 3", *lines, ""])
        (folder / f"eurlex_{role}.txt").write_text(content)
    expected = {**rows, "features": 7, "labels": 3}
    return tuple(f"dataset.expected.{name}={number}" for name, number in expected.items())


@pytest.mark.parametrize("rates", [(), ("method.lr=0.1,1",)])
def test_missing_data_leave_a_row_until_they_are_there(
    workspace: Workspace, rates: tuple[str, ...]
) -> None:
    words = ("-m", *SMALL, "dataset=eurlex", "dataset.missing=skip", "method=softmax,umax", *rates)
    number = 3 if rates else 2
    skipped = workspace.run(*words).succeeded()
    assert f"{number} cells: {number} skipped" in skipped.out
    frame = workspace.frame()
    assert list(frame["dataset"]) == ["eurlex"] * number
    assert list(frame["status"]) == ["skipped"] * number
    assert frame["message"].str.startswith("not run: data ").all()
    assert frame[["iteration", *FINAL_METRICS]].isna().all(axis=None)
    # Skipped is not finished: once the files are there, measured rows take their place.
    done = workspace.run(*words, *write_tiny_eurlex(workspace.path / "data" / "eurlex")).succeeded()
    assert f"{number} cells: {number} done" in done.out
    assert list(workspace.frame()["status"]) == ["done"] * number


def test_sweep_flag_may_stand_behind_overrides(workspace: Workspace) -> None:
    done = workspace.run(*SMALL, *ZIPF, "method=ove", "-m", "seed=0,1").succeeded()
    assert "2 cells: 2 done" in done.out


@pytest.mark.parametrize("words", [("-sc", "install=bash"), ("plan=true", "-m", "seed=range(400)")])
def test_a_reader_that_has_seen_enough_is_no_error(
    workspace: Workspace, words: tuple[str, ...]
) -> None:
    with workspace.start_fresh(*words) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode != 2


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("run", "dataset=digits", "method=ove", "runs_dir="), "runs_dir"),
        (("run", "dataset=digits", "method=ove", "data_dir="), "data_dir"),
        (("run", "-m", "dataset=digits", "method=ove,umax", "reports_dir="), "reports_dir"),
        (("results", "runs_dir="), "runs_dir"),
        (("report", "reports_dir="), "reports_dir"),
        (("paper", "umax", "plan=true", "runs_dir= "), "runs_dir"),
        (("board", "part=report", "reports_dir="), "reports_dir"),
        (("data", "list", "data_dir="), "data_dir"),
        (("verify", "runs_dir="), "runs_dir"),
    ],
)
def test_a_folder_without_a_name_is_refused(
    workspace: Workspace, words: tuple[str, ...], name: str
) -> None:
    workspace.xcbench(*words).refused(f"{name}=", "must not be empty")
    assert {path.name for path in workspace.path.iterdir()} <= {"runs"}  # where launches log
