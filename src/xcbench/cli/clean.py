"""Remove cells: print which, then ask."""

from __future__ import annotations

import sys

from xcbench.cli.command import Request
from xcbench.errors import UserError
from xcbench.store import cells, results
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
    for cell in selected:
        cells.remove(runs_dir, cell.cell)
    print(f"removed {what}")
    if (runs_dir / "mlflow.db").exists():
        print("MLflow still shows them: `xcbench track` rebuilds its store from the cells")
    return 0


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
