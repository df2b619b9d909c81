"""Whatever a disk or a hand does to the files of a cell is found, or changes nothing."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from made_cells import make
from xcbench import cells, config, planning
from xcbench.cells import Cell
from xcbench.errors import UserError

SHAPE = {"classes": 3, "features": 2, "twin": False}
WEIGHTS = {"W": np.arange(6, dtype=np.float32).reshape(3, 2), "b": np.ones(3, np.float32)}


def planned(**changes) -> Cell:
    """A cell as a launch plans it, with a curve and weights."""
    settings = config.Config(
        dataset=config.Dataset(name="tiny", reader="svmlight"),
        method=config.Umax(name="umax", lr=0.1),
        budget=config.Budget(epochs=4.0),
    )
    content = planning.content(settings, "tiny", "feedfeedfeedfeed", "numpy")
    whole = {
        "dataset": {"name": "tiny", "protocol": asdict(settings.dataset.protocol)},
        **{name: asdict(getattr(settings, name)) for name in ("method", "budget", "evaluation")},
        "seed": settings.seed,
        "dtype": settings.dtype,
    }
    cell = replace(
        make(lr=0.1, engine="numpy"),
        cell=cells.identity(content),
        content=content,
        config=whole,
        method_version=content["version"],
        dataset_digest="feedfeedfeedfeed",
        shape=SHAPE,
        weights=WEIGHTS,
    )
    return replace(cell, **changes)


def faults(content: bytes) -> Iterator[bytes]:
    """Flipped bits all over, cuts, zeros, and a text with other digits."""
    for place in range(0, len(content), max(1, len(content) // 97)):
        yield content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
    yield from (content[:size] for size in (0, 1, len(content) // 2, len(content) - 1))
    yield bytes(len(content))
    for place in range(0, len(content), max(1, len(content) // 29)):
        digit = next((i for i in range(place, len(content)) if content[i : i + 1].isdigit()), None)
        if digit is not None:
            other = b"1" if content[digit : digit + 1] != b"1" else b"2"
            yield content[:digit] + other + content[digit + 1 :]


def same(found: Cell, expected: Cell) -> bool:
    names = [entry.name for entry in fields(Cell) if entry.name not in cells.APART]
    equal = all(getattr(found, name) == getattr(expected, name) for name in names)
    return equal and found.curve.equals(expected.curve)


@pytest.mark.parametrize("name", ["cell.json", "curve.csv", "weights.npz"])
def test_no_fault_in_a_cell_is_silent(tmp_path: Path, name: str) -> None:
    cells.save(tmp_path, planned())
    expected = cells.load(tmp_path, planned().cell)
    assert expected is not None
    path = cells.folder(tmp_path, expected.cell) / name
    whole, found = path.read_bytes(), 0
    for damaged in faults(whole):
        path.write_bytes(damaged)
        try:
            cell = cells.load(tmp_path, expected.cell)
            assert cell is not None and same(cell, expected)
            weights = cells.weights(tmp_path, cell)
            assert all((weights[key] == WEIGHTS[key]).all() for key in WEIGHTS)
        except UserError as error:
            assert "\n" not in str(error)
            found += 1
    assert found > 100


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
    with pytest.raises(cells.Damaged, match="not that of its checksum"):
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


def as_earlier(where: Path) -> None:
    """Files of a cell as the versions without checksums wrote them."""
    content = json.loads((where / "cell.json").read_text())
    for name in ("checksum", "files", "content"):
        del content[name]
    content["curve_checksum"] = zlib.crc32((where / "curve.csv").read_bytes())
    (where / "cell.json").write_text(json.dumps(content, indent=1))


def test_a_cell_of_an_earlier_version_is_read_where_its_settings_give_its_identity(
    tmp_path: Path,
) -> None:
    cell = planned()
    cells.save(tmp_path, cell)
    where = cells.folder(tmp_path, cell.cell)
    expected = cells.load(tmp_path, cell.cell)
    as_earlier(where)
    found = cells.load(tmp_path, cell.cell)
    assert found is not None and expected is not None
    assert same(found, replace(expected, content={}))
    assert cells.weights(tmp_path, found).keys() == WEIGHTS.keys()
    for old, new in (('"lr": 0.1', '"lr": 0.2'), ('"umax"', '"other"'), ('"m": 1', '"m": 7')):
        as_it_was = (where / "cell.json").read_text()
        rewritten(where / "cell.json", old, new)
        with pytest.raises(cells.Damaged):
            cells.load(tmp_path, cell.cell)
        (where / "cell.json").write_text(as_it_was)


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
    as_earlier(where)  # no checksum stands in the way
    np.savez(where / "weights.npz", W=UNUSABLE[what])
    with pytest.raises(UserError, match=r"weights.npz cannot be read .*save_weights=true"):
        cells.weights(tmp_path, cell)


def test_weights_of_an_unknown_compression_are_one_sentence(tmp_path: Path) -> None:
    cells.save(tmp_path, planned())
    where = cells.folder(tmp_path, planned().cell)
    as_earlier(where)
    content = bytearray((where / "weights.npz").read_bytes())
    for start in (content.find(b"PK\x01\x02") + 10, content.find(b"PK\x03\x04") + 8):
        content[start] = 99
    (where / "weights.npz").write_bytes(bytes(content))
    with pytest.raises(UserError, match=r"weights.npz cannot be read"):
        cells.weights(tmp_path, planned())
