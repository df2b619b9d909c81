"""Launches that are cut off go on where they were, and end as if nothing had happened."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from workspace import Launch, Workspace

SEEDS = 6
SWEEP = (
    *("-m", "mlflow=false", "dataset=digits", "method=umax", "budget.epochs=15", "engine=numpy"),
    *("budget.checkpoints=3", f"seed=range({SEEDS})"),
)


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="train_seconds")


def wait_for(condition: Callable[[], bool], process: Launch) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "the launch ended before it could be cut off"
        assert time.monotonic() < deadline, "the launch did not get so far"
        time.sleep(0.002)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Frame and curves of the sweep in one go."""
    workspace = Workspace(tmp_path_factory.mktemp("undisturbed"))
    workspace.run(*SWEEP).succeeded()
    frame, curves = workspace.frame(), workspace.frame("--curves")
    assert len(frame) == SEEDS
    assert len(curves) == 4 * SEEDS
    return frame, curves


def assert_goes_on(workspace: Workspace, expected: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """The same command runs the missing cells alone, and ends with the expected numbers."""
    before = workspace.cells()
    assert 2 <= len(before) < SEEDS
    done = workspace.run(*SWEEP).succeeded()
    assert f"{SEEDS} cells: {SEEDS} done" in done.out
    assert f"{len(before)} of them were there already" in done.out
    started = [line for line in done.out.splitlines() if line.startswith("[")]
    assert [line.split()[0] for line in started] == [
        f"[{number}/{SEEDS}]" for number in range(len(before) + 1, SEEDS + 1)
    ]
    after = workspace.cells()
    assert {name: after[name] for name in before} == before
    assert len(after) == SEEDS
    frame, curves = workspace.frame(), workspace.frame("--curves")
    assert_frame_equal(numbers(frame), numbers(expected[0]), check_exact=True)
    assert_frame_equal(numbers(curves), numbers(expected[1]), check_exact=True)


def test_killed_sweep_goes_on(
    workspace: Workspace, undisturbed: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    with workspace.start(*SWEEP) as process:
        wait_for(lambda: len(workspace.cells()) >= 2, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    survived = workspace.cells()
    # What a process leaves behind that dies while it writes.
    half = workspace.path / "runs" / "cells" / ".0123456789abcdef.xcbench-0123456789ab"
    half.mkdir()
    whole = workspace.path / "runs" / "cells" / next(iter(survived)) / "cell.json"
    (half / "cell.json").write_text(whole.read_text()[:500])
    os.utime(half, (0, 0))
    assert set(workspace.cells()) == set(survived)
    assert set(workspace.frame()["cell"]) == set(survived)
    assert_goes_on(workspace, undisturbed)
    assert not half.exists()


def test_interrupted_sweep_goes_on(
    workspace: Workspace, undisturbed: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    with workspace.start(*SWEEP) as process:
        wait_for(lambda: len(workspace.cells()) >= 2, process)
        time.sleep(0.1)  # into the training of the next cell
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, out + err
    assert err == ""
    assert "interrupted: what is finished is saved; the same command goes on from here" in out
    assert f"{SEEDS} cells: {len(workspace.cells())} done" in out
    assert "were there already" not in out
    assert_goes_on(workspace, undisturbed)


def test_interrupted_while_data_are_prepared(workspace: Workspace) -> None:
    words = ("mlflow=false", "dataset=zipf", "dataset.synthetic.train=300000", "method=ove")
    cache = workspace.path / "runs" / "cache"

    def preparing() -> bool:
        return any(cache.glob("*.lock"))

    with workspace.start(*words) as process:
        wait_for(preparing, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, out + err
    assert "Traceback" not in out + err
    assert (out + err).count("\n") <= 2, out + err
    assert "interrupted" in out + err
    assert not workspace.cells()
    # The data are prepared by the next launch.
    small = "dataset.synthetic.train=2000"
    workspace.run(*words, small, "budget.epochs=0.1", "budget.checkpoints=1").succeeded()
