"""Cells of another runs folder, as of another machine, brought into this one.

Each cell is read and its checksums are compared, in the other folder and again in its copy, which
then moves into place at once. Nothing is followed through links. The other folder stays as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.core.metrics import COSTS
from xcbench.errors import UserError, one_line, writing
from xcbench.options import check_name
from xcbench.run.leases import Leases
from xcbench.store import cells, grids, profile
from xcbench.store.cell import FINAL, STATUSES, Cell
from xcbench.system import durable, sealed

OURS, THEIRS = "ours", "theirs"
CELL_FILES = {cells.CELL, cells.CURVE, cells.WEIGHTS, cells.INPUTS}
MEASURED_COSTS = {*COSTS, "peak_mib"}  # differ from run to run
NEW, BETTER, SAME, DIFFERS, BUSY, REFUSED = (
    "new here",
    "with a result that is missing here",
    "here already, with the same numbers",
    "with other numbers than here",
    "being run here now",
    "refused",
)


@dataclass(frozen=True)
class Outcome:
    """What becomes of a cell, a grid or a launch of the other folder.

    Attributes
    ----------
    kind : one of the words above.
    what : name of the cell with its settings, or path of what was refused.
    reason : of a difference or a refusal.
    brought : whether it replaces what is here, if anything is.
    """

    kind: str
    what: str
    reason: str = ""
    brought: bool = False


def bring_cells(other: Path, runs_dir: Path, keep: str, plan: bool) -> Iterator[Outcome]:
    """Bring the cells of another folder, one after the other.

    Parameters
    ----------
    keep : of cells that differ, which to keep: `OURS` or `THEIRS`.
    plan : change nothing.
    """
    leases = Leases(runs_dir)
    if not plan:
        cells.mark(runs_dir)
    try:
        for entry in _entries(other / "cells"):
            where = Path(entry.path)
            try:
                theirs = _checked(where)
                outcome = _outcome(cells.usable(runs_dir, theirs.cell), theirs, keep)
            except cells.ERRORS as error:
                yield Outcome(REFUSED, str(where), one_line(error))
                continue
            if not outcome.brought or plan:
                yield outcome
            elif leases.take(theirs.cell) is None:
                yield Outcome(BUSY, outcome.what)
            else:  # it may have ended here meanwhile
                outcome = _outcome(cells.usable(runs_dir, theirs.cell), theirs, keep)
                yield _brought(where, runs_dir, outcome) if outcome.brought else outcome
                leases.release(theirs.cell)
    finally:
        leases.release_all()


def bring_grids(other: Path, runs_dir: Path, plan: bool) -> Iterator[Outcome]:
    """Add the cells of the other folder's grids to those of the same name, but for the last."""
    grid_names = grids.by_cell(runs_dir)
    for path in _files(other / "grids"):
        name = path.stem
        if name == grids.LAST:
            continue
        try:
            check_name("grid", name)
            names = grids.parse(_content(path))
        except cells.ERRORS as error:
            yield Outcome(REFUSED, str(path), one_line(error))
            continue
        new = [cell for cell in names if name not in grid_names.get(cell, "").split(",")]
        if new and not plan:
            grids.add(runs_dir, name, names)
        yield Outcome(NEW if new else SAME, name, brought=bool(new))


def bring_launches(other: Path, runs_dir: Path, plan: bool) -> Iterator[Outcome]:
    """Add the times of the other folder's launches."""
    for path in _files(other / "launches"):
        target = runs_dir / "launches" / path.name
        try:
            content = _content(path)
            profile.parse(content)
        except (OSError, ValueError) as error:
            yield Outcome(REFUSED, str(path), one_line(error))
            continue
        new = not target.exists()
        if new and not plan:
            with writing(target):
                durable.write(target, content)
        yield Outcome(NEW if new else SAME, path.stem, brought=new)


