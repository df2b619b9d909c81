"""Show one cell in full."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path

import pandas as pd

from xcbench.cli import rerun
from xcbench.cli.command import Request
from xcbench.errors import one_line
from xcbench.store import cells, results
from xcbench.store.cell import Cell
from xcbench.units import printable, readable


def show(request: Request) -> int:
    """Print all details of a cell."""
    runs_dir = request.runs_dir()
    request.refuse_others("runs_dir=…")
    cell = cells.find(runs_dir, request.words[0])
    try:
        again = rerun.command(cell, runs_dir)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise cells.Damaged(
            f"{cells.folder(runs_dir, cell.cell)} is damaged: its settings are not those of a cell "
            f"({type(error).__name__}: {one_line(error)})"
        ) from None
    say(f"{cell.cell}  {cell.label}\n")
    _print_table(_head(runs_dir, cell))
    say("\nsettings")
    _print_table(
        {name: value for name, value in results.flatten(cell.config).items() if value is not None}
    )
    say("\nenvironment")
    _print_table({name: value for name, value in cell.environment.items() if value is not None})
    say("\ncurve")
    curve = cell.curve.dropna(axis="columns", how="all")
    say(indented(markdown(curve) if len(curve) else "(none)"))
    if cell.traceback:
        say(f"\ntraceback\n{indented(cell.traceback.rstrip())}")
    say(f"\nrun it again\n  {again}")
    return 0


def say(text: str, end: str = "\n") -> None:
    """Print what may stem from a cell's text: nothing in it steers the terminal."""
    print(printable(text), end=end)


def _head(runs_dir: Path, cell: Cell) -> dict[str, object]:
    """The lines on top: outcome, data, clocks, files."""
    where = cells.folder(runs_dir, cell.cell)
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(cell.started or 0))
    shape = {name: value for name, value in cell.shape.items() if name != "twin"}
    sizes = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in shape.items())
    losses = (
        f"{lr}: {'diverged' if loss is None else format(loss, '.4g')}"
        for lr, loss in cell.trials.items()
    )
    if_any = {
        "message": cell.message,
        "started": cell.started and started,
        "shape": cell.shape and sizes + (" (synthetic twin)" if cell.shape.get("twin") else ""),
        "clocks": ", ".join(f"{name} {value:.3g} s" for name, value in cell.seconds.items()),
        "rate": cell.trials and f"{cell.lr:g}, of trials with the losses {', '.join(losses)}",
    }
    return {
        "status": cell.status,
        **{name: value for name, value in if_any.items() if value},
        "folder": f"{where} ({readable(cells.size(runs_dir, cell.cell))})",
        "weights": _weights(where),
        "engine": cell.engine,
        "method version": cell.method_version,
        "dataset digest": cell.dataset_digest,
        "commit": f"{cell.commit or 'none'} ({cell.commit_source})",
    }


def _weights(where: Path) -> str:
    """Their file, or why there is none."""
    if cells.is_missing(where, cells.WEIGHTS):
        reason = f"{cells.WEIGHTS} {cells.MISSING}"
        print(f"warning: {reason}", file=sys.stderr)
        return reason
    return cells.WEIGHTS if (where / cells.WEIGHTS).exists() else "not saved"


def _print_table(lines: dict[str, object]) -> None:
    width = max((len(name) for name in lines), default=0)
    for name, value in lines.items():
        say(f"  {name:{width}}  {rerun.text(value)}")


def markdown(table: pd.DataFrame) -> str:
    """Lay a table out for the terminal."""
    return (
        table.astype(object)
        .where(table.notna(), None)
        .to_markdown(index=False, tablefmt="simple", floatfmt=".5g", missingval="")
    )


def indented(text: str) -> str:
    """Indent every line by two blanks."""
    return textwrap.indent(text, "  ")
