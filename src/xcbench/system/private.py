"""Folders of caches that belong to this user alone, shared by all launches."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def folder(name: str, variable: str = "XDG_CACHE_HOME") -> Path | None:
    """Folder of a cache, created if missing; None if none is private.

    Parameters
    ----------
    variable : of the environment, that names another place than the user's cache.
    """
    home = os.environ.get(variable) or os.environ.get("XDG_CACHE_HOME")
    places = (
        lambda: Path(home or Path.home() / ".cache") / "xcbench",
        lambda: Path(tempfile.gettempdir()) / f"xcbench-{os.getuid()}",
    )
    for place in places:
        try:
            path = place()
            path.parent.mkdir(parents=True, exist_ok=True)
            if _is_private(path) and _is_private(path / name):
                return path / name
        except (OSError, RuntimeError):  # not writable; no home
            continue
    return None


def _is_private(path: Path) -> bool:
    """Create a folder if missing; whether it is this user's and nobody else can write in it."""
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return ours and not status.st_mode & 0o022 and os.access(path, os.W_OK)
