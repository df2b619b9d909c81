"""Whatever a disk or a hand does to the files of a cell is found, or changes nothing."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from byte_faults import faults
from catalogue import TOY, composed
from made_cells import make
from workspace import SMALL, Workspace
from xcbench.cli import clean, show, verify
from xcbench.cli.command import Request
from xcbench.config.settings import Budget, Config
from xcbench.data import cache, files, prepare
from xcbench.data.settings import BlobsSettings, DatasetSettings
from xcbench.errors import UserError
from xcbench.methods.umax import UmaxOptions
from xcbench.plan import identity, planning
from xcbench.run import execute
from xcbench.store import cells, grids
from xcbench.store.cell import Cell
from xcbench.store.cell import identity as of_content
from xcbench.system import sealed

SHAPE = {"classes": 3, "features": 2, "twin": False}
WEIGHTS = {"W": np.arange(6, dtype=np.float32).reshape(3, 2), "b": np.ones(3, np.float32)}


def planned(**changes) -> Cell:
    """A cell as a launch plans it, with a curve and weights."""
    settings = Config(
        dataset=DatasetSettings(name="tiny", reader="svmlight"),
        method=UmaxOptions(name="umax", lr=0.1),
        budget=Budget(epochs=4.0),
    )
    content = identity.content(settings, "tiny", "feedfeedfeedfeed", "numpy")
    whole = {
        "dataset": {"name": "tiny", "protocol": asdict(settings.dataset.protocol)},
        **{name: asdict(getattr(settings, name)) for name in ("method", "budget", "evaluation")},
        "seed": settings.seed,
        "dtype": settings.dtype,
    }
    cell = replace(
        make(lr=0.1, engine="numpy"),
        cell=of_content(content),
        content=content,
        config=whole,
        method_version=content["version"],
        dataset_digest="feedfeedfeedfeed",
        shape=SHAPE,
        weights=WEIGHTS,
    )
    return replace(cell, **changes)


def same(result: Cell, expected: Cell) -> bool:
    names = [entry.name for entry in fields(Cell) if entry.name not in cells.IN_FILES]
    equal = all(getattr(result, name) == getattr(expected, name) for name in names)
    return equal and result.curve.equals(expected.curve)


@pytest.mark.parametrize("name", ["cell.json", "curve.csv", "weights.npz"])
def test_no_fault_in_a_cell_is_silent(tmp_path: Path, name: str) -> None:
    cells.save(tmp_path, planned())
    expected = cells.load(tmp_path, planned().cell)
    assert expected is not None
    path = cells.folder(tmp_path, expected.cell) / name
    whole, count = path.read_bytes(), 0
    for damaged in faults(whole):
        path.write_bytes(damaged)
        try:
            cell = cells.load(tmp_path, expected.cell)
            assert cell is not None and same(cell, expected)
            weights = cells.weights(tmp_path, cell)
            assert all((weights[key] == WEIGHTS[key]).all() for key in WEIGHTS)
        except UserError as error:
            assert "\n" not in str(error)
            count += 1
    assert count > 100


def rewritten(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_edited_rate_and_the_files_of_another_cell_are_found(tmp_path: Path) -> None:
    cell = planned()
    cells.save(tmp_path, cell)
    where = cells.folder(tmp_path, cell.cell)
    shutil.copytree(where, where.with_name("0" * 16))
    with pytest.raises(cells.Damaged, match=f"files of cell {cell.cell}"):
        cells.load(tmp_path, "0" * 16)
    rewritten(where / "cell.json", '"lr": 0.1', '"lr": 0.2')
    with pytest.raises(cells.Damaged, match="does not match its checksum"):
        cells.load(tmp_path, cell.cell)


@pytest.mark.parametrize("part", ["content", "config", "method_version", "engine"])
def test_settings_of_another_identity_are_found(tmp_path: Path, part: str) -> None:
    method = {"method": {"name": "umax", "lr": 0.2}}
    changes = {
        "content": {**planned().content, "seed": 1},
        "config": {**planned().config, **method},
        "method_version": 99,
        "engine": "numba",
    }
    cells.save(tmp_path, planned(**{part: changes[part]}))
    with pytest.raises(cells.Damaged, match="not those of its identity"):
        cells.load(tmp_path, planned().cell)


def sealed_again(where: Path) -> None:
    """Files of a cell whose checksums are those of what they hold now."""
    content = json.loads((where / "cell.json").read_text())
    del content["checksum"]
    content["files"] = {
        name: sealed.digest((where / name).read_bytes()) for name in content["files"]
    }
    (where / "cell.json").write_text(sealed.dumps(content))


def test_damaged_and_stray_folders_block_nothing(tmp_path: Path, capsys) -> None:
    cells.save(tmp_path, planned())
    (tmp_path / "cells" / "backup").mkdir()
    (tmp_path / "cells" / "notes.txt").write_text("mine")
    other = make(seed=1)
    cells.save(tmp_path, other)
    (cells.folder(tmp_path, other.cell) / "curve.csv").write_text("")
    assert [cell.cell for cell in cells.load_all(tmp_path)] == [planned().cell]
    assert "2 folders are left out" in capsys.readouterr().err


UNUSABLE = {
    "objects": np.array([None, "a"], object),
    "words": np.full((3, 2), "1.0"),
    "complex": np.ones((3, 2)) + 1j,
    "not finite": np.full((3, 2), np.nan),
    "truth": np.ones((3, 2), bool),
    "another shape": np.ones((2, 3)),
    "a number": np.float64(1.0),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_weights_of_another_kind_are_one_sentence(tmp_path: Path, what: str) -> None:
    cell = planned(weights={"W": WEIGHTS["W"]})
    cells.save(tmp_path, cell)
    where = cells.folder(tmp_path, cell.cell)
    np.savez(where / "weights.npz", W=UNUSABLE[what])
    sealed_again(where)  # no checksum stands in the way
    with pytest.raises(UserError, match=r"weights.npz cannot be read .*save_weights=true"):
        cells.weights(tmp_path, cell)


def test_weights_of_an_unknown_compression_are_one_sentence(tmp_path: Path) -> None:
    cells.save(tmp_path, planned())
    where = cells.folder(tmp_path, planned().cell)
    content = bytearray((where / "weights.npz").read_bytes())
    for start in (content.find(b"PK\x01\x02") + 10, content.find(b"PK\x03\x04") + 8):
        content[start] = 99
    (where / "weights.npz").write_bytes(bytes(content))
    sealed_again(where)
    with pytest.raises(UserError, match=r"weights.npz cannot be read"):
        cells.weights(tmp_path, planned())


# ---------------------------------------------------------------- prepared datasets
def test_no_fault_in_what_is_known_of_data_is_silent(data_dir, cache_dir) -> None:
    info = prepare(composed(*TOY), data_dir, cache_dir)
    described = cache_dir / info.digest / "info.json"
    for path, known in ((described, info), (cache_dir / "files.json", info)):
        whole = path.read_bytes()
        for number, damaged in enumerate(faults(whole)):
            path.write_bytes(damaged)
            if path == described:
                assert cache.info(path.parent) in (None, known)
            elif number % 8 == 0:
                assert prepare(composed(*TOY), data_dir, cache_dir) == known
        path.write_bytes(whole)


def test_data_of_the_same_size_and_time_are_read_again(data_dir, cache_dir) -> None:
    path, known = data_dir / "a.txt", cache_dir / "files.json"
    path.write_text("first")
    before = files.content_digest(path, known)
    status = path.stat()
    path.write_text("other")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert files.content_digest(path, known) != before
    assert len(json.loads(known.read_text())) == 2  # one file, and the checksum


# ---------------------------------------------------------------- the command
def test_weights_that_are_gone_are_not_weights_that_nobody_wanted(tmp_path: Path, capsys) -> None:
    cells.save(tmp_path, planned())
    cells.save(tmp_path, make(seed=1))
    path = cells.folder(tmp_path, planned().cell) / "weights.npz"
    path.unlink()
    settings, remedy = {"runs_dir": str(tmp_path)}, "run again with save_weights=true force=true"
    assert show.show(Request("show", [make(seed=1).cell], settings.copy())) == 0
    assert "not saved" in capsys.readouterr().out
    assert show.show(Request("show", [planned().cell], settings.copy())) == 0
    shown = capsys.readouterr()
    assert f"weights.npz is missing; {remedy}" in shown.out and "not saved" not in shown.out
    assert shown.err == f"warning: weights.npz is missing; {remedy}\n"
    assert verify.verify(Request("verify", [], settings.copy())) == 1
    listed = capsys.readouterr().out
    assert f"{path} is missing; {remedy}" in listed and "1 damaged" in listed


def test_verify_lists_what_is_damaged_and_puts_it_aside(
    tmp_path: Path, data_dir, capsys, monkeypatch
) -> None:
    runs = tmp_path / "runs"
    info = prepare(composed(*TOY), data_dir, runs / "cache")
    cells.save(runs, planned())
    cells.save(runs, make(seed=1))
    cells.save(runs, make(seed=2))
    grids.add(runs, "g", [planned().cell])
    given = Request("verify", [], {})
    given.settings["runs_dir"] = str(runs)
    assert verify.verify(given) == 0
    assert "nothing is damaged" in capsys.readouterr().out
    for path in (
        runs / "cache" / info.digest / "train.y.npy",
        runs / "grids" / "g.json",
        cells.folder(runs, make(seed=1).cell) / "curve.csv",
        cells.folder(runs, planned().cell) / "weights.npz",
    ):
        path.write_bytes(path.read_bytes()[:-1])
    (runs / "cells" / "backup").mkdir()
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for yes, sentence in ((False, "5 damaged; --yes moves"), (True, "5 damaged, moved to")):
        given = Request("verify", [], {"runs_dir": str(runs)}, yes=yes)
        assert verify.verify(given) == 1
        assert sentence in capsys.readouterr().out
    assert verify.verify(Request("verify", [], {"runs_dir": str(runs)})) == 0
    assert [cell.cell for cell in cells.load_all(runs)] == [make(seed=2).cell]
    assert sorted(path.name for path in (runs / "quarantine").iterdir()) == [
        "cache",
        "cells",
        "grids",
    ]


# ---------------------------------------------------------------- what a cell says
def test_show_imports_nothing_and_prints_no_commands_of_a_terminal(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    cell = make(message="\x1b[2J\x07 gone", dataset="a\x1b]0;title\x07b")
    cell.launch = {"method_target": "evil_module.thing"}
    cell.config["dataset"]["reader"] = "evil_module.reader"
    cells.save(tmp_path / "runs", cell)
    assert show.show(Request("show", [cell.cell], {})) == 0
    assert clean.clean(Request("clean", [], {"status": "done"}, yes=True)) == 0
    shown = capsys.readouterr().out
    assert "evil_module" not in sys.modules and "evil_module.thing" in shown
    assert all(sign.isprintable() or sign == "\n" for sign in shown)


def test_a_plan_says_once_that_a_cell_is_damaged(tmp_path: Path, capsys) -> None:
    blobs = DatasetSettings(name="tiny", reader="blobs", blobs=BlobsSettings(train=20, test=10))
    settings = Config(
        dataset=blobs, method=UmaxOptions(name="umax"), plan=True, runs_dir=str(tmp_path)
    )
    (job,) = planning.jobs([settings])
    where = cells.folder(tmp_path, job.cell.cell)
    where.mkdir(parents=True)
    (where / cells.CELL).write_text("{}")
    assert execute.execute([job]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("is damaged") == 1 and "1 cell, 1 to run" in shown.out


def test_a_launch_runs_a_damaged_cell_again_and_results_go_on(workspace: Workspace) -> None:
    words = ("dataset=digits", "method=umax", *SMALL)
    assert workspace.run(*words).code == 0
    (name,) = workspace.cells()
    before = workspace.frame()
    curve = workspace.path / "runs" / "cells" / name / "curve.csv"
    curve.write_bytes(curve.read_bytes()[:-4])
    shown = workspace.xcbench("results").succeeded()
    assert "warning: 1 folder is left out" in shown.err, shown.text
    again = workspace.run(*words).succeeded()
    assert again.err.count("is damaged (curve.csv is cut off") == 1, again.text
    clocks = [column for column in before if column.endswith("seconds")]
    assert workspace.frame().drop(columns=clocks).equals(before.drop(columns=clocks))
