"""Where the wall time of a launch went: rows of `xcbench launches`."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from workspace import SMALL, Workspace
from xcbench.store import profile
from xcbench.store.cell import Cell

GRID = ("-m", *SMALL, "dataset=digits", "method=ove,umax", "seed=0,1")


def launches(workspace: Workspace, *words: str) -> pd.DataFrame:
    done = workspace.xcbench("launches", *words).succeeded()
    return pd.read_csv(io.StringIO(done.out))


def test_the_phases_of_a_launch_are_its_wall_time(workspace: Workspace) -> None:
    started = time.time()
    for words in (("grid=one",), ("grid=two", "workers=2", "force=true")):
        assert workspace.run(*GRID, *words).code == 0
    most = time.time() - started
    frame = launches(workspace)
    assert list(frame.columns) == profile.COLUMNS
    assert list(frame["grid"]) == ["one", "two"] and list(frame["workers"]) == [1, 2]
    assert (frame["cells"] == 4).all() and (frame[list(profile.PHASES)] >= 0).all(axis=None)
    one = frame.iloc[0]
    assert one[list(profile.PHASES)].sum() == pytest.approx(one["wall"], abs=0.02)
    assert (one[["import", "compose", "train", "evaluate", "save"]] > 0).all()
    assert frame["wall"].sum() < most
    assert len(launches(workspace, "grid=two")) == 1


def test_a_launch_of_which_all_is_there_ran_no_cell(workspace: Workspace) -> None:
    for _ in range(2):
        assert workspace.run(*GRID, "grid=one").code == 0
    again = launches(workspace).iloc[-1]
    assert again[["cells", "train", "evaluate"]].sum() == 0
    assert again["idle"] < 0.1 < again["wall"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_the_start_of_the_interpreter_counts_as_import() -> None:
    code = (
        "import time; time.sleep(0.5); from xcbench.store.profile import LAUNCH; "
        "LAUNCH.import_until_now(); print(LAUNCH.seconds['import'])"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    most = time.monotonic() - started
    assert 0.5 <= float(done.stdout) <= most + 0.02  # the system counts hundredths


def test_workers_that_wait_are_idle() -> None:
    clock = profile.Profile()
    clock.begin("plan", age=5.0)
    clock.enter("idle")
    clock.begin("idle", age=10.0)  # ten seconds in which two workers ran one cell of six
    cell = Cell("", "", "", 0, "", 1, "", {}, seconds={"train": 4.0, "evaluate": 1.0})
    clock.add(cell, 6.0)
    row = clock.taken("g", 2)
    assert row["wall"] == pytest.approx(10.0, abs=0.1)
    assert row["idle"] == pytest.approx(2 * 10.0 - 6.0, abs=0.2)
    assert row["train"] == 4.0 and row["other"] == pytest.approx(1.0, abs=0.1)


def test_a_damaged_row_is_left_out_and_said(workspace: Workspace) -> None:
    assert workspace.run(*GRID, "grid=one").code == 0
    (path,) = (workspace.path / "runs" / "launches").iterdir()
    path.write_text(path.read_text().replace('"cells": 4', '"cells": 5'))
    done = workspace.xcbench("launches").succeeded()
    assert "is left out" in done.err, done.text
    assert len(pd.read_csv(io.StringIO(done.out))) == 0
