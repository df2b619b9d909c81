"""The MLflow store deleted, overwritten or locked in the middle of a launch: no cell minds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from faults.shim import Operation, Shim
from faults.subjects import Subject
from faults.verdicts import UNEXPLAINED, Trial, Verdict, announced, judge

HOLDERS: list[sqlite3.Connection] = []  # of a lock, until the process ends


def deleted(store: Path) -> None:
    """Another program deletes the store."""
    for path in store.parent.glob("mlflow.db*"):
        path.unlink()


def overwritten(store: Path) -> None:
    """Another program writes rubbish over the store."""
    store.write_bytes(b"rubbish " * 999)


def cut(store: Path) -> None:
    """Half of the store is gone."""
    if store.exists():
        store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])


def locked(store: Path) -> None:
    """Another program holds the store."""
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    HOLDERS.append(holder)


def trials(scenario: str, subject: Subject) -> Iterator[Trial]:
    """Each fault as soon as so many cells are there."""
    cells = len(subject.whole)
    for harm in (deleted, overwritten, cut, locked):
        for after in range(1, cells + 1):
            label = f"{harm.__name__} after cell {after}"
            yield Trial(scenario, label, partial(harmed, subject, harm, after))


def harmed(subject: Subject, harm: Callable[[Path], None], after: int, folder: Path) -> Verdict:
    """Harm the store once a number of cells is there."""
    subject.place(folder)
    runs = folder / "runs"
    harms: list[int] = []

    def fault(operation: Operation, half: Callable[[], object]) -> None:
        cells = len(list((runs / "cells").glob("[!.]*/cell.json")))
        if not harms and cells == after:
            harms.append(cells)
            harm(runs / "mlflow.db")

    struck = subject.run(folder, Shim(runs, fault).install)
    if struck.code or struck.err.count("warning:") > 1:
        return Verdict(UNEXPLAINED, str(struck))
    return judge(subject, folder, struck, announced(struck.out))
