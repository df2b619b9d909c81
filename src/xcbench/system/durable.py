"""Atomic writes: files and folders are complete or absent, also after a crash.

New content goes to a hidden name next to its target, is synced and renamed. A killed process leaves
hidden names behind: `recover` restores content that exists only there, `sweep` deletes the rest.
These names are ours alone, see `sibling`; no other file is touched, and no link is followed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

LEFTOVER_SECONDS = 600.0  # a younger one may be that of a process that is writing now
OLD = "-old"
LEFT = re.compile(rf"\.(.+)\.xcbench-[0-9a-f]{{12}}({OLD})?")  # target, and whether it is old
TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux


def write(path: Path, content: bytes | str | Iterable[str]) -> None:
    """Write a file atomically: a reader sees the whole old content or the whole new one.

    Of lines, one is held in memory at a time.

    Raises
    ------
    OSError
        If the file cannot be written; the old content stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = sibling(path)
    try:
        with scratch.open("xb") as handle:
            parts = [content] if isinstance(content, bytes | str) else content
            handle.writelines(it if isinstance(it, bytes) else it.encode() for it in parts)
            handle.flush()
            os.fsync(handle.fileno())
        scratch.replace(path)
    except BaseException:  # on a full disk, what was written so far would keep it full
        scratch.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sibling(path: Path) -> Path:
    """Unique hidden name next to a path."""
    return path.with_name(f".{path.name}.xcbench-{secrets.token_hex(6)}")


def no_link(path: str, flags: int) -> int:
    """Open a file that is no link, and has no second name; as ``opener`` of `open`.

    Raises
    ------
    OSError
        If it cannot be opened, or is one of these.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o666)
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EMLINK, "it is a link: the file has another name", path)
    return descriptor


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Context with the descriptor of a file or folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    with opened(path) as descriptor:
        os.fsync(descriptor)


def number(path: Path) -> int:
    """Number of a file on its disk, which a new content of the name changes; 0 without one."""
    with suppress(OSError):
        return path.stat().st_ino
    return 0


def replace_folder(scratch: Path, target: Path) -> None:
    """Sync a folder and its content, then move it to a target, which it replaces.

    Parameters
    ----------
    scratch : named by `sibling` of the target.
    target : always exists for a reader, as the old folder or the new one.

    Raises
    ------
    OSError
        If that fails; the old folder and ``scratch`` stay.
    """
    for place, _, names in os.walk(scratch):
        for name in (*names, "."):
            sync(Path(place) / name)
    while not _placed(scratch, target):
        pass
    sync(target.parent)
    remove(scratch)  # now the old folder
    remove(_aside(scratch))


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Context with an empty folder, which replaces a target once its content is written.

    Raises
    ------
    OSError
        As `replace_folder` does; the old folder stays.
    """
    scratch = sibling(target)
    try:
        scratch.mkdir(parents=True)
        yield scratch
        replace_folder(scratch, target)
    finally:  # on a full disk, what was written so far would keep it full
        remove(scratch)


def write_together(files: Mapping[Path, bytes], pending: Path) -> None:
    """Write files of one folder, all of them or none.

    Once all are in the folder ``pending``, they count as written; then each moves into place.
    Readers ask `current` for a file, and writers call `finish` first.

    Raises
    ------
    OSError
        If they cannot be written; unless ``pending`` is there, the old contents stay.
    """
    with new_folder(pending) as scratch:
        for path, content in files.items():
            (scratch / path.name).write_bytes(content)
    finish(pending)


def current(path: Path, pending: Path) -> Path:
    """Path of the newest content of a file written by `write_together`."""
    new = pending / path.name
    return new if new.exists() else path


def finish(pending: Path) -> None:
    """Move files left in ``pending`` into place."""
    if pending.is_dir():
        for path in sorted(pending.iterdir()):
            path.replace(pending.parent / path.name)
        sync(pending.parent)
        pending.rmdir()


def _placed(scratch: Path, target: Path) -> bool:
    """Whether the rename went through; if not, another process moved the target meanwhile."""
    try:
        scratch.rename(target)
        return True
    except OSError as error:
        if error.errno not in TAKEN:
            raise
    try:
        if _exchange(scratch, target):
            return True
        remove(_aside(scratch))
        target.rename(_aside(scratch))
        scratch.rename(target)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError) and scratch.exists()
        if not gone and error.errno not in TAKEN:
            raise
        return False
    return True


def _aside(scratch: Path) -> Path:
    """Where the old folder waits while two renames stand for an exchange; `recover` knows it."""
    return scratch.with_name(scratch.name + OLD)


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two names at once; False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(b))


def recover(folder: Path) -> None:
    """Restore an old folder whose replacement never arrived."""
    for path, target, old in _left(folder):
        if old and not target.exists():
            with suppress(OSError):  # another process did it
                path.rename(target)


def sweep(folder: Path) -> None:
    """Recover, then delete the leftovers of killed processes."""
    recover(folder)
    for path, _, _ in _left(folder):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > LEFTOVER_SECONDS:
                remove(path)


def tidy(targets: Iterable[Path]) -> None:
    """Recover, then delete all leftovers of these paths; the caller holds their lock."""
    for wanted in targets:
        recover(wanted.parent)
        for path, target, _ in _left(wanted.parent):
            if target == wanted:
                remove(path)


def _left(folder: Path) -> Iterator[tuple[Path, Path, str | None]]:
    """Leftovers in a folder, the target of each, and whether it is the old one."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    matches = filter(None, map(LEFT.fullmatch, names))
    yield from ((folder / it[0], folder / it[1], it[2]) for it in matches)


def remove(path: Path) -> None:
    """Delete a file or a folder; errors are ignored."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
