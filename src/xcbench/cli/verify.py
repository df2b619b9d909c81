"""``xcbench verify``: check cells, grids and prepared datasets; move damaged files aside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from xcbench import durable
from xcbench.cli.clean import confirmed
from xcbench.cli.command import Request
from xcbench.data import cache
from xcbench.errors import UserError, one_line, writing
from xcbench.run import cells, grids
from xcbench.units import printable

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
    checks = {"cells": _cells, "grids": _grids, "cache": _datasets}
    damaged = []
    for place, reasons in checks.items():
        checked = list(reasons(runs_dir))
        damaged += [path for path, reason in checked if reason]
        for reason in filter(None, (reason for _, reason in checked)):
            print(printable(reason))
        print(f"{runs_dir / place}: {len(checked)} read")
    if not damaged:
        print("nothing is damaged")
        return 0
    what = f"{len(damaged)} damaged"
    if not request.yes and not (sys.stdin.isatty() and confirmed(f"move {what} away? [y/N] ")):
        print(f"{what}; --yes moves them to {runs_dir / 'quarantine'}")
        return 1
    for path in damaged:
        _put_aside(path, runs_dir / "quarantine")
    print(
        f"{what}, moved to {runs_dir / 'quarantine'}; the same launch or command writes them again"
    )
    return 1


def _trained_again(request: Request) -> int:
    """Draw committed cells, train them again, and print the differences."""
    from xcbench import papers
    from xcbench.papers import verification

    settings = {"runs_dir": "runs/verify", "force": "true", **request.settings}
    sample, seed = (_number(settings.pop(name, default), name) for name, default in DRAW.items())
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
    print(verification.said(table))
    return int((table["difference"] > verification.EQUAL).any())


def _number(text: str, name: str) -> int:
    if not text.isdecimal():
        raise UserError(f"{name}={text} is not possible: it must be a whole number")
    return int(text)


def _cells(runs_dir: Path) -> Iterator[tuple[Path, str]]:
    for name in cells.names(runs_dir):
        where, reason = cells.folder(runs_dir, name), ""
        try:
            cell = cells.read(where)
            for file in cells.described(where)[1].keys() - {cells.CURVE}:
                cells.saved_arrays(runs_dir, cell, file)
        except cells.ERRORS as error:
            reason = f"{where} is damaged ({one_line(error)})"
        yield where, reason


def _grids(runs_dir: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted((runs_dir / "grids").glob("*.json")):
        reason = ""
        try:
            grids.read(path)
        except UserError as error:
            reason = str(error)
        yield path, reason


def _datasets(runs_dir: Path) -> Iterator[tuple[Path, str]]:
    folders = (runs_dir / "cache").glob("[!.]*")
    for path in sorted(path for path in folders if path.is_dir()):
        reason = ""
        try:
            cache.read(path)
        except cache.ERRORS as error:
            reason = f"{path} is damaged ({one_line(error)})"
        yield path, reason


def _put_aside(path: Path, quarantine: Path) -> None:
    target = quarantine / path.parent.name / path.name
    for folder in (quarantine, target.parent):
        if folder.is_symlink():
            raise UserError(f"{folder} is a link, which is not followed; remove it")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():  # of an earlier time
            target = target.with_name(durable.sibling(target).name[1:])
        path.rename(target)
