"""One process at a time; who waits for another is told so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

SILENT_SECONDS = 1.0


@contextmanager
def alone(path: Path, what: str, seconds: float = -1) -> Iterator[None]:
    """Hold a lock.

    Parameters
    ----------
    path : file of the lock; its folder is created.
    what : that other processes are doing meanwhile, such as ``prepares mnist``.
    seconds : longest wait; -1 waits for ever.

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
