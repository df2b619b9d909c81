"""Durable writes: whole or not there, at whatever operation the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xcbench.system import durable, locks

OPERATIONS = ("rename", "replace", "unlink")


class Killed(BaseException):
    """Ends a process as `kill -9` does: nothing after it runs."""


def folder(where: Path, content: str) -> Path:
    where.mkdir()
    for name in ("a", "b"):
        (where / name).write_text(content)
    return where


def contents(where: Path) -> set[str]:
    return {path.read_text() for path in where.iterdir()}


def test_write_replaces_whole_files_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.json"
    for content in ("first", b"second"):
        durable.write(path, content)
    assert path.read_bytes() == b"second"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert os.listdir(path.parent) == ["file.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    durable.write(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        durable.write(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file.json"]


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("there", [None, "folder", "file"])
def test_a_folder_takes_the_place(tmp_path, monkeypatch, exchanges, there) -> None:
    if not exchanges:
        monkeypatch.setattr(durable, "_exchange", lambda a, b: False)
    target = tmp_path / "target"
    if there == "folder":
        folder(target, "old")
    if there == "file":
        target.write_text("old")
    durable.replace_folder(folder(durable.sibling(target), "new"), target)
    assert contents(target) == {"new"} and os.listdir(tmp_path) == ["target"]


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("number", range(1, 4))
def test_killed_at_a_rename_a_folder_is_old_or_new(
    tmp_path, monkeypatch, exchanges, number
) -> None:
    target = folder(tmp_path / "target", "old")
    rename, calls = Path.rename, iter(range(1, 100))

    def killed(self: Path, other: Path) -> Path:
        if next(calls) == number:
            raise Killed
        return rename(self, other)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        if not exchanges:
            patch.setattr(durable, "_exchange", lambda a, b: False)
        try:
            durable.replace_folder(folder(durable.sibling(target), "new"), target)
        except Killed:
            durable.recover(tmp_path)
    assert contents(target) in ({"old"}, {"new"})
    for left in tmp_path.glob(".*"):
        os.utime(left, (0, 0))
    durable.sweep(tmp_path)
    assert os.listdir(tmp_path) == ["target"]


REPLACES = """
import itertools, sys
from pathlib import Path
from xcbench.system import durable
target = Path(sys.argv[1])
for number in itertools.count():
    scratch = durable.sibling(target)
    scratch.mkdir()
    for name in "ab":
        (scratch / name).write_text(str(number))
    durable.replace_folder(scratch, target)
    print(number, flush=True)
"""


def test_kill_9_while_folders_are_replaced(tmp_path: Path) -> None:
    target = tmp_path / "target"
    for delay in (0.0, 0.003, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", REPLACES, str(target)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        durable.recover(tmp_path)
        assert len(contents(target)) == 1


HOLDS = """
import sys, time
from pathlib import Path
from xcbench.system import locks
with locks.alone(Path(sys.argv[1]), "holds it"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_waits_for_a_lock_is_told(tmp_path, monkeypatch, capsys) -> None:
    path = tmp_path / "some" / "x.lock"
    with locks.alone(path, "prepares toy"):
        pass
    assert capsys.readouterr().err == ""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None and holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    monkeypatch.setattr(locks, "SILENT_SECONDS", 0.05)
    with pytest.raises(locks.Timeout), locks.alone(path, "prepares toy", 0.1):
        pass
    assert f"waiting for another process, which prepares toy ({path})" in capsys.readouterr().err
    holder.communicate()
    with locks.alone(path, "prepares toy", 10):
        pass


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
