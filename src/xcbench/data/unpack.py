"""Extract only the requested files of an archive, under given names."""

from __future__ import annotations

import errno
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, TypeVar

from xcbench.data import files
from xcbench.errors import UserError
from xcbench.system import durable
from xcbench.units import printable

Entry = TypeVar("Entry", zipfile.ZipInfo, tarfile.TarInfo)
BLOCK = 1 << 20
SHOWN = 8  # members that a message names
RATIO, SLACK = 100, 1 << 26  # data files shrink to a tenth, not to a hundredth
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
    *(RuntimeError,),  # encrypted, or an unknown compression
    *(ValueError, OverflowError),  # a wrong offset
)


def unpack(archive: Path, targets: dict[str, Path]) -> None:
    """Copy members of a zip or tar archive, compressed or not, to new files.

    Parameters
    ----------
    archive : zip or tar, detected from its content.
    targets : member → file to write. A member may be inside folders that are not named.

    Raises
    ------
    UserError
        If it is no archive, is damaged, lacks a member, or unpacks to too many bytes.
    OSError
        If the disk is full, or cannot be written.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                entries = [(entry.filename, entry) for entry in opened.infolist()]
                _copy_all(archive, entries, opened.open, _is_zipped_file, targets)
        elif tarfile.is_tarfile(archive):
            with (
                files.decompressed(archive, files.compression(archive), _most(archive)) as plain,
                tarfile.open(fileobj=plain, mode="r:") as bundle,
            ):
                members = [(member.name, member) for member in bundle.getmembers()]
                _copy_all(archive, members, bundle.extractfile, tarfile.TarInfo.isfile, targets)
        else:
            raise UserError("it is neither a zip nor a tar archive")
    except DAMAGE as error:
        raise UserError(f"the archive is damaged or not readable ({error})") from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # the latter of an offset before the file
            raise
        raise UserError(f"the archive is damaged ({error})") from None


def _copy_all(
    archive: Path,
    entries: list[tuple[str, Entry]],
    opened: Callable[[Entry], IO[bytes] | None],
    is_file: Callable[[Entry], bool],
    targets: dict[str, Path],
) -> None:
    left = _most(archive)
    try:
        for member, target in targets.items():
            entry = _only(entries, member)
            source = opened(entry) if is_file(entry) else None
            if source is None:
                raise UserError(f"the archive's {member} is a link or a folder, not a file")
            with source, open(target, "wb", opener=durable.no_link) as out:
                while block := source.read(BLOCK):
                    left -= len(block)
                    if left < 0:
                        raise UserError(
                            f"the archive's {member} unpacks to more than {RATIO} times the size "
                            "of the archive, which no data file does"
                        )
                    out.write(block)
    except BaseException:  # what is half unpacked would keep the disk full
        for target in targets.values():
            target.unlink(missing_ok=True)
        raise


def _most(archive: Path) -> int:
    """Bytes that it may unpack to."""
    return RATIO * archive.stat().st_size + SLACK


def _only(entries: list[tuple[str, Entry]], member: str) -> Entry:
    """The entry of that path, else the only one whose path ends with it, or of its name alone."""
    tail = PurePosixPath(member).parts
    paths = [(PurePosixPath(name), entry) for name, entry in entries]
    inside = [(path, entry) for path, entry in paths if not path.is_absolute()]
    exact = [entry for path, entry in inside if path.parts == tail]
    ending = [
        entry
        for path, entry in inside
        if ".." not in path.parts and path.parts[-len(tail) :] == tail
    ]
    named = [
        entry
        for path, entry in inside
        if ".." not in path.parts and path.name.lower() == tail[-1].lower()
    ]
    matches = exact or ending or named
    if len(matches) != 1:
        names = ", ".join(printable(name) for name, _ in entries[:SHOWN]) or "none"
        raise UserError(
            f"the archive holds {len(matches) or 'no'} files {member}; its members are {names}"
            + (", …" if len(entries) > SHOWN else "")
        )
    return matches[0]


def _is_zipped_file(entry: zipfile.ZipInfo) -> bool:
    return not entry.is_dir() and not stat.S_ISLNK(entry.external_attr >> 16)
