"""Cells, grids, launches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.edits import CUT, FOLDER, Target, changed, covered, edited, parsed, resealed, written
from fuzz.of_models import files_of
from tracked_cells import a_cell
from xcbench.data.inputs import Inputs
from xcbench.errors import UserError, one_line
from xcbench.store import cells, curve_file, grids, profile
from xcbench.system import sealed


def cell(content: bytes) -> None:
    """``cell.json`` with a checksum of its own, and the curve with the one it should have."""
    text, _, curve = content.partition(CUT)
    text = edited(good_cell(), text)
    where = FOLDER / "cells" / ("0" * 16)
    written(f"cells/{where.name}/curve.csv", curve)
    said = parsed(text)
    if isinstance(said, dict):
        files = {**said.get("files", {})} if isinstance(said.get("files"), dict) else {}
        said["files"] = {**files, "curve.csv": sealed.digest(curve)}
    written(f"cells/{where.name}/cell.json", resealed(text, said))
    list(cells.load_all(FOLDER))
    cells.load(FOLDER, where.name)


@cache
def good_cell() -> bytes:
    saved = a_cell(0, cell="0" * 16, config={"method": {"name": "ove", "lr": 0.1}})
    cells.save(FOLDER, saved)
    return (FOLDER / "cells" / saved.cell / "cell.json").read_bytes()


def curve(content: bytes) -> None:
    with suppress(ValueError):  # what `cells.load` expects of it
        curve_file.parse(content)


def grid(content: bytes) -> None:
    grids.read(written("grid.json", resealed(content, parsed(content))))


def launches(content: bytes) -> None:
    written("launches/a.json", resealed(content, parsed(content)))
    profile.read(FOLDER)


def cell_arrays(content: bytes) -> None:
    """Edits of the weights of a cell and of its inputs; checksums fit."""
    where, good = whole_cell()
    arrays = {
        f"{name}:{key}": array
        for name in (cells.WEIGHTS, cells.INPUTS)
        for key, array in dict(np.load(FOLDER / "whole" / where / name)).items()
    }
    edits = changed(content, arrays)
    described = json.loads(good[f"{where}/cell.json"])
    for name in (cells.WEIGHTS, cells.INPUTS):
        own = {key.removeprefix(f"{name}:"): edits[key] for key in edits if key.startswith(name)}
        np.savez(written(f"forged/{where}/{name}", b""), **own)  # type: ignore[arg-type]
        described["files"][name] = sealed.file_digest(FOLDER / "forged" / where / name)
    written(f"forged/{where}/curve.csv", good[f"{where}/curve.csv"])
    written(f"forged/{where}/cell.json", resealed(b"", described))
    cell = cells.load(FOLDER / "forged", where.removeprefix("cells/"))
    assert cell
    weights = cells.weights(FOLDER / "forged", cell)
    assert weights["W"].shape == (3, 5)
    assert len(cells.inputs(FOLDER / "forged", cell).labels) == 3


@cache
def whole_cell() -> tuple[str, Mapping[str, bytes]]:
    """The folder of a cell with weights and inputs, and its files."""
    inputs = Inputs(1, 5, np.ones(5), np.ones((5, 0)), np.arange(3)).arrays()
    weights = {"W": np.arange(15, dtype=np.float32).reshape(3, 5), "b": np.ones(3, np.float32)}
    saved = replace(a_cell(0), weights=weights, inputs=inputs)
    cells.save(FOLDER / "whole", saved)
    name = f"cells/{saved.cell}"
    return name, {
        f"{name}/{file}": text for file, text in files_of(FOLDER / "whole" / name).items()
    }


def cell_said(folder: Path) -> Any:
    """All that is read of a cell."""
    where, _ = whole_cell()
    cell = cells.load(folder, where.removeprefix("cells/"))
    if cell is None:
        raise UserError("there is none")
    weights, inputs = cells.weights(folder, cell), cells.inputs(folder, cell).arrays()
    arrays = {name: array.tolist() for name, array in {**weights, **inputs}.items()}
    return asdict(replace(cell, curve=None)), cell.curve.to_csv(), arrays


def read_by(parse: Callable[[bytes], Any], folder: Path) -> Any:
    """What a function makes of the only file of a folder."""
    try:
        (content,) = files_of(folder).values()
        return parse(content)
    except (ValueError, LookupError, TypeError) as error:  # as its callers expect
        raise UserError(one_line(error)) from None


def targets() -> dict[str, Target]:
    """Cells, grids and launches: damaged, and forged with checksums that fit."""
    grid_text = sealed.dumps({"cells": ["0" * 16]}).encode()
    launch = {name: 0 for name in profile.COLUMNS} | {"grid": "last", "started": "2026-11-23"}
    launch_text = sealed.dumps(launch).encode()
    return {
        "cell": Target(cell, (CUT + b"iteration,train_seconds\n0,0.5\n", good_cell())),
        "cell_arrays": Target(cell_arrays, (b"", b"\0\0\0\4")),
        "curve": Target(curve, (b"iteration,train_seconds\n0,0.5\n1,\n",)),
        "grid": Target(grid, (grid_text,)),
        "launches": Target(launches, (launch_text,)),
        "damaged_cell": covered("damaged-cell", lambda: whole_cell()[1], cell_said),
        "damaged_grid": covered(
            "damaged-grid", lambda: {"a.json": grid_text}, partial(read_by, grids.parse)
        ),
        "damaged_launch": covered(
            "damaged-launch", lambda: {"a.json": launch_text}, partial(read_by, profile.parse)
        ),
    }
