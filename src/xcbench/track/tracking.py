"""Finished cells in MLflow: curves side by side in the browser.

A store can be rebuilt from the cells at any time.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from xcbench.store import grids
from xcbench.store.cell import Cell
from xcbench.system import durable
from xcbench.track import mlflow_files, mlflow_runs, mlflow_tables
from xcbench.track.mlflow_files import BUSY_SECONDS
from xcbench.track.mlflow_runs import ENDINGS, Entry, Store
from xcbench.track.mlflow_target import EXPERIMENT, Target

BATCH = 500  # runs that are written together
FEW = 100  # runs of which a server is asked one by one


def track(
    runs_dir: Path, cells: Iterable[Cell], rebuild: bool = False, uri: str | None = None
) -> int:
    """Log the cells that are not in the store yet, and return their number.

    A cell that was run again replaces its run. A run is ``FINISHED`` if the cell is done or reached
    its time limit, and ``FAILED`` if it diverged or failed; its tag ``status`` has the exact word.
    Skipped cells are not logged. Non-finite values are left out.

    Parameters
    ----------
    runs_dir : folder of the cells.
    cells : cells to log.
    rebuild : make the store hold only these cells. The folder's store is written anew, whatever the
        state of the old one, and replaces it when complete.
    uri : see `Target.of`.

    Raises
    ------
    UserError
        If the store is in use elsewhere, damaged, of another version of MLflow, or does not answer.
    """
    target = Target.of(runs_dir, uri)
    grid_of = grids.by_cell(runs_dir)
    few = [cell.cell for cell in cells] if isinstance(cells, list) and len(cells) <= FEW else None
    ended = (cell for cell in cells if cell.status in ENDINGS)
    with target.alone():
        if not target.is_local:
            return _log_missing(target.opened(), ended, grid_of, None if rebuild else few, rebuild)
        if target.file.exists() and not rebuild:
            with closing(sqlite3.connect(target.file, BUSY_SECONDS, isolation_level=None)) as probe:
                probe.execute("BEGIN IMMEDIATE")  # fails sooner than MLflow, which retries
            return _log_missing(target.opened(), ended, grid_of)
        durable.tidy([target.file])  # of a process that was killed
        with mlflow_files.anew(target.file) as fresh:
            return _log_missing(target.opened(fresh), ended, grid_of)


def behind(runs_dir: Path, started: Mapping[str, float], uri: str | None = None) -> list[str]:
    """Cells with these start times that `track` would log.

    Raises
    ------
    UserError
        As `track` does.
    """
    target = Target.of(runs_dir, uri)
    if target.is_local and (not target.file.exists() or mlflow_files.is_hollow(target.file)):
        return list(started)
    grid_of = grids.by_cell(runs_dir)
    with target.alone():
        if target.is_local:
            entries = mlflow_tables.entries_of_file(target.file, EXPERIMENT)
        else:
            entries = target.opened().entries(list(started) if len(started) <= FEW else None)
        by_cell = {entry.cell: entry for entry in entries}
        return [
            name
            for name, at in started.items()
            if not _is_logged(by_cell.get(name), at) or _regrouped(by_cell[name], grid_of)
        ]


def _log_missing(
    store: Store,
    cells: Iterable[Cell],
    grid_of: Mapping[str, str],
    few: Sequence[str] | None = None,
    alone: bool = False,
) -> int:
    """Log the cells without a run; runs that were cut off or are out of date make way.

    Parameters
    ----------
    few : the cells by name, where they are few.
    alone : put the runs of other cells away.
    """
    by_cell = {entry.cell: entry for entry in store.entries(few)}
    others = set(by_cell)
    logged = 0
    for batch in _batches(cells):
        new = [cell for cell in batch if not _is_logged(by_cell.get(cell.cell), cell.started)]
        old = [by_cell[cell.cell] for cell in batch if cell.cell in by_cell and cell not in new]
        store.delete([by_cell[cell.cell] for cell in new if cell.cell in by_cell])
        regrouped = [entry for entry in old if _regrouped(entry, grid_of)]
        store.regroup([entry._replace(grid=grid_of.get(entry.cell)) for entry in regrouped])
        store.insert([mlflow_runs.of(cell, grid_of.get(cell.cell, "")) for cell in new])
        others -= {cell.cell for cell in batch}
        logged += len(new)
    if alone:
        store.delete([by_cell[name] for name in others])
    return logged


def _batches(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    rest = iter(cells)
    return iter(lambda: list(itertools.islice(rest, BATCH)), [])


def _is_logged(entry: Entry | None, started: float) -> bool:
    """Whether a run is whole, and of this run of its cell."""
    return entry is not None and entry.whole and entry.started == repr(started)


def _regrouped(entry: Entry, grid_of: Mapping[str, str]) -> bool:
    """Whether the cell belongs to other grids than its run says."""
    return (entry.grid or "") != grid_of.get(entry.cell, "")
