"""A link to files of the user in each place that a command writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from faults.shim import Operation
from faults.subjects import Subject, nothing
from faults.verdicts import FOREIGN, Trial, Verdict, announced, judge
from xcbench.system.durable import LEFT

FILES = ("letter.txt", "home/.bashrc", "home/.ssh/key", "home/.git/config", "home/cell.json")
TARGETS = {"a file": "letter.txt", "a folder": "home", "nothing": "new"}
OLD = 1_500_000_000  # seconds: when the files were written
State = dict[str, tuple[bytes, int]]


def trials(
    scenario: str, subject: Subject, folder: Path, done: list[Operation], more: Iterable[str] = ()
) -> Iterator[Trial]:
    """A link to a file, to a folder and to nothing in each place.

    Parameters
    ----------
    folder : where the operations were done.
    more : places that are written past Python.
    """
    paths = [path for one in done for path in (one.path, one.other) if path and not one.failed]
    places = [os.path.relpath(path, folder.resolve()) for path in paths]
    ours = [place for place in places if not any(map(LEFT.fullmatch, Path(place).parts))]
    for place in sorted({*ours, *more} - {"."}):
        if not (subject.base and (subject.base / place).exists()):
            for target in TARGETS:
                run = partial(strike, subject, place, target)
                yield Trial(scenario, f"{place} leads to {target}", run)


def strike(subject: Subject, place: str, target: str, folder: Path) -> Verdict:
    """Run a subject where a link stands in a place of its own; it goes on without, if told."""
    subject.place(folder)
    outside = folder.with_name(f"{folder.name}-outside")
    for name in FILES:
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("of the user")
        os.utime(path, (OLD, OLD))
    before = files(outside)
    link = folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / TARGETS[target])
    struck = subject.run(folder)
    heeded = partial(remove, link) if struck.said else nothing
    promised = announced(struck.out)
    verdict = judge(replace(subject, before_again=heeded), folder, struck, promised)
    after = files(outside)
    if target == "a folder":  # it may be a disk with more room: new files may stand there
        after = {name: after[name] for name in after if name in before}
    return verdict if after == before else Verdict(FOREIGN, f"{before}\n{after}\n{verdict.why}")


def remove(link: Path) -> None:
    """Do what the sentence about it asks for."""
    if link.is_symlink():
        link.unlink()


def files(folder: Path) -> State:
    """Content and time of every file below a folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
