"""Finding raw files, compressed or not, and knowing their content by its SHA-256."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from xcbench import durable, locks, sealed
from xcbench.config import Dataset
from xcbench.errors import UserError

OPENERS: dict[str, Callable[..., Any]] = {
    "": open,
    ".xz": partial(lzma.open, format=lzma.FORMAT_XZ),
    ".gz": gzip.open,
    ".bz2": bz2.open,
}


def find(data_dir: Path, folders: list[str], name: str) -> Path | None:
    """First file of that name, plain or compressed, in the folders in order.

    Raises
    ------
    UserError
        If a folder cannot be looked into.
    """
    for folder in folders:
        for suffix in OPENERS:
            path = data_dir / folder / (name + suffix)
            try:
                if path.is_file():
                    return path
            except OSError as error:
                raise UserError(f"{path} cannot be looked up ({error.strerror})") from None
    return None


def find_all(data_dir: Path, settings: Dataset) -> dict[str, Path | None]:
    """Where the file of each role is, or None."""
    folders = settings.folders or ["."]
    return {role: find(data_dir, folders, name) for role, name in settings.files.items()}


@contextmanager
def open_content(path: Path) -> Iterator[IO[bytes]]:
    """Open the uncompressed content of a file.

    Raises
    ------
    UserError
        If the file cannot be read or its compression is damaged or cut off.
    """
    opener = OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rb") as handle:
            yield handle
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UserError(f"{path} cannot be read ({error}); get the file again") from None


def fresh_digest(path: Path) -> str:
    """SHA-256 of the uncompressed content, read now."""
    digest = hashlib.sha256()
    with open_content(path) as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def content_digest(path: Path, known: Path) -> str:
    """SHA-256 of the uncompressed content, remembered in the file ``known`` while nobody writes it.

    One process at a time: the others wait, then find the digest remembered.
    """
    with locks.alone(known.with_suffix(".lock"), f"reads {path.name}"):
        return _content_digest(path, known)


def _content_digest(path: Path, known: Path) -> str:
    stat = path.stat()
    state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    try:
        remembered = sealed.loads(known.read_bytes())
    except (OSError, ValueError):
        remembered = {}
    entry = remembered.get(str(path.resolve()), {})
    if entry.get("state") != state:
        entry = {"state": state, "digest": fresh_digest(path)}
        durable.write(known, sealed.dumps({**remembered, str(path.resolve()): entry}))
    return str(entry["digest"])
