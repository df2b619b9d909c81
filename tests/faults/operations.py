"""Killed, or refused by the disk, at each operation on a file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from faults import shim
from faults.shim import At, Operation, Shim
from faults.subjects import Subject
from faults.verdicts import Trial, Verdict, announced, finished, judge

DISK = {0: "killed", errno.ENOSPC: "disk full", errno.EIO: "I/O error"}


def record(subject: Subject, folder: Path) -> tuple[Subject, list[Operation]]:
    """Run a subject undisturbed: its numbers, and every operation it performs."""
    subject.place(folder)
    log = folder.with_suffix(".operations")
    done = subject.run(folder, partial(shim.recording, folder / subject.under, log))
    if done.code:
        raise RuntimeError(f"{subject.name} fails undisturbed: {done}")
    whole, _ = subject.shown(folder)
    return replace(subject, whole=whole), shim.recorded(log)


def trials(
    scenario: str, subject: Subject, operations: list[Operation], error: int = 0
) -> Iterator[Trial]:
    """A trial for every operation that changes something; those that do not are counted too."""
    hit = [
        operation
        for operation in operations
        if operation.kind != "say" and (not error or operation.kind in shim.NEEDS_DISK)
    ]
    for number, operation in enumerate(hit):
        label = f"{DISK[error]} at {number}: {operation.kind} {Path(operation.path).name}"
        if not operation.failed:
            yield Trial(scenario, label, partial(strike, subject, number, error))


def strike(subject: Subject, number: int, error: int, folder: Path) -> Verdict:
    """Run a subject with a fault at an operation."""
    subject.place(folder)
    there = len(finished(subject.shown(folder)[0])) if subject.base else 0
    under = folder / subject.under

    def install() -> None:
        Shim(under, At(number, error)).install()

    struck = subject.run(folder, install)
    return judge(subject, folder, struck, max(there, announced(struck.out)))
