"""Faults at single changes of files: a process that dies there, or finds no room."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from xcbench.errors import UserError

KILLED, REFUSED = 9, 3
CHANGES = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.link"}


def in_child(work: Callable[[], object], at: int, fault: Callable[[], None]) -> int:
    """Exit code of a process that does some work, with a fault at the at-th change of a file."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    count = iter(range(at))

    def hook(event: str, args: tuple[object, ...]) -> None:
        writes = event != "open" or bool(int(str(args[2])) & (os.O_WRONLY | os.O_RDWR))
        if event in CHANGES and writes and next(count, None) is None:
            fault()

    sys.addaudithook(hook)
    try:
        work()
    except UserError:
        os._exit(REFUSED)
    os._exit(0)


def kill() -> None:
    os._exit(KILLED)
