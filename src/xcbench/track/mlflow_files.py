"""A MLflow database that is a file: made whole or not at all.

MLflow makes its tables in many steps. What it leaves on a full disk it cannot use later. So a new
database is made next to its place, and one that was left half made, which holds no runs, makes way.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from xcbench.system import durable

BUSY_SECONDS = 5.0  # wait for any other program that holds the store
NAMES = {"alembic_version", "experiments"}  # tables by which a store is known
UNDER_WAY = "_alembic_tmp_"  # begin of the name of a table that is being changed
FROM_THE_START = {*NAMES, "workspaces"}  # tables that have one row in a new store
JOURNALS = ("-journal", "-wal", "-shm")  # SQLite would apply them to another database in this place


def path(uri: str) -> Path | None:
    """File of a database, if it is one."""
    from sqlalchemy.engine import make_url

    if not uri.startswith("sqlite") or set("%?") & set(uri):  # read as an escape and as options
        return None
    name = make_url(uri).database
    return Path(name).resolve() if name and name != ":memory:" else None


def is_hollow(file: Path) -> bool:
    """Whether a file is empty, or of MLflow with no more than a new store, half made or whole."""
    if file.exists() and file.stat().st_size == 0:
        return True
    rows = _rows(file)
    return bool(NAMES & rows.keys()) and all(
        number <= (name in FROM_THE_START) for name, number in rows.items()
    )


def remove_hollow(file: Path, complete: Path) -> None:
    """Delete a hollow store that has no table besides those of a whole one; others stay."""
    runs = _rows(complete).keys()
    names = {name for name in _rows(file) if not name.startswith(UNDER_WAY)}
    if names <= runs and is_hollow(file):
        file.unlink()


def _rows(file: Path) -> dict[str, int]:
    """Tables of a database, and whether they have no row, one (1), or more (2)."""
    if not file.exists():
        return {}
    try:
        with closing(sqlite3.connect(file, BUSY_SECONDS, isolation_level=None)) as store:
            tables = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            return {name: _few(store, name) for (name,) in tables}
    except sqlite3.Error:
        return {}


def _few(store: sqlite3.Connection, table: str) -> int:
    quoted = table.replace('"', '""')
    return len(store.execute(f'SELECT 1 FROM "{quoted}" LIMIT 2').fetchall())


@contextmanager
def anew(file: Path, replacing: bool = True) -> Iterator[Path]:
    """Place of a new database, which goes where the file is once it is complete.

    Parameters
    ----------
    replacing : else one that another process puts there meanwhile stays.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = durable.sibling(file)
    scratch.mkdir()
    try:
        fresh = scratch / file.name
        yield fresh
        for suffix in JOURNALS:
            Path(f"{file}{suffix}").unlink(missing_ok=True)
        _put(fresh, file, replacing)
    finally:
        durable.remove(scratch)


def _put(fresh: Path, file: Path, replacing: bool) -> None:
    try:
        if not replacing:
            os.link(fresh, file)
            return
    except FileExistsError:
        return
    except OSError:  # a file system without links
        pass
    fresh.replace(file)
