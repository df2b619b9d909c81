"""Cells of a launch that are there already: which hold, and why others run again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xcbench.errors import UserError
from xcbench.plan import code
from xcbench.plan.code import Change, Code
from xcbench.plan.job import Job
from xcbench.store import cells, checkpoints, results
from xcbench.store.cell import FINAL, OVERTIME, Cell
from xcbench.system import memory, sources
from xcbench.units import count

STALE = "stale"


@dataclass(frozen=True)
class Stored:
    """A cell that is there.

    Attributes
    ----------
    started : when it ran.
    status : of a cell that need not run again; None of one that must.
    change : what changed of its code since.
    """

    started: float
    status: str | None
    change: Change


def look_up(runs_dir: Path, jobs: Sequence[Job]) -> dict[str, Stored]:
    """The cells of jobs that are there, by identity.

    Records of code that gives the same numbers get today's digest, unless the launch only plans.
    """
    stored = {}
    for job in jobs:
        cell = cells.usable(runs_dir, job.cell.cell)  # a damaged one runs again
        if cell is not None:
            stored[job.cell.cell] = _stored(runs_dir, job, cell)
    return stored


def _stored(runs_dir: Path, job: Job, cell: Cell) -> Stored:
    if cell.status == "failed" and (cell.message or "").startswith((memory.KILLED, OVERTIME)):
        return Stored(cell.started, cell.status, Change())
    if cell.status not in FINAL:
        return Stored(cell.started, None, Change())
    record = Code.of(cell.code)
    change = code.change(record, job.method)
    holds = not change and not change.unchecked
    if record and holds and not job.settings.plan and record.digest != job.source:
        with suppress(UserError):  # of a folder that can only be read; it is compared again
            cells.renew_code(runs_dir, cell, code.renewed(record).content)
    return Stored(cell.started, None if change else cell.status, change)


def changes(stored: Iterable[Cell]) -> dict[str, Change]:
    """What became of the code of cells that ended, by identity."""
    with sources.remembered():
        return {
            cell.cell: code.change(Code.of(cell.code)) for cell in stored if cell.status in FINAL
        }


def frame(
    stored: Sequence[Cell], curves: bool = False, checkpoint: str = checkpoints.BEST
) -> pd.DataFrame:
    """`results.frame` with two more columns: the checkpoint, and why a cell is stale."""
    reasons = {cell: it.reason for cell, it in changes(stored).items() if it}
    rows = results.frame(stored, curves, checkpoint)
    rows = checkpoints.marked(rows, stored, checkpoint)
    return rows.assign(**{STALE: [reasons.get(cell, "") for cell in rows["cell"]]})


def sentences(changes: Iterable[Change]) -> list[str]:
    """A sentence for each reason why cells are stale, and for what could not be compared."""
    stale, unchecked = Counter[str](), Counter[str]()
    for change in changes:
        if change:
            stale[change.reason] += 1
        elif change.unchecked:
            unchecked[change.unchecked] += 1
    return [
        *(f"{count(n, 'cell')} stale: {reason}" for reason, n in stale.items()),
        *(
            f"{count(n, 'cell')} from changed code, not compared: {reason}"
            for reason, n in unchecked.items()
        ),
    ]
