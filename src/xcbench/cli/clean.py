"""Remove cells: print which, then ask."""

from __future__ import annotations

import sys
from pathlib import Path

from xcbench.cli.command import Request
from xcbench.errors import UserError
from xcbench.run.leases import Leases
from xcbench.store import cells, results
from xcbench.store.cell import Cell
from xcbench.units import count, printable, readable

LISTED = 20


def clean(request: Request) -> int:
    """Remove the cells that match every filter, after confirmation."""
    runs_dir = request.runs_dir()
    if not request.settings:
        raise UserError(
            "clean needs a filter, such as status=failed or dataset=bibtex; nothing was removed"
        )
    selected = results.select(runs_dir, request.settings)
    if not selected:
        print("no cell meets every filter: nothing to remove")
        return 0
    sizes = [cells.size(runs_dir, cell.cell) for cell in selected]
    for cell, size in list(zip(selected, sizes, strict=True))[:LISTED]:
        print(printable(f"{cell.cell}  {cell.status:8}  {readable(size):>10}  {cell.label}"))
    if len(selected) > LISTED:
        print(f"… and {len(selected) - LISTED} more")
    what = count(len(selected), "cell")
    print(f"{what}, {readable(sum(sizes))}, under {runs_dir / 'cells'}")
    if not request.yes and not confirmed(f"remove {what}? [y/N] "):
        print("nothing was removed")
        return 0
    removed = sum(_removed(runs_dir, cell) for cell in selected)
    print(f"removed {count(removed, 'cell')}")
    if removed < len(selected):
        print(f"{count(len(selected) - removed, 'cell')} stayed: other launches ran them meanwhile")
    if (runs_dir / "mlflow.db").exists():
        print("MLflow still shows them: `xcbench track` rebuilds its store from the cells")
    return 0


def _removed(runs_dir: Path, cell: Cell) -> bool:
    """Remove a cell, unless another launch runs it, or has run it since it was listed."""
    leases = Leases(runs_dir)
    if leases.take(cell.cell) is None:
        return False
    try:
        now = cells.usable(runs_dir, cell.cell)
        if now is not None and now.started != cell.started:
            return False
        cells.remove(runs_dir, cell.cell)
    finally:
        leases.release_all()
    return True


def confirmed(question: str) -> bool:
    """Ask for confirmation on the terminal.

    Raises
    ------
    UserError
        If there is no terminal.
    """
    if not sys.stdin.isatty():
        raise UserError("nothing was removed: there is no terminal to ask on; --yes answers yes")
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
