"""Cache of compiled code on disk: loaded only if it belongs to this user and is undamaged.

Numba unpickles and runs any file in its cache. So the folders belong to this user alone, and every
file ends with the SHA-256 of its content. A file that does not match is ignored. What cannot be
read or written is compiled in memory, with one warning.
"""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from xcbench.errors import reason
from xcbench.system import durable, private, sources

SIZE = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Folder of compiled code; None if no folder is private.

    Each state of the code has a folder, because Numba checks the file of the compiled function
    only, not of the functions it calls.
    """
    package = Path(__file__).parents[1]
    patterns = (
        "kernels/*",
        "objectives/*",
        "adaptive",
        "solvers/pd_sparse_*",
        "solvers/ranking_*_*",
    )
    sources = sorted(path for name in patterns for path in package.glob(f"{name}.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    return private.folder(f"numba-{numba.__version__}-{digest}", "NUMBA_CACHE_DIR")


class Files(IndexDataCacheFile):
    """Numba's cache files, each with a checksum at its end, which unpickling ignores."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        buffer = io.BytesIO()
        yield buffer
        content = buffer.getvalue()
        durable.write(Path(filepath), content + hashlib.sha256(content).digest())

    def _load_index(self) -> dict[object, str]:
        return super()._load_index() if intact(self._index_path) else {}

    def _load_data(self, name: str) -> object:
        if not intact(self._data_path(name)):
            raise OSError("a damaged file is taken for a missing one")
        return super()._load_data(name)


def intact(path: str) -> bool:
    """Whether a file ends with the checksum of its content."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-SIZE]).digest() == content[-SIZE:]


def keep(dispatcher: Any, folder: Path) -> None:
    """Give a function its cache below a folder, if there can be one."""
    try:
        kept = Cache(dispatcher.py_func)
    except (OSError, RuntimeError):  # the latter where Numba finds no place
        kept = None
    if kept is not None and Path(kept.cache_path).is_relative_to(folder):
        dispatcher._cache = kept
    else:  # Numba would take a folder next to the source, which may be anybody's
        warn(folder, "it cannot be written")


@cache
def warn(folder: Path, why: str) -> None:
    """Say once that compiled code is not kept."""
    print(
        f"warning: compiled code is not kept in {folder} ({why}): every launch compiles it anew; "
        "make room there, or set NUMBA_CACHE_DIR",
        file=sys.stderr,
        flush=True,
    )


class Cache(FunctionCache):
    """Cache of one function's compiled code, in files with checksums."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        if function.__module__.partition(".")[0] != sources.OURS:  # it may call other files
            stamp = stamp, sources.digest(function.__module__)
        self._cache_file = Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: object, target_context: object) -> object:
        """Load a compiled function; None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of another machine, or of Numba's own reading
            return None

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled function, if there is room."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn(Path(self._cache_path).parent, reason(error))
