"""``xcbench verify``: check cells, grids and prepared datasets; move damaged files aside."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from xcbench.cli.clean import confirmed
from xcbench.cli.command import Request, number
from xcbench.data import cache
from xcbench.errors import UserError, one_line, reason, writing
from xcbench.store import cells, grids
from xcbench.system import durable
from xcbench.units import printable

Read = Callable[[Path], object]
DRAW = {"sample": "40", "seed": "0"}


def verify(request: Request) -> int:
    """List damaged files and move them to ``quarantine/`` after confirmation.

    With papers, or with ``sample=40``, train so many of their committed cells again.

    Returns
    -------
    int
        1 if anything was damaged, or if a number differs, else 0.
    """
    if request.words or "sample" in request.settings:
        return _trained_again(request)
    runs_dir = request.runs_dir()
    request.refuse_others("runs_dir=…")
    caches = (path for path in (runs_dir / "cache").glob("[!.]*") if path.is_dir())
    checks: dict[str, tuple[Iterable[Path], Read]] = {
        "cells": ((cells.folder(runs_dir, name) for name in cells.names(runs_dir)), _read_cell),
        "grids": ((runs_dir / "grids").glob("*.json"), lambda it: grids.parse(it.read_bytes())),
        "cache": (caches, cache.read),
    }
    damaged, kept = list[tuple[Path, Read]](), 0
    for place, (paths, read) in checks.items():
        checked = [_checked(path, read) for path in sorted(paths)]
        damaged += [(it.path, read) for it in checked if it.reason and not it.kept]
        kept += sum(entry.kept for entry in checked)
        for entry in checked:
            if entry.reason:
                print(printable(entry.reason))
        print(f"{runs_dir / place}: {len(checked)} read")
    if not damaged:
        print("nothing else is damaged" if kept else "nothing is damaged")
        return 1 if kept else 0
    what = f"{len(damaged)} damaged"
    if not request.yes and not (sys.stdin.isatty() and confirmed(f"move {what} away? [y/N] ")):
        print(f"{what}; --yes moves them to {runs_dir / 'quarantine'}")
        return 1
    moved = sum(
        _put_aside(path, runs_dir / "quarantine")
        for path, read in damaged
        if _checked(path, read).reason  # still: a launch may have written it again
    )
    print(
        f"{moved} damaged, moved to {runs_dir / 'quarantine'}; "
        "the same launch or command writes them again"
    )
    return 1


def _trained_again(request: Request) -> int:
    """Draw committed cells, train them again, and print the differences."""
    from xcbench import papers
    from xcbench.papers import verification

    settings = {"runs_dir": "runs/verify", "force": "true", **request.settings}
    sample, seed = (number(name, settings.pop(name, default), 0) for name, default in DRAW.items())
    reports = Path(settings.pop("reports_dir", "reports"))
    chosen = [papers.find(name) for name in request.words or papers.NAMES]
    drawn = verification.draw(chosen, reports, settings, sample, seed)
    if not drawn:
        raise UserError(
            f"no committed row under {reports} can be trained again: rows need their data, and "
            "code that did not change; `xcbench paper NAME plan=true` says which hold"
        )
    table = verification.compare(drawn)
    print(table.to_markdown(index=False, floatfmt=".8g"))
    print(verification.summary(table))
    return int(len(verification.differing(table)) > 0)


class Checked(NamedTuple):
    """A file or folder that was read; why it cannot be used, and whether its owner keeps it."""

    path: Path
    reason: str
    kept: bool = False


def _checked(path: Path, read: Read, again: bool = True) -> Checked:
    """What a reading says; of a failed one a second, as a launch may have exchanged the files."""
    try:
        read(path)
    except PermissionError as error:
        return Checked(path, cells.unreadable(path, error), kept=True)
    except cells.ERRORS as error:
        if again:
            return _checked(path, read, again=False)
        return Checked(path, f"{path} is damaged ({one_line(error)})")
    return Checked(path, "")


def _read_cell(where: Path) -> None:
    """Read a cell with its arrays."""
    cell = cells.read(where)
    for file in cells.described(where)[1].keys() - {cells.CURVE}:
        cells.saved_arrays(where.parents[1], cell, file)


def _put_aside(path: Path, quarantine: Path) -> bool:
    """Move what is damaged away; False, and a line, where its owner alone can."""
    target = quarantine / path.parent.name / path.name
    for folder in (quarantine, target.parent):
        if folder.is_symlink():
            raise UserError(f"{folder} is a link, which is not followed; remove it")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():  # of an earlier time
            target = target.with_name(durable.sibling(target).name[1:])
        try:
            path.rename(target)
        except PermissionError as error:
            print(printable(f"{path} stays ({reason(error)}); its owner can move it"))
            return False
    return True
