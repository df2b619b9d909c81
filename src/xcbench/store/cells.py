"""Cells on disk: identity, atomic save, status, load.

A cell is one point of a grid. Its folder ``runs/cells/<id>/`` holds ``cell.json`` and
``curve.csv``. MLflow and the reports are derived from these files and can be rebuilt.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from xcbench.data.inputs import Inputs
from xcbench.errors import UserError, one_line, reason, writing
from xcbench.options import Content
from xcbench.store import curve_file
from xcbench.store.cell import (
    FINAL,
    Cell,
    check_settings,
    of_its_settings,
)
from xcbench.system import arrays as checked
from xcbench.system import durable, sealed

CELL, CURVE, WEIGHTS = "cell.json", "curve.csv", "weights.npz"
INPUTS = "inputs.npz"
MARKER = ".xcbench"  # in the folder of the cells: what it is, and that we may delete in it
MARK = "xcbench keeps its cells in this folder: one folder each, of 16 digits.\n"
FILES = "files"  # in `CELL`: digests of the other files
MISSING = "is missing; run again with save_weights=true force=true"
ERRORS = (OSError, ValueError, LookupError, TypeError, AttributeError, UserError)

OURS = re.compile(f"[0-9a-f]{{16}}|{durable.LEFT.pattern}")
IN_FILES = ("curve", "weights", "inputs")  # fields of a cell with a file of their own


class Damaged(UserError):
    """Files of a cell are damaged."""


def folder(runs_dir: Path, cell: str) -> Path:
    """Folder of a cell."""
    return runs_dir / "cells" / cell


def save(runs_dir: Path, cell: Cell) -> None:
    """Write a cell atomically; it replaces an earlier one.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    target = folder(runs_dir, cell.cell)
    with writing(target), durable.new_folder(target) as scratch:
        _write(scratch, cell)


def _write(scratch: Path, cell: Cell) -> None:
    cell.curve.to_csv(scratch / CURVE, index=False)
    for name, arrays in ((WEIGHTS, cell.weights), (INPUTS, cell.inputs)):
        if arrays:
            with (scratch / name).open("wb") as handle:
                np.savez(handle, allow_pickle=False, **arrays)
    digests = {path.name: sealed.file_digest(path) for path in sorted(scratch.iterdir())}
    (scratch / CELL).write_text(sealed.dumps({**content(cell), FILES: digests}), "utf-8")


def content(cell: Cell) -> Content:
    """Fields of a cell without those that have a file of their own."""
    return {name: value for name, value in vars(cell).items() if name not in IN_FILES}


def load(runs_dir: Path, cell: str) -> Cell | None:
    """Read a cell; None if there is none.

    Raises
    ------
    Damaged
        If its files are damaged.
    """
    where = folder(runs_dir, cell)
    try:
        if not where.exists():
            return None
        try:
            return read(where)
        except ERRORS:
            return read(where)  # another launch may have exchanged the folder between two reads
    except PermissionError as error:
        raise Damaged(unreadable(where, error)) from None
    except ERRORS as error:
        raise Damaged(
            f"{where} is damaged ({one_line(error)}); `xcbench verify` moves it away, "
            "and its launch runs it again"
        ) from None


def unreadable(where: Path, error: PermissionError) -> str:
    """What to do about a cell that another user keeps for himself."""
    return (
        f"{where} cannot be read ({reason(error)}); let its owner allow it, or set another runs_dir"
    )


def read(where: Path, name: str = "") -> Cell:
    """Read the cell of a folder and verify its checksums.

    Parameters
    ----------
    name : identity of the cell, if the folder has another name.

    Raises
    ------
    `ERRORS`
        If it is damaged.
    """
    content, digests = described(where)
    text = (where / CURVE).read_bytes()
    if sealed.digest(text) != digests[CURVE]:
        raise ValueError(f"{CURVE} is cut off or changed")
    cell = sealed.record(Cell, {**content, "curve": curve_file.parse(text)})
    check_settings(cell)
    if cell.cell != (name or where.name):
        raise ValueError(f"these are the files of cell {cell.cell}")
    if cell.content and not of_its_settings(cell):
        raise ValueError("its settings are not those of its identity")
    return cell


