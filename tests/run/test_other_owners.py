"""Folders that can only be read, and cells that another user keeps for himself."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import made_cells
from bad_case import BASE, NotPossible
from bad_machine import LIBC, mounted
from workspace import Workspace
from xcbench.cli.command import Request
from xcbench.cli.verify import verify
from xcbench.store import cells

REMOUNTED_TO_READ = 32 | 1


@pytest.mark.parametrize("words", [("seed=1",), ("-m", "seed=1,2")])
def test_a_launch_of_cells_that_are_there_writes_nothing(
    workspace: Workspace, words: tuple[str, ...]
) -> None:
    workspace.run("-m", *BASE, "seed=1,2", "mlflow=true").succeeded()
    disk = workspace.path / "disk"
    command = [word for word in (*words, *BASE) if word != "mlflow=false"]
    try:
        with mounted(disk, "32m"):
            shutil.copytree(workspace.path / "runs", disk / "runs")
            LIBC.mount(b"tmpfs", os.fsencode(disk), b"tmpfs", REMOUNTED_TO_READ, b"")
            same = workspace.run(*command, "runs_dir=disk/runs")
            more = workspace.run(*command, "runs_dir=disk/runs", "budget.epochs=2")
    except NotPossible as reason:
        pytest.skip(str(reason))
    assert same.code == 0 and "every cell was there already" in same.out, same.text
    assert same.err.startswith("warning: ") and same.err.count("\n") == 1, same.text
    assert "grids/last.json cannot be written (Read-only file system)" in same.err
    assert (more.code, more.err.count("\n")) == (2, 1), more.text


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of two cells, which another user keeps for himself."""
    for seed in (0, 1):
        cells.save(tmp_path, made_cells.make(seed=seed))
    name = cells.names(tmp_path)[0]
    read = Path.read_bytes

    def refusing(path: Path) -> bytes:
        if name in path.parts:
            raise PermissionError(13, os.strerror(13), str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    return name


def test_a_cell_that_cannot_be_read_is_not_said_to_be_damaged(
    tmp_path: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cells.usable(tmp_path, kept) is None
    said = capsys.readouterr().err
    assert "cannot be read (Permission denied)" in said and said.count("\n") == 1
    assert "verify" not in said and "damaged" not in said


def test_verify_leaves_it_where_it_is(
    tmp_path: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    request = Request("verify", [], {"runs_dir": str(tmp_path)}, yes=True)
    assert verify(request) == 1
    said = capsys.readouterr().out
    assert f"{kept} cannot be read (Permission denied)" in said
    assert "moved" not in said and "nothing is damaged" not in said
    assert cells.folder(tmp_path, kept).is_dir() and not (tmp_path / "quarantine").exists()


def test_verify_moves_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in (0, 1):
        cells.save(tmp_path, made_cells.make(seed=seed))
    first, second = cells.names(tmp_path)
    for name in (first, second):
        (cells.folder(tmp_path, name) / cells.CURVE).write_text("")
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path.name == first:
            raise PermissionError(1, os.strerror(1), str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    assert verify(Request("verify", [], {"runs_dir": str(tmp_path)}, yes=True)) == 1
    said = capsys.readouterr().out
    assert f"{first} stays (Operation not permitted)" in said and "1 damaged, moved to" in said
    assert cells.names(tmp_path) == [first]
