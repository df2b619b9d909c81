"""Whether anything runs while inputs are read, by the events that Python audits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xcbench
from fuzz import planted

STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
STARTS += ("subprocess.Popen", "pty.spawn", "pickle.find_class")
SOURCES = str(Path(xcbench.__file__).parent)
LIBRARIES = tuple({sys.prefix, sys.base_prefix, SOURCES})
ran: list[str] = []
watching = False


class CodeRunError(AssertionError):
    """What was read has imported a module, started a process, or run text as code."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if watching and _runs(event, args):
        ran.append(f"{event} {args[0]!r}"[:120])


def _runs(event: str, args: tuple[Any, ...]) -> bool:
    if event == "exec":  # libraries import more of themselves when they are first used
        file = getattr(args[0], "co_filename", "")
        return not file.startswith((*LIBRARIES, "<frozen"))
    return event in STARTS


sys.addaudithook(_hook)


def _packages() -> set[str]:
    """Names of packages that are loaded."""
    return {name.partition(".")[0] for name in tuple(sys.modules)}


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Context that raises `CodeRunError` at its end if anything did.

    A module of a package that was not there is found where modules are kept: `importlib` tells of
    no import.
    """
    global watching
    ran.clear()
    sys.modules.pop(planted.__name__, None)
    before, watching = _packages(), True
    try:
        yield
    finally:
        watching = False
        ran.extend(f"import {name}" for name in sorted(_packages() - before))
        if ran:
            raise CodeRunError("; ".join(ran))


@contextmanager
def compiling() -> Iterator[None]:
    """Context for what is done with data that were read: Numba loads a kernel for their types."""
    global watching
    before, watching = watching, False
    try:
        yield
    finally:
        watching = before