def described(where: Path) -> tuple[Content, dict[str, str]]:
    """Content of ``cell.json``: fields of the cell, and digests of its other files."""
    content = sealed.loads((where / CELL).read_bytes())
    return content, content.pop(FILES)


def is_missing(where: Path, name: str) -> bool:
    """Whether a file of a cell is missing."""
    return name in described(where)[1] and not (where / name).exists()


def usable(runs_dir: Path, cell: str) -> Cell | None:
    """Read a cell; a damaged one is reported and counts as missing."""
    try:
        return load(runs_dir, cell)
    except Damaged as error:
        print(f"warning: {error}", file=sys.stderr)
        return None


def load_all(runs_dir: Path, only: Iterable[str] | None = None) -> Iterator[Cell]:
    """Load every cell under ``runs_dir``, by identity; damaged ones are counted and reported.

    Parameters
    ----------
    runs_dir : folder of the cells.
    only : identities to load; missing ones are skipped.
    """
    damaged = 0
    for name in names(runs_dir) if only is None else sorted(only):
        try:
            cell = load(runs_dir, name)
        except Damaged:
            damaged += 1
        else:
            if cell is not None:
                yield cell
    if damaged:
        what = "folder is" if damaged == 1 else "folders are"
        print(
            f"warning: {damaged} {what} left out under {runs_dir / 'cells'}, damaged or no cells; "
            "`xcbench verify` lists them",
            file=sys.stderr,
        )


def names(runs_dir: Path) -> list[str]:
    """Names of the folders under ``cells/``, in order, without a check of their content."""
    durable.recover(runs_dir / "cells")
    try:
        with os.scandir(runs_dir / "cells") as entries:
            return sorted(
                entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")
            )
    except FileNotFoundError:
        return []


def weights(runs_dir: Path, cell: Cell) -> dict[str, np.ndarray]:
    """Saved weights of a cell: W (K, D) and, if it has biases, b (K,).

    Raises
    ------
    UserError
        If none were saved, or the file is damaged.
    """
    path = folder(runs_dir, cell.cell) / WEIGHTS
    arrays = saved_arrays(runs_dir, cell)
    if "W" not in arrays and "start" in arrays:
        raise UserError(
            f"the weights of cell {cell.cell} are sparse rows without probabilities, which "
            f"predict cannot use; {path} has their values, features and starts"
        )
    K, D = cell.shape["classes"], cell.shape["features"]
    shapes = {"W": (K, D), "b": (K,)}
    if any(arrays[name].shape != shapes[name] for name in arrays.keys() & shapes.keys()):
        raise _unreadable(path, "they are of another shape than the cell")
    if "W" not in arrays or arrays.keys() - shapes.keys():
        raise _unreadable(path, f"it holds {', '.join(sorted(arrays)) or 'nothing'}, not W and b")
    return arrays


def saved_arrays(runs_dir: Path, cell: Cell, name: str = WEIGHTS) -> dict[str, np.ndarray]:
    """Arrays of a cell's weights or inputs, verified: real, finite, undamaged.

    Raises
    ------
    UserError
        If none were saved, or the file is damaged.
    """
    where = folder(runs_dir, cell.cell)
    path = where / name
    if is_missing(where, name):
        raise UserError(f"{path} {MISSING}")
    if not path.exists():
        why = "" if cell.status in FINAL else f" (it is {cell.status})"
        raise UserError(
            f"cell {cell.cell} has no {path.stem}{why}; "
            "run it again with save_weights=true force=true"
        )
    try:
        _, digests = described(where)
        if digests and sealed.file_digest(path) != digests.get(name):
            raise ValueError("the file has changed since it was written")
        arrays = checked.load(path)
    except (OSError, ValueError, LookupError) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from None
    for key, array in arrays.items():
        texts = array.dtype.kind == "U" and (name, key) == (INPUTS, "labels")
        if not texts and (array.dtype.kind not in "fiu" or not np.isfinite(array).all()):
            raise _unreadable(path, f"{key} is not of finite real numbers")
    return arrays


