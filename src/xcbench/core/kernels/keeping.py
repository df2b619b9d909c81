"""Where compiled code is kept between processes: loaded only if it is ours, and as it was written.

Numba unpickles and runs whatever lies in its cache. So the folders belong to this user alone, and
every file ends with the SHA-256 of its content; another content is as good as none.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from xcbench import durable

SIZE = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Where compiled code is kept, or None where no folder is private.

    A folder for each state of the code: Numba looks at the file of the compiled function alone,
    not at those it calls.
    """
    package = Path(__file__).parents[1]
    sources = sorted(
        path
        for pattern in ("kernels/*.py", "objectives/*.py", "adaptive.py")
        for path in package.glob(pattern)
    )
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    state = f"numba-{numba.__version__}-{digest}"
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    places = (
        Path(home or Path.home() / ".cache") / "xcbench",
        Path(tempfile.gettempdir()) / f"xcbench-{os.getuid()}",
    )
    for place in places:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if private(place) and private(place / state):
                return place / state
        except (OSError, RuntimeError):  # not writable; no home
            continue
    return None


def private(path: Path) -> bool:
    """Whether a folder, created if it is not there, is this user's and nobody else writes in it."""
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return ours and not status.st_mode & 0o022 and os.access(path, os.W_OK)


class Files(IndexDataCacheFile):
    """Numba's files, each with its checksum at the end, where unpickling does not look."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        buffer = io.BytesIO()
        yield buffer
        content = buffer.getvalue()
        durable.write(Path(filepath), content + hashlib.sha256(content).digest())

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if intact(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not intact(self._data_path(name)):
            raise OSError("a damaged file is taken for a missing one")
        return super()._load_data(name)


def intact(path: str) -> bool:
    """Whether a file ends with the checksum of what comes before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-SIZE]).digest() == content[-SIZE:]


class Cache(FunctionCache):
    """Compiled code of one function in checked files."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = Files(self._cache_path, self._impl.filename_base, stamp)
