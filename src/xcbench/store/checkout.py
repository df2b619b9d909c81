"""Commit of the code that runs, or why there is none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import xcbench

PACKAGE = Path(xcbench.__file__).parent
PLACE = "src/xcbench/"  # of the package in its repository
OUTSIDE = "the package runs outside a checkout of xcbench"
UNREAD = "git is missing or cannot read the checkout"
OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")  # set in hooks, of any repository


def commit(package: Path = PACKAGE) -> dict[str, str | None]:
    """Fields of a cell's environment.

    ``git_commit`` has the mark ``-dirty`` where files of the package differ from the commit. Where
    it is None, ``git_commit_missing`` says why.
    """
    if not (package.parent.parent / ".git").exists():
        return _missing(OUTSIDE)
    head = _git(package, "rev-parse", "--show-prefix", "HEAD")
    tracked = _git(package, "ls-files", "__init__.py")
    changes = _git(package, "status", "--porcelain", "--untracked-files=normal", ".")
    if head is None or tracked is None or changes is None:
        return _missing(UNREAD)
    place, digits = head.splitlines()
    if place != PLACE or not tracked:
        return _missing(OUTSIDE)
    return {"git_commit": f"{digits}-dirty" if changes else digits}


def _missing(reason: str) -> dict[str, str | None]:
    return {"git_commit": None, "git_commit_missing": reason}


def _git(package: Path, *words: str) -> str | None:
    """What git says in the package's folder; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=package,
            env={name: value for name, value in os.environ.items() if name not in OTHERS},
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
