"""Which lines of the package a test runs, in its own process and in those it launches.

Every Python process of a copy of the tree starts with it. A line is written when a test reaches it
for the first time, so that a process that is killed counts as well.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

FOLDER = "LINES_FOLDER"  # of the environment; what begins with PYTHON does not reach launches
CALLS = 100  # of a function, in a test: the lines of later ones are not looked at
Trace = Callable[[FrameType, str, Any], Any]


class Recorder:
    """Writes ``= TEST`` and ``FILE LINE`` to a file of this process."""

    def __init__(self, folder: str, package: str) -> None:
        self.folder, self.package = folder, package
        self.seen: dict[str, set[int]] = {}
        self.tracers: dict[str, Trace | None] = {}
        self.calls: Counter[tuple[str, int]] = Counter()
        self.file, self.test = -1, ""
        self.open()
        os.register_at_fork(after_in_child=self.open)

    def open(self) -> None:
        """Begin a file; that of a parent is the parent's."""
        if self.file >= 0:
            os.close(self.file)
        path = os.path.join(self.folder, f"{uuid.uuid4().hex}.lines")
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.test = ""
        self.forget()

    def forget(self) -> None:
        """Look at all lines anew, as a test does that begins."""
        for lines in self.seen.values():
            lines.clear()
        self.calls.clear()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        """Trace functions of the package, and no others."""
        code = frame.f_code
        name = code.co_filename
        if name not in self.tracers:
            self.tracers[name] = self.tracer(name) if name.startswith(self.package) else None
        if (trace := self.tracers[name]) is not None:
            place = name, code.co_firstlineno
            self.calls[place] += 1
            if self.calls[place] > CALLS:
                return None
        return trace

    def tracer(self, name: str) -> Trace:
        """Trace the lines of a file."""
        lines = self.seen.setdefault(name, set())
        relative = os.path.relpath(name, self.package)

        def trace(frame: FrameType, event: str, argument: Any) -> Trace:
            if frame.f_lineno not in lines:
                lines.add(frame.f_lineno)
                self.write(f"{relative} {frame.f_lineno}\n")
            return trace

        return trace

    def write(self, text: str) -> None:
        """Write a line, after the name of its test if that is another."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        if test != self.test:
            self.test, text = test, f"= {test}\n{text}"
        with contextlib.suppress(OSError):  # a test's full disk or closed file
            os.write(self.file, text.encode())


recorders: list[Recorder] = []


def start(package: Path) -> None:
    """Record in the folder that the environment names, if it names one."""
    if folder := os.environ.get(FOLDER):
        recorders.append(Recorder(folder, f"{package}{os.sep}"))
        sys.settrace(recorders[0])
        threading.settrace(recorders[0])
