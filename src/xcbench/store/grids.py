"""Names of launches: which cells belong to them."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from xcbench.errors import UserError, one_line, writing
from xcbench.options import check_name
from xcbench.system import durable, locks, sealed
from xcbench.units import count

LAST = "last"  # the name of a launch that gives none


def add(runs_dir: Path, name: str, names: list[str]) -> None:
    """Add the cells of a launch to its grid; `LAST` has only those of the last launch.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    path = _path(runs_dir, name)
    with writing(path), locks.alone(path.with_suffix(".lock"), f"writes grid {name}"):
        before = [] if name == LAST or not path.exists() else _before(path)
        grown = list(dict.fromkeys([*before, *names]))
        if before and len(grown) > len(before):
            print(f"grid={name} grows from {len(before)} to {count(len(grown), 'cell')}")
        durable.write(path, sealed.dumps({"cells": grown}))


def _before(path: Path) -> list[str]:
    """Cells of earlier launches; of a damaged file none, which is said."""
    try:
        return read(path)
    except UserError as error:
        print(f"warning: {error}; it begins anew", file=sys.stderr)
        return []


def members(runs_dir: Path, words: str) -> list[str]:
    """Identities of the cells of one grid, or of several: ``g1,g2``.

    Raises
    ------
    UserError
        If there is no such grid, or it is damaged.
    """
    names = dict.fromkeys(words.split(","))
    for name in names:
        check_name("grid", name)
        if not _path(runs_dir, name).exists():
            grids = sorted(entry.stem for entry in (runs_dir / "grids").glob("*.json"))
            raise UserError(
                f"no grid '{name}' under {runs_dir}; known: {', '.join(grids) or 'none'}"
            )
    cells = [cell for name in names for cell in read(_path(runs_dir, name))]
    return list(dict.fromkeys(cells))


def by_cell(runs_dir: Path) -> dict[str, str]:
    """Names of the grids of each cell, separated by commas, without `LAST`."""
    names_of: dict[str, list[str]] = defaultdict(list)
    for path in sorted((runs_dir / "grids").glob("*.json")):
        if path.stem != LAST:
            with suppress(UserError):  # `xcbench verify` tells of it
                for cell in read(path):
                    names_of[cell].append(path.stem)
    return {cell: ",".join(names) for cell, names in names_of.items()}


def read(path: Path) -> list[str]:
    """Identities of the cells in a grid's file.

    Raises
    ------
    UserError
        If it is damaged.
    """
    try:
        return parse(path.read_bytes())
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(
            f"{path} cannot be read ({one_line(error)}); "
            "launch the grid again, finished cells stay finished"
        ) from None


def parse(content: bytes) -> list[str]:
    """Identities of the cells in the content of a grid's file.

    Raises
    ------
    ValueError, LookupError, TypeError
        If it is damaged.
    """
    names: list[str] = sealed.loads(content)["cells"]
    if not all(isinstance(name, str) and re.fullmatch(r"[0-9a-f]{16}", name) for name in names):
        raise ValueError("it is not a list of cells")
    return names


def _path(runs_dir: Path, name: str) -> Path:
    return runs_dir / "grids" / f"{name}.json"
