"""Cells on disk: what is written is read again, and nothing half-written counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from xcbench.errors import UserError
from xcbench.store import cells, curve_file
from xcbench.store.cell import CURVE_COLUMNS, Cell

NAN = float("nan")


def make(name: str = "0123456789abcdef", **changes: Any) -> Cell:
    rng = np.random.default_rng(0)
    curve = pd.DataFrame(rng.random((40, len(CURVE_COLUMNS))), columns=CURVE_COLUMNS)
    curve["iteration"] = np.arange(40)
    curve["l2_term"] = 1e-300 * rng.random(40)
    curve.loc[0, "bound"] = NAN
    curve.loc[39, CURVE_COLUMNS[4:]] = NAN
    return replace(
        Cell(
            cell=name,
            dataset="tiny",
            method="umax",
            seed=0,
            engine="numpy",
            method_version=1,
            dataset_digest="feedfeedfeedfeed",
            config={"method": {"lr": 0.1 + 0.2, "negatives": 1, "list": [1, "a"]}, "seed": 0},
            status="diverged",
            message="λ → ∞ at “epoch” 1",
            shape={"train": 3, "twin": False},
            started=1234567890.123456,
            seconds={"train": 1 / 3},
            environment={"git_commit": None},
            traceback='first\n  second, "quoted"\n',
            curve=curve,
        ),
        **changes,
    )


def assert_equal(result: Cell | None, expected: Cell) -> None:
    assert result is not None
    for entry in fields(Cell):
        if entry.name != "curve":
            assert getattr(result, entry.name) == getattr(expected, entry.name), entry.name
    assert_frame_equal(result.curve, expected.curve, check_exact=True)


def entries(runs_dir: Path) -> list[str]:
    return sorted(path.name for path in (runs_dir / "cells").iterdir())


def sweep_later(runs_dir: Path) -> None:
    """Sweep when whatever was left behind is old."""
    for leftover in (runs_dir / "cells").glob(".*"):
        os.utime(leftover, (0, 0))
    cells.sweep_leftovers(runs_dir)


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the ``number``-th sync to disk fail, as on a full disk."""
    real, calls = os.fsync, iter(range(1, 100))

    def fsync(descriptor: int) -> None:
        if next(calls) == number:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


# ---------------------------------------------------------------- save and load
def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    cell = make()
    cells.save(tmp_path, cell)
    assert_equal(cells.load(tmp_path, cell.cell), cell)
    assert entries(tmp_path) == [cell.cell]
    assert (cells.folder(tmp_path, cell.cell).stat().st_mode & 0o777) == 0o755


def test_cell_without_curve_rate_and_message(tmp_path: Path) -> None:
    cell = make(config={"method": {}}, message=None, traceback=None, status="skipped")
    cell.curve = pd.DataFrame(columns=CURVE_COLUMNS)
    cells.save(tmp_path, cell)
    saved = cells.load(tmp_path, cell.cell)
    assert saved is not None
    assert (saved.lr, saved.message, saved.traceback) == (None, None, None)
    assert list(saved.curve.columns) == CURVE_COLUMNS
    assert saved.curve.empty


def test_no_cell_is_none(tmp_path: Path) -> None:
    assert cells.load(tmp_path, "0123456789abcdef") is None
    assert list(cells.load_all(tmp_path)) == []
    cells.remove(tmp_path, "0123456789abcdef")
    cells.sweep_leftovers(tmp_path)


def test_load_all_is_sorted_and_remove_removes(tmp_path: Path) -> None:
    names = ["ff", "0a", "9c"]
    for name in names:
        cells.save(tmp_path, make(name))
    assert [cell.cell for cell in cells.load_all(tmp_path)] == sorted(names)
    cells.remove(tmp_path, "9c")
    assert [cell.cell for cell in cells.load_all(tmp_path)] == ["0a", "ff"]


def test_saving_again_replaces_everything(tmp_path: Path) -> None:
    cells.save(tmp_path, make(status="failed"))
    again = make(status="done", message=None, seed=0)
    again.curve = again.curve.head(3)
    cells.save(tmp_path, again)
    assert_equal(cells.load(tmp_path, again.cell), again)
    assert entries(tmp_path) == [again.cell]


def test_weights_are_saved_with_the_cell_and_go_with_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shape = {"classes": 4, "features": 3}
    kept = {"W": rng.normal(size=(4, 3)).astype(np.float32), "b": rng.normal(size=4)}
    cell = make(shape=shape, weights=kept)
    cells.save(tmp_path, cell)
    saved = cells.load(tmp_path, cell.cell)
    assert saved is not None
    assert saved.weights == {}
    weights = cells.weights(tmp_path, saved)
    assert {name: array.dtype for name, array in weights.items()} == {"W": "f4", "b": "f8"}
    assert all((weights[name] == kept[name]).all() for name in kept)
    assert cells.size(tmp_path, cell.cell) > 4 * 12 + 8 * 4
    cells.save(tmp_path, make(shape=shape))
    with pytest.raises(UserError, match=r"no weights.*save_weights=true force=true"):
        cells.weights(tmp_path, saved)
    for wrong in ({"W": kept["W"].T, "b": kept["b"]}, {"b": kept["b"]}):
        cells.save(tmp_path, make(shape=shape, weights=wrong))
        with pytest.raises(UserError, match=r"weights.npz cannot be read.*force=true"):
            cells.weights(tmp_path, saved)
    for content in (b"", b"rubbish", b"PK\x03\x04 cut off"):
        (cells.folder(tmp_path, cell.cell) / cells.WEIGHTS).write_bytes(content)
        with pytest.raises(UserError, match=r"weights.npz cannot be read"):
            cells.weights(tmp_path, saved)


