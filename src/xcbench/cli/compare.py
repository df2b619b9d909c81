"""Compare two cells, or the cells of two grids pair by pair."""

from __future__ import annotations

import pandas as pd

from xcbench.cli import pairing
from xcbench.cli.command import Request
from xcbench.cli.show import indented, markdown, say
from xcbench.core.metrics import in_tables, of_column
from xcbench.errors import UserError
from xcbench.store import cells, results
from xcbench.store.cell import Cell
from xcbench.units import count

SHOWN = 6  # values of a setting
NOTE = (
    "Effects are means over the common seeds, with 95 % intervals of Student's t, each by itself: "
    "of 20 measures that did not change, one interval excludes 0 by chance."
)


def compare(request: Request) -> int:
    """Compare two cells, or with ``grid=a grid=b`` two grids."""
    if "grid" in request.settings and not request.words:
        return _grids(request)
    if len(request.words) != 2:
        raise UserError("compare needs 2 arguments: CELL CELL, or grid=NAME grid=NAME")
    return _cells(request)


def _cells(request: Request) -> int:
    """Print the settings in which two cells differ, and their last checkpoints side by side."""
    runs_dir = request.runs_dir()
    request.refuse_others("runs_dir=…")
    pair = [cells.find(runs_dir, word) for word in request.words]
    for mark, cell in zip("ab", pair, strict=True):
        say(f"{mark}  {cell.cell}  {cell.label}: {cell.status}")
    sides = [_compared(cell) for cell in pair]
    differing = [
        [name, *(side.get(name) for side in sides)]
        for name in dict.fromkeys([*sides[0], *sides[1]])
        if sides[0].get(name) != sides[1].get(name)
    ]
    _section("settings that differ", pd.DataFrame(differing, columns=["setting", "a", "b"]))
    _section("last checkpoint", _outcomes(*pair))
    return 0


def _compared(cell: Cell) -> dict[str, object]:
    """Whatever may explain that two cells came out differently."""
    return {
        **results.completed(cell),
        "engine": cell.engine,
        "method version": cell.method_version,
        "dataset digest": cell.dataset_digest,
        **{f"environment.{name}": value for name, value in cell.environment.items()},
    }


def _outcomes(a: Cell, b: Cell) -> pd.DataFrame:
    """Last checkpoints of two cells: a, b and b - a."""
    last = [cell.curve.tail(1).reset_index(drop=True) for cell in (a, b)]
    names = list(dict.fromkeys([*last[0].columns, *last[1].columns]))
    both = pd.concat(last, keys=("a", "b")).droplevel(1).reindex(["a", "b"], columns=names)
    table = both.astype(float).T
    table["b - a"] = table["b"] - table["a"]
    return table.dropna(how="all").rename_axis("metric").reset_index()


def _grids(request: Request) -> int:
    """Print what changed between two grids: settings, statuses, and measures pair by pair."""
    runs_dir, checkpoint = request.runs_dir(), request.checkpoint()
    names = request.settings.pop("grid").split(",")
    asked = request.settings.pop("metric", "")
    if len(names) != 2:
        raise UserError(f"compare needs two grids: grid=NAME grid=NAME, not {', '.join(names)}")
    sides = [results.select(runs_dir, {**request.settings, "grid": name}) for name in names]
    for mark, name, side in zip("ab", names, sides, strict=True):
        say(f"{mark}  grid={name}: {count(len(side), 'cell')}")
    both = pairing.pair(*sides)
    unique = list({cell.cell: cell for side in sides for cell in side}.values())
    rows = results.frame(unique, checkpoint=checkpoint)
    metrics = _metrics(rows, asked)
    _section("settings that differ", _differing(both))
    statuses = pairing.statuses(both.pairs)
    if len(statuses):
        _section("statuses that differ", statuses)
    table = pairing.changes(both.pairs, rows, metrics)
    _section("measures that differ, those whose interval excludes 0 first", table)
    _notes(both, len(table), len(metrics))
    return 0


def _metrics(rows: pd.DataFrame, asked: str) -> list[str]:
    """Columns to compare: those asked for, or those of the final table on test rows.

    Raises
    ------
    UserError
        If there is no such metric, or no cell has it.
    """
    if not asked:
        tested = (name for name in in_tables() if name.startswith("test_"))
        return [name for name in tested if name in rows and rows[name].notna().any()]
    for name in asked.split(","):
        of_column(name)
        if name not in rows:
            raise UserError(f"no cell of these grids has a column {name}")
    return asked.split(",")


def _differing(both: pairing.Pairing) -> pd.DataFrame:
    lines = [[name, *map(_listed, values)] for name, values in both.differing.items()]
    return pd.DataFrame(lines, columns=["setting", "a", "b"])


def _listed(values: set[str]) -> str:
    shown = sorted(values)
    return ", ".join([*shown[:SHOWN], *(["…"] if len(shown) > SHOWN else [])])


def _notes(both: pairing.Pairing, changed: int, metrics: int) -> None:
    """Say what the tables leave out."""
    equal = len(both.pairs) * metrics - changed
    say(f"\n{count(len(both.pairs), 'pair')} of settings; measures that differ: {changed}", end="")
    say(f"; without a difference in any common seed: {equal}")
    if changed:
        say(NOTE)
    for cells_of, reason in (
        (both.alone, "without a partner of the same settings"),
        (
            both.several,
            "left out: several of one grid would pair with one; compare grids without these",
        ),
    ):
        for mark, side in zip("ab", cells_of, strict=True):
            if side:
                say(f"{count(len(side), 'cell')} of {mark} {reason}, such as {side[0].label}.")


def _section(title: str, table: pd.DataFrame) -> None:
    say(f"\n{title}")
    say(indented(markdown(table) if len(table) else "(none)"))
