"""Power lost after each operation: the worst that a disk may then hold."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from faults import disk
from faults.disk import LOSSES, Disk, State
from faults.shim import Operation
from faults.subjects import Subject
from faults.verdicts import Trial, Verdict, announced, finished, judge


def trials(
    scenario: str, subject: Subject, folder: Path, operations: list[Operation]
) -> Iterator[Trial]:
    """A trial for every unlike state that a recorded run passed through.

    Parameters
    ----------
    folder : where it ran.
    """
    base = subject.base / subject.under if subject.base else None
    before = Disk(folder / subject.under, base)
    seen, printed = set(), ""
    for number, operation in enumerate(operations, 1):
        before.apply(operation)
        printed += operation.data.decode() if operation.kind == "say" else ""
        for loss in LOSSES:
            state = before.left(loss)
            digest = _digest(state, announced(printed))
            if digest not in seen:
                seen.add(digest)
                label = f"{loss} after {number}: {operation.kind} {Path(operation.path).name}"
                run = partial(lose, subject, state, announced(printed))
                yield Trial(scenario, label, run)


def _digest(state: State, promised: int) -> str:
    return hashlib.sha256(repr((sorted(state.items()), promised)).encode()).hexdigest()


def lose(subject: Subject, state: State, promised: int, folder: Path) -> Verdict:
    """Go on from a state that a loss of power left."""
    subject.place(folder)
    there = len(finished(subject.shown(folder)[0])) if subject.base else 0
    shutil.rmtree(folder / subject.under, ignore_errors=True)
    disk.write(state, folder / subject.under)
    return judge(subject, folder, None, max(there, promised))
