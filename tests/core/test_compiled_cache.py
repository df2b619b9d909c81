"""Compiled code is loaded only from folders of one's own, and only as it was written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

pytest.importorskip("numba")

import numba
import numpy as np
from numba import types

from workspace import ROOT
from xcbench.core.kernels import compiling, evaluation, keeping, minibatch, rows


def formula(x: float) -> float:
    return 3.0 * x + 1.0


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    numba.config.reload_config()  # else the next compilation does, if NUMBA_* changed before
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "FOLDER", tmp_path)
    return tmp_path


def compiled() -> object:
    compiling.compiled.cache_clear()
    return compiling.compiled(formula, types.float64(types.float64))


def hits(dispatcher) -> int:
    assert dispatcher(2.0) == 7.0
    return sum(dispatcher.stats.cache_hits.values())


def test_what_is_compiled_is_loaded_again(where: Path) -> None:
    assert hits(compiled()) == 0
    assert {path.suffix for path in where.rglob("*.nb*")} == {".nbi", ".nbc"}
    assert hits(compiled()) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_code_is_compiled_again(where: Path, suffix: str) -> None:
    compiled()
    (path,) = where.rglob(f"*{suffix}")
    whole = path.read_bytes()
    size = len(whole)
    flipped = [whole[:i] + bytes([whole[i] ^ 4]) + whole[i + 1 :] for i in (0, size // 2, size - 1)]
    for damaged in (b"", whole[:-1], whole[: size // 2], whole + b"x", bytes(size), *flipped):
        path.write_bytes(damaged)
        assert hits(compiled()) == 0
        assert keeping.intact(str(path))
        assert hits(compiled()) == 1


def test_a_place_of_others_is_not_used(tmp_path: Path, monkeypatch) -> None:
    home, scratch = tmp_path / "home", tmp_path / "tmp"
    for path in (home, scratch):
        path.mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(home))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(scratch))
    own = keeping.folder()
    assert own == keeping.folder()
    assert own is not None and own.is_relative_to(home) and own.stat().st_mode & 0o777 == 0o700
    (home / "xcbench").chmod(0o777)  # anyone could put code there
    elsewhere = keeping.folder()
    assert elsewhere is not None and elsewhere.is_relative_to(scratch)
    place = scratch / f"xcbench-{os.getuid()}"
    place.rename(scratch / "theirs")
    place.symlink_to(scratch / "theirs")
    assert keeping.folder() is None
    place.unlink()
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)  # folders are another user's
    assert keeping.folder() is None


def test_without_a_private_place_nothing_is_kept(where: Path, monkeypatch) -> None:
    monkeypatch.setattr(compiling, "FOLDER", None)
    assert hits(compiled()) == 0 and hits(compiled()) == 0
    assert not list(where.rglob("*.nb*"))


def own(where: Path, values: np.ndarray) -> float:
    """A sum by the kernel of products, compiled anew, with what is kept of it in a folder."""
    again = compiling.kernel(rows.dot.py_func, fastmath=rows.dot.targetoptions["fastmath"])
    return float(again(values, None, values, 0, len(values)))


def test_every_compiled_function_is_kept_in_the_checked_cache() -> None:
    """Numba's own cache would run any pickle that somebody puts there."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if path.name != "compiling.py":
            assert "njit" not in path.read_text("utf-8"), path
    for function in (rows.dot, rows._short_dot, minibatch._adapt_row, evaluation._largest):
        assert isinstance(function._cache, keeping.Cache)


@pytest.mark.parametrize("damaged", [b"", b"x" * 99, b"cos\nsystem\n(S'touch executed'\ntR."])
def test_what_is_put_in_the_place_of_a_kernel_is_not_run(
    where: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes
) -> None:
    monkeypatch.chdir(where)
    assert own(where, np.ones(3)) == 3.0
    files = list(where.rglob("*.nb*"))
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for path in files:
        path.write_bytes(damaged)
        assert own(where, np.ones(3)) == 3.0
    assert not (where / "executed").exists() and all(keeping.intact(str(path)) for path in files)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_without_room_all_is_compiled_in_memory_with_one_warning(
    where: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(number, os.strerror(number))

    keeping.warn.cache_clear()
    monkeypatch.setattr("xcbench.system.durable.write", full)
    assert own(where, np.ones(3)) == 3.0 and own(where, np.ones(4)) == 4.0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("warning: compiled code is not kept in ")
    assert os.strerror(number) in said and "NUMBA_CACHE_DIR" in said


def test_a_folder_that_cannot_be_made_is_one_warning_too(
    where: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keeping.warn.cache_clear()
    monkeypatch.setattr("numba.config.CACHE_DIR", str(where / "file" / "below"))
    (where / "file").write_text("no folder")
    assert own(where, np.ones(3)) == 3.0 and own(where, np.ones(3)) == 3.0
    assert capsys.readouterr().err.count("warning: compiled code is not kept") == 1
