"""Commands of the product in forks of a process that has imported it: half a second each."""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
RUN = str(ROOT / "run.py")
SECONDS = 120.0
FAILED = " failed"  # of a cell's line
COMMON = ("xcbench.run.execute", "xcbench.cli.main", "xcbench.papers.run", "scipy.optimize")
QUIET = {"XCBENCH_FETCH": "0", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}


@dataclass(frozen=True)
class Outcome:
    """How a command ended: exit code, or minus the signal, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def traceback(self) -> bool:
        """Whether it ended in a way that no user understands."""
        return "Traceback (most recent call last)" in self.out + self.err or (
            self.code != 0 and not self.said and self.code != -signal.SIGKILL
        )

    @property
    def said(self) -> bool:
        """Whether it says that something is wrong."""
        told = any(line.startswith(("error: ", "warning: ")) for line in self.err.splitlines())
        return told or FAILED in self.out

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.out}{self.err}"


def preload(*modules: str) -> None:
    """Import once what every command of a scenario needs."""
    os.environ.update(QUIET)
    for name in (*COMMON, *modules):
        importlib.import_module(name)
    importlib.import_module("xcbench.store.environment").of("numba")
    gc.collect()
    gc.freeze()


Before = Callable[[], object]


def command(folder: Path, words: tuple[str, ...], before: Before = lambda: None) -> Outcome:
    """Run a script, or ``xcbench``, with words in a folder; ``before`` is called in its process."""
    return Running(folder, words, before).end()


class Running:
    """A command that runs."""

    def __init__(
        self, folder: Path, words: tuple[str, ...], before: Before = lambda: None, name: str = ""
    ) -> None:
        self.out = folder.with_name(f"{folder.name}{name}.out")
        self.err = folder.with_name(f"{folder.name}{name}.err")
        self.child = os.fork()
        if self.child == 0:
            _program(folder, words, before, self.out, self.err)

    def end(self) -> Outcome:
        """Wait for its end; one that hangs is killed."""
        code = wait(self.child)
        out, err = (path.read_text("utf-8", "replace") for path in (self.out, self.err))
        return Outcome(code, out, err)


def wait(child: int) -> int:
    """Exit code of a child, or minus its signal: SIGALRM if it hung."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.004)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGALRM


def _program(
    folder: Path, words: tuple[str, ...], before: Before, out: Path, err: Path
) -> NoReturn:
    code = 1
    try:
        for path, descriptor in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        os.chdir(folder)
        sys.argv = list(words)
        before()
        code = _exit_code(words[0])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _exit_code(program: str) -> int:
    try:
        if program.endswith(".py"):
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