# ---------------------------------------------------------------- interrupted writes
@pytest.mark.parametrize("number", [1, 2])
def test_interrupted_save_leaves_nothing_that_looks_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fail_at(monkeypatch, number)
    with pytest.raises(UserError, match=r"No space left.*make room"):
        cells.save(tmp_path, make())
    assert cells.load(tmp_path, make().cell) is None
    assert list(cells.load_all(tmp_path)) == []
    assert entries(tmp_path) == []
    sweep_later(tmp_path)
    assert entries(tmp_path) == []
    cells.save(tmp_path, make())
    assert_equal(cells.load(tmp_path, make().cell), make())


@pytest.mark.parametrize("number", [1, 2])
def test_interrupted_overwrite_keeps_the_old_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    old = make(message="old")
    cells.save(tmp_path, old)
    fail_at(monkeypatch, number)
    with pytest.raises(UserError, match=r"No space left.*make room"):
        cells.save(tmp_path, make(message="new"))
    assert_equal(cells.load(tmp_path, old.cell), old)
    sweep_later(tmp_path)
    assert entries(tmp_path) == [old.cell]
    assert_equal(cells.load(tmp_path, old.cell), old)


def test_sweep_keeps_finished_cells(tmp_path: Path) -> None:
    cells.save(tmp_path, make("aa"))
    for name in (".bb.xcbench-0123456789ab", ".aa.xcbench-0123456789ab-old"):
        leftover = tmp_path / "cells" / name
        leftover.mkdir()
        (leftover / "cell.json").write_text('{"cell": ')
    assert [cell.cell for cell in cells.load_all(tmp_path)] == ["aa"]
    sweep_later(tmp_path)
    assert entries(tmp_path) == ["aa"]


def during_save(monkeypatch: pytest.MonkeyPatch, other: Callable[[], None]) -> None:
    """Let something else happen once, in the middle of the next save."""
    real, pending = os.fsync, [other]

    def fsync(descriptor: int) -> None:
        real(descriptor)
        if pending:
            pending.pop()()

    monkeypatch.setattr(os, "fsync", fsync)


def test_another_launch_leaves_a_cell_alone_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_save(monkeypatch, lambda: cells.sweep_leftovers(tmp_path))
    cells.save(tmp_path, make())
    assert_equal(cells.load(tmp_path, make().cell), make())


def test_another_launch_may_finish_the_same_cell_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_save(monkeypatch, lambda: cells.save(tmp_path, make()))
    cells.save(tmp_path, make())
    assert_equal(cells.load(tmp_path, make().cell), make())
    assert entries(tmp_path) == [make().cell]


# ---------------------------------------------------------------- damaged files
def cut(path: Path, lines: int) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-lines]))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda where: os.truncate(where / "cell.json", 100),
    "empty": lambda where: (where / "cell.json").write_text(""),
    "no cell.json": lambda where: (where / "cell.json").unlink(),
    "no curve.csv": lambda where: (where / "curve.csv").unlink(),
    "empty curve": lambda where: (where / "curve.csv").write_text(""),
    "ragged curve": lambda where: (where / "curve.csv").write_text("a,b\n1,2\n1,2,3,4\n"),
    "curve without its last row": lambda where: cut(where / "curve.csv", 1),
    "curve without its last digits": lambda where: os.truncate(
        where / "curve.csv", (where / "curve.csv").stat().st_size - 3
    ),
    "binary curve": lambda where: (where / "curve.csv").write_bytes(b"\xff\xfe\x00" * 99),
    "a list": lambda where: (where / "cell.json").write_text("[1, 2]"),
    "null": lambda where: (where / "cell.json").write_text("null"),
    "unknown field": lambda where: (where / "cell.json").write_text('{"other": 1}'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cell_is_one_sentence(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cells.save(tmp_path, make())
    where = cells.folder(tmp_path, make().cell)
    DAMAGES[damage](where)
    with pytest.raises(UserError) as caught:
        cells.load(tmp_path, make().cell)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(where) in sentence
    assert "`xcbench verify`" in sentence
    assert cells.usable(tmp_path, make().cell) is None
    assert sentence in capsys.readouterr().err
    cells.save(tmp_path, make("ab"))
    assert [cell.cell for cell in cells.load_all(tmp_path)] == ["ab"]
    assert "1 folder is left out" in capsys.readouterr().err
    cells.save(tmp_path, make())
    assert_equal(cells.load(tmp_path, make().cell), make())


@pytest.mark.parametrize("text", [b"", b"\n", b"\na,b\n"])
def test_a_curve_has_names(text: bytes) -> None:
    with pytest.raises(ValueError, match="without names"):
        curve_file.parse(text)
