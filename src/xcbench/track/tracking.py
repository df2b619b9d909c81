"""Finished cells in MLflow: curves side by side in the browser.

A store can be rebuilt from the cells at any time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from xcbench.store import grids
from xcbench.store.cell import Cell
from xcbench.system import durable, sealed
from xcbench.track import mlflow_files, mlflow_runs
from xcbench.track.mlflow_api import Api, batches
from xcbench.track.mlflow_files import BUSY_SECONDS
from xcbench.track.mlflow_runs import ENDINGS, Entry
from xcbench.track.mlflow_target import Target

BATCH = 500  # runs that are written together
FEW = 100  # runs that are asked for one by one


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
        if target.is_local and target.file.exists() and not rebuild:
            with closing(sqlite3.connect(target.file, BUSY_SECONDS, isolation_level=None)) as probe:
                probe.execute("BEGIN IMMEDIATE")  # fails sooner than MLflow, which retries
        if rebuild or _is_new(target):
            _ledger(target).unlink(missing_ok=True)
        with _opened(target, rebuild) as store:
            number, entries = _log_missing(store, ended, grid_of, None if rebuild else few, rebuild)
        if entries:
            durable.write(_ledger(target), sealed.dumps(_recorded(target) | entries))
    return number


@contextmanager
def _opened(target: Target, rebuild: bool) -> Iterator[Api]:
    """The store; that of the folder, when it is made or made anew, is complete or not there."""
    if target.is_local and (rebuild or not target.file.exists()):
        durable.tidy([target.file])  # of a process that was killed
        with mlflow_files.anew(target.file) as fresh:
            yield target.opened(fresh)
    else:
        yield target.opened()


def behind(runs_dir: Path, started: Mapping[str, float], uri: str | None = None) -> list[str]:
    """Cells with these start times that `track` did not log yet; no store is asked."""
    target = Target.of(runs_dir, uri)
    recorded = {} if _is_new(target) else _recorded(target)
    grid_of = grids.by_cell(runs_dir)
    return [
        name
        for name, at in started.items()
        if recorded.get(name) != [repr(at), grid_of.get(name, "")]
    ]


def _is_new(target: Target) -> bool:
    """Whether the folder's store holds nothing."""
    return target.is_local and (not target.file.exists() or mlflow_files.is_hollow(target.file))


def _ledger(target: Target) -> Path:
    """File of what is in a store: start time and grids of each cell."""
    return target.home / "recorded" / f"{target.key}.json"


def _recorded(target: Target) -> dict[str, list[str]]:
    """Content of the ledger; of one that is missing or damaged nothing: the store is asked."""
    try:
        return sealed.loads(_ledger(target).read_bytes())
    except (OSError, ValueError):
        return {}


def _log_missing(
    store: Api,
    cells: Iterable[Cell],
    grid_of: Mapping[str, str],
    few: Sequence[str] | None = None,
    alone: bool = False,
) -> tuple[int, dict[str, list[str]]]:
    """Log the cells without a run; runs that were cut off or are out of date make way.

    Parameters
    ----------
    few : the cells by name, where they are few.
    alone : put the runs of other cells away.

    Returns
    -------
    tuple
        The number of logged cells, and start time and grids of all cells that are now in the store.
    """
    by_cell = {entry.cell: entry for entry in store.entries(few)}
    others = set(by_cell)
    recorded: dict[str, list[str]] = {}
    logged = 0
    for batch in batches(cells, BATCH):
        new = [cell for cell in batch if not _is_logged(by_cell.get(cell.cell), cell.started)]
        old = [by_cell[cell.cell] for cell in batch if cell.cell in by_cell and cell not in new]
        store.delete([by_cell[cell.cell] for cell in new if cell.cell in by_cell])
        regrouped = [it for it in old if (it.grid or "") != grid_of.get(it.cell, "")]
        store.regroup([entry._replace(grid=grid_of.get(entry.cell)) for entry in regrouped])
        store.insert([mlflow_runs.of(cell, grid_of.get(cell.cell, "")) for cell in new])
        recorded |= {it.cell: [repr(it.started), grid_of.get(it.cell, "")] for it in batch}
        others -= {cell.cell for cell in batch}
        logged += len(new)
    if alone:
        store.delete([by_cell[name] for name in others])
    return logged, recorded


def _is_logged(entry: Entry | None, started: float) -> bool:
    """Whether a run is complete, and of this run of its cell."""
    return entry is not None and entry.complete and entry.started == repr(started)
