"""What a process does to the files below a folder, one operation after the other.

Installed in a process, it stands between the product and the functions of ``os`` and ``io`` that
change files. Before each operation it asks ``fault``, which may count, raise or kill.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import os
import pickle
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.lib.format

OPENS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OF_PATHS = ("mkdir", "rmdir", "unlink", "remove", "truncate", "chmod")
OF_PAIRS = ("rename", "replace", "link")
OF_FILES = ("fsync", "fdatasync", "ftruncate")
SAME = {"remove": "unlink", "replace": "rename", "fdatasync": "fsync", "ftruncate": "truncate"}
REAL = {name: getattr(os, name) for name in ("open", "write", *OF_PATHS, *OF_PAIRS, *OF_FILES)}
REAL_OPEN = builtins.open


@dataclass(frozen=True)
class Operation:
    """A change of the files; a path is absolute, ``other`` is the second one of a rename.

    One that ``failed``, such as ``mkdir`` of a folder that is there, changed nothing.
    """

    kind: str
    path: str
    other: str = ""
    data: bytes = b""
    offset: int = 0
    failed: bool = False


Fault = Callable[[Operation, Callable[[], object]], None]  # and what would write half of the data


class Shim:
    """Takes the place of the functions that change files below ``folder``."""

    def __init__(
        self, folder: Path, fault: Fault, note: Callable[[Operation], object] = lambda done: None
    ) -> None:
        self.folder, self.fault, self.note = str(folder.resolve()) + os.sep, fault, note

    def install(self) -> None:
        """Stand between this process and its files from now on."""
        builtins.open = io.open = self.open  # type: ignore[assignment]
        npy = sys.modules.get("numpy.lib._format_impl", numpy.lib.format)  # before NumPy 2.3
        npy.isfileobj = lambda file: False  # else arrays are written past Python
        os.open, os.write = self.os_open, self.os_write  # type: ignore[assignment]
        ctypes.CDLL = self._library()  # type: ignore[misc]
        for name in OF_PATHS:
            setattr(os, name, self._of_path(name))
        for name in OF_PAIRS:
            setattr(os, name, self._of_pair(name))
        for name in OF_FILES:
            setattr(os, name, self._of_file(name))

    def inside(self, path: str) -> bool:
        """Whether a change of this path counts."""
        return (path + os.sep).startswith(self.folder)

    def step(self, operation: Operation, do: Callable[[], Any], half: Any = lambda: None) -> Any:
        """Perform an operation, unless a fault prevents it."""
        if not self.inside(operation.path):
            return do()
        self.fault(operation, half)
        try:
            given = do()
        except OSError:
            self.note(replace(operation, failed=True))
            raise
        self.note(operation)
        return given

    def open(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        """`open`, with a raw file whose writes are steps."""
        path = named(file)
        if not set(mode) & set("wax+") or not self.inside(path):
            return REAL_OPEN(file, mode, *args, **options)
        return self._opened(file, path, mode, *args, **options)

    def _opened(
        self,
        file: Any,
        path: str,
        mode: str,
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        plain = "".join(letter for letter in mode if letter in "rwax+")
        if isinstance(file, int) or opener:
            raw = Raw(self, file, plain, closefd, opener)
        else:
            kind = "create" if plain[0] in "wx" else "open"
            raw = self.step(Operation(kind, path), lambda: Raw(self, file, plain, closefd, opener))
        if buffering == 0:
            return raw
        binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return binary
        return io.TextIOWrapper(binary, encoding, errors, newline, line_buffering=buffering == 1)

    def os_open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
        """`os.open`; one that cannot change anything is no step."""
        where = named(path, dir_fd)

        def do() -> int:
            return REAL["open"](path, flags, mode, dir_fd=dir_fd)

        if not flags & OPENS:
            return do()
        return self.step(Operation("create" if flags & os.O_TRUNC else "open", where), do)

    def os_write(self, descriptor: int, data: Any) -> int:
        """`os.write`."""
        offset = os.lseek(descriptor, 0, os.SEEK_CUR) if seekable(descriptor) else 0
        operation = Operation("write", named(descriptor), data=bytes(data), offset=offset)
        return self.step(
            operation,
            lambda: REAL["write"](descriptor, data),
            lambda: REAL["write"](descriptor, bytes(data)[: len(data) // 2]),
        )

    def _of_path(self, name: str) -> Callable[..., Any]:
        def changed(path: Any, *args: Any, **options: Any) -> Any:
            where = named(path, options.get("dir_fd"))
            return self.step(
                Operation(SAME.get(name, name), where, offset=args[0] if args else 0),
                lambda: REAL[name](path, *args, **options),
            )

        return changed

    def _of_pair(self, name: str) -> Callable[..., Any]:
        def changed(path: Any, other: Any, **options: Any) -> Any:
            return self.step(
                Operation(SAME.get(name, name), named(path), named(other)),
                lambda: REAL[name](path, other, **options),
            )

        return changed

    def _of_file(self, name: str) -> Callable[..., Any]:
        def changed(file: Any, *args: Any) -> Any:
            descriptor = file if isinstance(file, int) else file.fileno()
            return self.step(
                Operation(SAME.get(name, name), named(descriptor), offset=args[0] if args else 0),
                lambda: REAL[name](file, *args),
            )

        return changed

    def _library(self) -> type[ctypes.CDLL]:
        """The C library, whose exchange of two names is a step."""
        shim = self

        class Library(ctypes.CDLL):
            def __getattr__(self, name: str) -> Any:
                function = super().__getattr__(name)
                return shim._exchange(function) if name == "renameat2" else function

        return Library

    def _exchange(self, function: Callable[..., int]) -> Callable[..., int]:
        def changed(folder: int, path: bytes, others: int, other: bytes, flags: int) -> int:
            def do() -> int:
                if function(folder, path, others, other, flags):
                    raise Refused
                return 0

            try:
                return self.step(Operation("exchange", named(path), named(other)), do)
            except Refused:
                return -1

        return changed


class Refused(OSError):
    """The system did not exchange two names, and says why in its own way."""


class Raw(io.FileIO):
    """A file whose writes are steps."""

    def __init__(self, shim: Shim, file: Any, mode: str, closefd: bool, opener: Any) -> None:
        super().__init__(file, mode, closefd, opener)
        self.shim = shim

    def write(self, data: Any) -> int:
        """Write, as one step."""
        whole = bytes(data)
        operation = Operation("write", named(self.fileno()), data=whole, offset=self.tell())
        write = super().write
        return self.shim.step(
            operation, lambda: write(whole), lambda: write(whole[: len(whole) // 2])
        )

    def truncate(self, size: int | None = None) -> int:
        """Cut off, as one step."""
        end = self.tell() if size is None else size
        cut = super().truncate
        return self.shim.step(
            Operation("truncate", named(self.fileno()), offset=end), lambda: cut(end)
        )


def named(file: Any, dir_fd: int | None = None) -> str:
    """Absolute path of a path or descriptor, without following a link at its end."""
    if isinstance(file, int):
        return os.readlink(f"/proc/self/fd/{file}").removesuffix(" (deleted)")
    path = os.fsdecode(file)
    folder = os.getcwd() if dir_fd is None else named(dir_fd)
    where, name = os.path.split(os.path.normpath(os.path.join(folder, path)))
    return os.path.join(os.path.realpath(where), name)


def seekable(descriptor: int) -> bool:
    """Whether a descriptor has a place in a file."""
    try:
        os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return False
    return True


# Faults


def recording(folder: Path, log: Path) -> None:
    """Note every operation of this process, and what it prints, for `recorded`."""
    notes = REAL_OPEN(log, "wb", buffering=0)
    write = sys.stdout.write

    def told(text: str) -> int:
        pickle.dump(Operation("say", "", data=text.encode()), notes)
        return write(text)

    sys.stdout.write = told  # type: ignore[method-assign]
    Shim(folder, lambda operation, half: None, lambda done: pickle.dump(done, notes)).install()


def recorded(log: Path) -> list[Operation]:
    """The operations that `recording` noted."""
    operations = []
    with log.open("rb") as file, suppress(EOFError):
        while True:
            operations.append(pickle.load(file))
    return operations


class At:
    """A fault at one operation: killed with half of the data written, or an error of the disk.

    Parameters
    ----------
    number : of the operation, from 0.
    error : of the disk, or 0 for a kill; a full disk stays full, a bad block is hit once.
    """

    def __init__(self, number: int, error: int = 0) -> None:
        self.left, self.error = number, error

    def __call__(self, operation: Operation, half: Callable[[], object]) -> None:
        """Strike if it is time."""
        if self.error and operation.kind not in NEEDS_DISK:
            return
        self.left -= 1
        if self.left == -1 or (self.left < 0 and self.error == errno.ENOSPC):
            half()
            if not self.error:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(self.error, os.strerror(self.error), operation.path)


NEEDS_DISK = ("create", "open", "write", "fsync", "mkdir", "rename", "exchange", "link")
