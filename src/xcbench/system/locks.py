"""File locks; a process that waits for another says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

SILENT_SECONDS = 1.0


@contextmanager
def alone(path: Path, what: str, seconds: float = -1) -> Iterator[None]:
    """Context that holds a lock.

    Parameters
    ----------
    path : lock file; its folder is created.
    what : what the other process does meanwhile, for the message: ``prepares mnist``.
    seconds : longest wait; -1 waits forever.

    Raises
    ------
    Timeout
        If another process holds it for longer.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(SILENT_SECONDS)
    except Timeout:
        print(f"waiting for another process, which {what} ({path})", file=sys.stderr, flush=True)
        lock.acquire(seconds)
    try:
        yield
    finally:
        lock.release()