def inputs(runs_dir: Path, cell: Cell) -> Inputs:
    """Saved transformation of new rows for the weights of a cell.

    Raises
    ------
    UserError
        If it was not saved, or the file is damaged.
    """
    arrays = saved_arrays(runs_dir, cell, INPUTS)
    try:
        inputs = Inputs.of(arrays)
        checked.distinct("labels", inputs.labels, cell.shape["classes"])
    except (LookupError, ValueError) as error:
        raise _unreadable(folder(runs_dir, cell.cell) / INPUTS, one_line(error)) from None
    return inputs


def _unreadable(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path} cannot be read ({' '.join(reason.split())}); "
        "run the cell again with save_weights=true force=true"
    )


def has_weights(runs_dir: Path, cell: str) -> bool:
    """Whether a cell is there with its weights."""
    return (folder(runs_dir, cell) / WEIGHTS).exists()


def renew_code(runs_dir: Path, cell: Cell, code: dict[str, object]) -> None:
    """Replace the record of a cell's code, whose numbers still hold.

    It goes into the folder that was read, also where another launch exchanges that meanwhile.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    where = folder(runs_dir, cell.cell)
    scratch = durable.sibling(where)  # next to the folder, where a sweep finds it
    with writing(where / CELL), durable.opened(where) as descriptor:
        try:
            with open(CELL, "rb", opener=partial(os.open, dir_fd=descriptor)) as handle:
                content = sealed.loads(handle.read())
            durable.write(scratch, sealed.dumps({**content, "code": code}))
            os.replace(scratch, CELL, dst_dir_fd=descriptor)
        except FileNotFoundError:  # another launch has put its result there
            scratch.unlink(missing_ok=True)


def size(runs_dir: Path, cell: str) -> int:
    """Bytes of a cell's files."""
    return sum(path.stat().st_size for path in folder(runs_dir, cell).rglob("*") if path.is_file())


def find(runs_dir: Path, prefix: str) -> Cell:
    """Find the cell with an identity that starts with a prefix.

    Raises
    ------
    UserError
        If no cell or several cells match.
    """
    stored = names(runs_dir)
    matches = [name for name in stored if prefix and name.startswith(prefix.lower())]
    if len(matches) > 1:
        shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
        raise UserError(f"{len(matches)} cells begin with '{prefix}': {shown}; give more digits")
    cell = load(runs_dir, matches[0]) if matches else None
    if cell is None:
        shown = prefix if len(prefix) <= 32 else f"{prefix[:32]}…"
        raise UserError(
            f"no cell '{shown}' among the {len(stored)} under {runs_dir}; "
            "`xcbench results` lists them, runs_dir=… looks elsewhere"
        )
    return cell


def remove(runs_dir: Path, cell: str) -> None:
    """Delete a cell atomically, even if the process is killed."""
    where = folder(runs_dir, cell)
    scratch = durable.sibling(where)
    with suppress(FileNotFoundError):
        where.rename(scratch)
    durable.remove(scratch)


def mark(runs_dir: Path) -> None:
    """Mark the folder of the cells as ours, if it is empty, or has cells of an earlier version.

    Raises
    ------
    UserError
        If it holds something else.
    """
    where = runs_dir / "cells"
    if (where / MARKER).is_file():
        return
    there = os.listdir(where) if where.is_dir() else []
    if there and not any(OURS.fullmatch(name) for name in there):
        raise UserError(
            f"{where} holds files that xcbench did not write, such as {min(there)}; "
            "set another runs_dir"
        )
    with suppress(OSError):  # where nothing can be written, nothing can be deleted
        durable.write(where / MARKER, MARK)


def sweep_leftovers(runs_dir: Path) -> None:
    """Delete the leftovers of killed processes."""
    for place in ("cells", "grids"):
        durable.sweep(runs_dir / place)
