"""A folder on a disk of its own that is full: a small file system in its place.

SQLite and Numba write past Python, where no shim sees them. So this is a real one, for which it
needs root; ``unshare -rm make faults FAULTS=disks`` gives it that.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from faults.subjects import Subject
from faults.verdicts import Trial, Verdict, announced, finished, judge

PAGE = 4096  # bytes, the unit of such a disk
MORE = 1.3  # than what is there at the end: files are written beside those that they replace
ROOM = 1 << 30


@dataclass(frozen=True)
class Disk:
    """A disk in the place of a folder, with what stood there."""

    where: Path

    def mount(self, size: int) -> None:
        """Begin with so many bytes."""
        aside = self.where.with_name(f"{self.where.name}-aside")
        if self.where.exists():
            self.where.rename(aside)
        self.where.mkdir(parents=True)
        self._call("mount", "-t", "tmpfs", "-o", f"size={size}", "xcbench", str(self.where))
        if aside.exists():
            shutil.copytree(aside, self.where, dirs_exist_ok=True, symlinks=True)
            shutil.rmtree(aside)

    def make_room(self) -> None:
        """Give it all the bytes that are needed."""
        self._call("mount", "-o", f"remount,size={ROOM}", str(self.where))

    def unmount(self) -> None:
        """End, with all that is on it."""
        self._call("umount", "--lazy", str(self.where))

    def _call(self, *words: str) -> None:
        subprocess.run(words, check=True, capture_output=True)


def trials(scenario: str, subject: Subject, place: str, done: Path, number: int) -> Iterator[Trial]:
    """Disks of sizes from one page to what is needed.

    Parameters
    ----------
    place : folder of the workspace that is on the disk.
    done : a workspace in which the subject ran undisturbed.
    """
    before = _used(subject.base / place) if subject.base else 0
    needed = MORE * _used(done / place)
    for pages in np.unique(np.linspace(before + 1, needed, number).astype(int)):
        run = partial(strike, subject, place, int(pages) * PAGE)
        yield Trial(scenario, f"{place}: {pages} pages", run)


def strike(subject: Subject, place: str, size: int, folder: Path) -> Verdict:
    """Run a subject on a full disk, and go on when it has room."""
    subject.place(folder)
    there = len(finished(subject.shown(folder)[0])) if subject.base else 0
    disk = Disk(folder / place)
    disk.mount(size)
    try:
        struck = subject.run(folder)
        promised = max(there, announced(struck.out))
        return judge(replace(subject, before_again=disk.make_room), folder, struck, promised)
    finally:
        disk.unmount()


def _used(folder: Path) -> int:
    """Pages of the files below a folder."""
    return sum(-(-path.stat().st_size // PAGE) for path in folder.rglob("*") if path.is_file())
