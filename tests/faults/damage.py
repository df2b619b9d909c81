"""Finished files damaged at random: flipped bits and digits, cut off, emptied, exchanged, gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from faults import process
from faults.process import Outcome
from faults.subjects import Shown, Subject
from faults.verdicts import SILENT, UNEXPLAINED, Trial, Verdict, judge

Change = Callable[[bytes, np.random.Generator], bytes]
Check = Callable[..., Verdict]


def _bit(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(8 * len(content)))
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def _digit(content: bytes, rng: np.random.Generator) -> bytes:
    """Another digit in the place of one: the file stays well-formed."""
    places = [i for i, byte in enumerate(content) if chr(byte).isdigit()]
    changed = bytearray(content)
    if places:
        place = places[int(rng.integers(len(places)))]
        changed[place] = ord("0") + (changed[place] - ord("0") + int(rng.integers(1, 10))) % 10
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _without_line(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[int(rng.integers(len(lines)))]
    return b"".join(lines)


def _zeros(content: bytes, rng: np.random.Generator) -> bytes:
    begin = int(rng.integers(len(content)))
    return content[:begin] + bytes(len(content) - begin)


OF_BYTES: dict[str, Change] = {
    "a bit flipped": _bit,
    "cut off": _cut,
    "zeros to the end": _zeros,
    "emptied": lambda content, rng: b"",
}
OF_TEXT = {**OF_BYTES, "a digit changed": _digit, "a line gone": _without_line}
DELETED = "deleted"


@dataclass(frozen=True)
class Readings(Subject):
    """The cells of a launch as `results` and `predict` show them."""

    def shown(self, folder: Path) -> tuple[Shown, Outcome]:
        """Checkpoints of the launch's cells, and what their weights predict."""
        shown, outcome = super().shown(folder)
        out, err = outcome.out, outcome.err
        for cell in sorted(self.whole or shown):
            if cell in shown:
                words = ("xcbench", "predict", cell, "own.txt")
                predicted = process.command(folder, words)
                out, err = out + predicted.out, err + predicted.err
                if predicted.code == 0:
                    shown[f"weights of {cell}"] = [{"status": "done", "text": predicted.out}]
        return shown, Outcome(outcome.code, out, err)


def trials(
    scenario: str,
    subject: Subject,
    paths: list[Path],
    number: int,
    rng: np.random.Generator,
    check: Check = judge,
) -> Iterator[Trial]:
    """Random faults in files of the base of a subject, as many in each of them."""
    assert subject.base
    for index in range(number):
        path = paths[index % len(paths)].relative_to(subject.base)
        changes = [*(OF_TEXT if path.suffix in (".json", ".csv") else OF_BYTES), DELETED]
        change = changes[int(rng.integers(len(changes)))]
        seed = int(rng.integers(2**32))
        run = partial(damaged, subject, path, change, seed, check)
        yield Trial(scenario, f"{change}: {path} (seed {seed})", run)


def damaged(
    subject: Subject, path: Path, change: str, seed: int, check: Check, folder: Path
) -> Verdict:
    """Damage a file of a finished workspace, and go on."""
    subject.place(folder)
    before = details(folder) if check is of_cells else {}
    where = folder / path
    if change == DELETED:
        where.unlink()
    else:
        where.write_bytes(OF_TEXT[change](where.read_bytes(), np.random.default_rng(seed)))
    return provenance(before, folder) or check(subject, folder, damage=True)


def of_cells(subject: Subject, folder: Path, damage: bool) -> Verdict:
    """Whether cells are right, and all that `show` says of them."""
    return judge(subject, folder, damage=damage)


def of_data(subject: Subject, folder: Path, damage: bool) -> Verdict:
    """Whether new cells are right: those alone read prepared data and compiled code."""
    shutil.rmtree(folder / "runs" / "cells")
    return judge(subject, folder, damage=damage)


def details(folder: Path) -> dict[str, Outcome]:
    """What `show` says of every cell."""
    names = sorted(path.name for path in (folder / "runs" / "cells").glob("[!.]*"))
    return {name: process.command(folder, ("xcbench", "show", name)) for name in names}


def provenance(before: dict[str, Outcome], folder: Path) -> Verdict | None:
    """What is wrong with what `show` says now."""
    for name, here in details(folder).items() if before else ():
        if here.traceback:
            return Verdict(UNEXPLAINED, str(here))
        if here.code == 0 and not here.said and (why := _difference(here, before[name])):
            return Verdict(SILENT, f"show {name}: {why}")
    return None


def _difference(here: Outcome, there: Outcome) -> str:
    """Lines of one only; the size of the cell's folder may differ, it says no more."""
    unlike = set(here.out.splitlines()) ^ set(there.out.splitlines())
    return " / ".join(sorted(line for line in unlike if "  folder  " not in line))
