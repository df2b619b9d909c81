"""Two commands at once in one workspace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from faults.subjects import Subject
from faults.verdicts import LOST, UNEXPLAINED, Trial, Verdict, announced, judge


def trials(
    scenario: str, subject: Subject, number: int, rng: np.random.Generator
) -> Iterator[Trial]:
    """The second command begins a random time after the first one."""
    for delay in rng.uniform(0, 0.5, number):
        yield Trial(scenario, f"{delay:.3f} s apart", partial(together, subject, float(delay)))


def together(subject: Subject, delay: float, folder: Path) -> Verdict:
    """Run a command twice at once: both succeed, and each cell is computed once."""
    subject.place(folder)
    first = subject.start(folder)
    time.sleep(delay)
    second = subject.start(folder, name="-second")
    ended = [first.end(), second.end()]
    if bad := [outcome for outcome in ended if outcome.code]:
        return Verdict(UNEXPLAINED, "\n".join(map(str, bad)))
    verdict = judge(subject, folder)
    computed = sum(announced(it.out) - it.out.count("from another launch") for it in ended)
    if computed > len(list((folder / "runs" / "cells").glob("[!.]*"))):
        return Verdict(LOST, f"{computed} cells computed\n{ended[0]}\n{ended[1]}")
    return verdict
