"""The board: its protocol, its cells and its rows."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from workspace import ROOT
from xcbench.board import checks, limits, protocol, results
from xcbench.board.launch import Launch
from xcbench.committed.results_cache import ResultsCache
from xcbench.plan import planned, planning, sweeps
from xcbench.store import cells

PROTOCOL = protocol.read()


def test_cells_that_their_limit_ends_say_so_and_do_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "isolated", lambda run: -signal.SIGXCPU)
    with sweeps.hydra({}):
        conditions = protocol.Conditions(PROTOCOL, {"runs_dir": str(tmp_path)})
        trials = [conditions.trial(PROTOCOL.tasks["digits"], "umax", seed, 1.0) for seed in (0, 1)]
    jobs = planning.jobs(trials)
    assert Launch(PROTOCOL, tmp_path, {})._execute(jobs) == 0
    for job, there in zip(jobs, planned.states(jobs, tmp_path), strict=True):
        cell = cells.usable(tmp_path, job.cell.cell)
        assert cell is not None and cell.status == "failed"
        assert cell.message == "ended: these cells took more than 40 processor seconds"  # 20 × 2
        assert there.state == "failed"
        rows = ResultsCache.of("digits/umax", [cell])
        assert rows.holds(job, "digits/umax") == job.cell.cell
        other = ResultsCache.of("digits/umax", [replace(cell, message="TypeError: no number")])
        assert other.holds(job, "digits/umax") is None


@pytest.mark.parametrize("task", PROTOCOL.tasks.values(), ids=lambda task: task.name)
def test_a_tasks_name_begins_with_its_dataset(task: protocol.Task) -> None:
    assert task.words[0] == f"dataset={protocol.dataset(task.name)}"


def test_the_protocol_is_written_as_its_file_has_it(tmp_path: Path) -> None:
    protocol.write(tmp_path)
    text = (tmp_path / "PROTOCOL.md").read_text()
    assert f"each has {PROTOCOL.trials} trials" in text
    assert all(f"| {name} |" in text for name in PROTOCOL.tasks)


def test_a_board_without_rows_is_read(tmp_path: Path) -> None:
    board = results.read(tmp_path, PROTOCOL)
    assert board.summary.empty and not board.measured


def test_settings_that_changed_leave_cells_to_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "reports" / "board" / "cells" / "digits", tmp_path / "cells" / "digits")
    methods, local = ["prior", "class_sums"], {"runs_dir": str(tmp_path / "runs")}
    for changed, number, result in (({}, 0, "holds"), ({"dtype": "float64"}, 2, "fails")):
        launch = Launch(PROTOCOL, tmp_path, {**local, **changed}, methods=methods)
        (row,) = checks.missing(launch, ["digits"])
        assert (row["number"], row["result"]) == (number, result)