def _checked(where: Path) -> Cell:
    """The cell of a folder in which every file is plain and whole.

    Raises
    ------
    `cells.ERRORS`
        If it is not.
    """
    if not re.fullmatch("[0-9a-f]{16}", where.name):
        raise ValueError("its name is not that of a cell")
    if where.is_symlink():
        raise ValueError("it is a link")
    for path in where.iterdir():
        if not _is_plain(path):
            raise ValueError(f"{path.name} is a link, or no file")
        if path.name not in CELL_FILES:
            raise ValueError(f"{path.name} is no file of a cell")
    return _intact(where, where.name)


def _intact(where: Path, name: str) -> Cell:
    """The cell of a folder, with the digests of all its files compared."""
    cell = cells.read(where, name)
    if cell.status not in STATUSES:
        raise ValueError(f"its status is {cell.status}")
    for file, digest in cells.described(where)[1].items():
        if file not in CELL_FILES or sealed.file_digest(where / file) != digest:
            raise ValueError(f"{file} is cut off or changed")
    return cell


def _outcome(ours: Cell | None, theirs: Cell, keep: str) -> Outcome:
    """What to do with a cell that we have too; a damaged one of ours counts as missing."""
    what = f"{theirs.cell}  {theirs.label}"
    if ours is None:
        return Outcome(NEW, what, brought=True)
    if ours.status not in FINAL:
        brought = theirs.status in FINAL
        return Outcome(BETTER if brought else SAME, what, brought=brought)
    difference = _difference(ours, theirs) if theirs.status in FINAL else ""
    if not difference:
        return Outcome(SAME, what)
    return Outcome(DIFFERS, what, difference, brought=keep == THEIRS)


def _difference(ours: Cell, theirs: Cell) -> str:
    """What differs between the results of two cells besides times and memory; "" if nothing."""
    if ours.status != theirs.status:
        return f"{ours.status} here, {theirs.status} there"
    if len(ours.curve) != len(theirs.curve):
        return f"{len(ours.curve)} checkpoints here, {len(theirs.curve)} there"
    for name in dict.fromkeys([*ours.curve, *theirs.curve]):
        here, there = (_column(cell, str(name)) for cell in (ours, theirs))
        if name not in MEASURED_COSTS and not here.equals(there):
            at = int((here.fillna(0) != there.fillna(0)).to_numpy()[::-1].argmax())
            return f"{name} {here.iloc[-1 - at]:.6g} here, {there.iloc[-1 - at]:.6g} there"
    return ""


def _column(cell: Cell, name: str) -> pd.Series:
    values = cell.curve[name] if name in cell.curve else pd.Series(float("nan"), cell.curve.index)
    return values.astype(float).reset_index(drop=True)


def _brought(where: Path, runs_dir: Path, outcome: Outcome) -> Outcome:
    """Copy a cell, check the copy, and move it into place."""
    target = cells.folder(runs_dir, where.name)
    try:
        with writing(target), durable.new_folder(target) as scratch:
            for path in where.iterdir():
                _copy(path, scratch / path.name)
            _intact(scratch, where.name)
    except (ValueError, LookupError) as error:  # it changed while it was copied
        return Outcome(REFUSED, str(where), one_line(error))
    return outcome


def _copy(source: Path, target: Path) -> None:
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as content, target.open("xb") as copy:
        shutil.copyfileobj(content, copy)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Folders in a folder, and links, which are not followed; hidden ones are leftovers."""
    _check_real(folder)
    with os.scandir(folder) as entries:
        visible = [it for it in entries if not it.name.startswith(".")]
    folders = [it for it in visible if it.is_symlink() or it.is_dir(follow_symlinks=False)]
    return sorted(folders, key=lambda entry: entry.name)


def _files(folder: Path) -> list[Path]:
    """JSON files of a folder; none if there is no folder."""
    _check_real(folder)
    return sorted(folder.glob("[!.]*.json"))


def _content(path: Path) -> bytes:
    """Content of a plain file.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not _is_plain(path):
        raise ValueError("it is a link, or no file")
    return path.read_bytes()


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _check_real(folder: Path) -> None:
    """Refuse a link in the place of a folder.

    Raises
    ------
    UserError
        If it is one.
    """
    if folder.is_symlink():
        raise UserError(f"{folder} is a link, which merge does not follow")
