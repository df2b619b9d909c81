"""Find raw files, compressed or not, and hash their content."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError, reason
from xcbench.system import durable, locks, sealed
from xcbench.units import readable

RATIO, FLOOR = 200, 2**30  # lists of few different labels shrink to a 150th, but none to a GiB
OPENERS: dict[str, Callable[..., Any]] = {
    "": open,
    ".xz": partial(lzma.open, format=lzma.FORMAT_XZ),
    ".gz": gzip.open,
    ".bz2": bz2.open,
}

MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\0": ".xz", b"BZh": ".bz2"}


def find(data_dir: Path, folders: list[str], name: str) -> Path | None:
    """Find the first file of a name, plain or compressed, in the folders in order.

    Raises
    ------
    UserError
        If a folder cannot be read.
    """
    for folder in folders:
        for suffix in OPENERS:
            path = data_dir / folder / (name + suffix)
            try:
                if path.is_file():
                    return path
            except OSError as error:
                raise UserError(f"{path} cannot be looked up ({reason(error)})") from None
    return None


def find_all(data_dir: Path, settings: DatasetSettings) -> dict[str, Path | None]:
    """Path of the file of each role, or None."""
    folders = settings.folders or ["."]
    return {role: find(data_dir, folders, name) for role, name in settings.files.items()}


class Bounded(io.RawIOBase):
    """A stream with a maximum number of bytes.

    Parameters
    ----------
    inner : the stream.
    most : bytes from its beginning that may be read.
    what : start of the error message.
    """

    def __init__(self, inner: IO[bytes], most: int, what: str) -> None:
        self.inner, self.most, self.what = inner, most, what

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """As the inner stream."""
        return self.inner.seekable()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        block = self.inner.read(len(buffer))
        self._check(self.inner.tell())
        buffer[: len(block)] = block
        return len(block)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Seek from the start or the present position."""
        if whence == io.SEEK_CUR:
            offset += self.inner.tell()
        elif whence != io.SEEK_SET:
            raise io.UnsupportedOperation("the end is known after reading alone")
        self._check(offset)  # a compressed stream reads up to there
        return self.inner.seek(offset)

    def close(self) -> None:
        """Close both."""
        self.inner.close()
        super().close()

    def _check(self, place: int) -> None:
        if place > self.most:
            raise UserError(
                f"{self.what} more than {readable(self.most)}, "
                "more than any data file of its size; get the file again"
            )


def decompressed(path: Path, suffix: str, most: int | None = None) -> IO[bytes]:
    """Open a file, compressed as its suffix says, with a limit on the unpacked size.

    Parameters
    ----------
    most : largest unpacked size in bytes, by default that of any data file.
    """
    stream: IO[bytes] = OPENERS[suffix](path, "rb")
    if not suffix:
        return stream
    bound = largest(path) if most is None else most
    return io.BufferedReader(Bounded(stream, bound, f"{path} unpacks to"), 1 << 17)


def largest(path: Path) -> int:
    """Bytes that a compressed data file may unpack to."""
    return max(FLOOR, RATIO * path.stat().st_size)


@contextmanager
def open_content(path: Path) -> Iterator[IO[bytes]]:
    """Open the uncompressed content of a file.

    Raises
    ------
    UserError
        If the file cannot be read, its compression is damaged or truncated, or its content is
        larger than any data file.
    """
    suffix = path.suffix if path.suffix in OPENERS else ""
    try:
        with decompressed(path, suffix) as handle:
            yield handle
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; check the path") from None
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UserError(f"{path} cannot be read ({error}); get the file again") from None


def compression(path: Path) -> str:
    """Suffix of a file's compression, detected from its content."""
    with path.open("rb") as handle:
        start = handle.read(6)
    return next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), "")


def fresh_digest(path: Path) -> str:
    """Compute the SHA-256 of the uncompressed content."""
    digest = hashlib.sha256()
    with open_content(path) as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def content_digest(path: Path, digests: Path) -> str:
    """SHA-256 of the uncompressed content, cached in ``digests`` until the file changes.

    One process computes it at a time; the others wait, then read the cache.
    """
    with locks.alone(digests.with_suffix(".lock"), f"reads {path.name}"):
        return _content_digest(path, digests)


def _content_digest(path: Path, digests: Path) -> str:
    stat = path.stat()
    state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    try:
        remembered = sealed.loads(digests.read_bytes())
    except (OSError, ValueError):
        remembered = {}
    entry = remembered.get(str(path.resolve()), {})
    if entry.get("state") != state:
        entry = {"state": state, "digest": fresh_digest(path)}
        durable.write(digests, sealed.dumps({**remembered, str(path.resolve()): entry}))
    return str(entry["digest"])
