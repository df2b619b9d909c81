"""Launching the product as its users do: commands in a folder of their own."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest

# Nothing of the package is imported here: a command's process imports this file.
ROOT = Path(__file__).resolve().parents[1]
SMALL = ("mlflow=false", "budget.epochs=1", "budget.checkpoints=1")
ZIPF = (
    "dataset=zipf",
    *(
        f"dataset.synthetic.{name}"
        for name in ("train=300", "test=100", "classes=20", "features=50", "nonzeros=5")
    ),
)
FINAL_METRICS = ["train_log_loss", "train_error", "test_log_loss", "test_error"]
SECONDS = 900.0  # after which a command hangs; a busy machine takes its time
PRELOADED = os.pathsep.join(str(ROOT / part) for part in ("src", "tests"))
Limits = tuple[tuple[int, int], ...]  # of resources, for a command

# A process whose imports are done, to fork the commands from: a launch then takes a fraction of a
# second instead of two. One in an interpreter of its own is `Workspace.run_fresh`.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["preload"])
# To start a process is to ask how every other one ended; an exit code can be read only once, and
# two threads that read at the same time got 255.
FORKING = threading.Lock()


def _as_at_a_terminal() -> None:
    """Signals that whoever runs the tests ignores, as nohup does, end a launch all the same."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return f"exit code {self.code}\n{self.out}\n{self.err}"

    def succeeded(self) -> Outcome:
        assert self.code == 0, self.text
        return self

    def refused(self, *mentions: str) -> Outcome:
        """One sentence for people, with these patterns in it, and nothing of the inside."""
        assert self.code == 2 and "Traceback" not in self.text, self.text
        assert re.fullmatch("error: .+\n", self.err) and self.err[:-1].isprintable(), self.text
        assert all(re.search(mention, self.err) for mention in mentions), self.text
        return self


@dataclass(frozen=True)
class Launch:
    """A command under way; its output goes to files."""

    process: BaseProcess
    folder: TemporaryDirectory[str]

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *_: object) -> None:
        if self.poll() is None:
            self.kill()
        self.communicate()
        self.folder.cleanup()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        with FORKING:
            return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = SECONDS) -> tuple[str, str]:
        """Wait for its end; gives what it printed."""
        if not wait([self.process.sentinel], timeout):
            self.kill()
            raise TimeoutError(self.process.name)
        self.poll()
        return self.printed("out"), self.printed("err")

    def printed(self, stream: str) -> str:
        """Everything so far on ``out`` or ``err``."""
        path = Path(self.folder.name) / stream
        return path.read_text("utf-8") if path.exists() else ""


@dataclass(frozen=True)
class Workspace:
    """A folder in which commands run, with nothing of the user's environment."""

    path: Path
    packages: tuple[Path, ...] = ()  # folders of installed packages besides the environment's

    def environment(self, **more: str) -> dict[str, str]:
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XCBENCH", "HYDRA", "PYTHON", "MLFLOW", "COV_"))
        }
        quiet = {
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
            "XCBENCH_FETCH": "0",
            "NO_PROXY": "127.0.0.1",
        }
        places = (*self.packages, ROOT / "src")  # not another checkout that is installed
        return {**own, **quiet, "PYTHONPATH": os.pathsep.join(map(str, places)), **more}

    def run(self, *words: str, limits: Limits = ()) -> Outcome:
        """``python run.py``, with limits of resources such as memory."""
        return self._forked(str(ROOT / "run.py"), words, limits)

    def xcbench(self, *words: str, limits: Limits = ()) -> Outcome:
        return self._forked("xcbench", words, limits)

    def module(self, name: str, *words: str) -> Outcome:
        """``python -m NAME``."""
        return self._forked(name, words, ())

    def script(self, path: str, *words: str, **environment: str) -> Outcome:
        """``python PATH``."""
        return self._forked(path, words, (), **environment)

    def start(self, *words: str) -> Launch:
        """A launch that can be interrupted; signals reach it as they do at a terminal."""
        return self.launch(str(ROOT / "run.py"), words)

    def launch(
        self, program: str, words: tuple[str, ...], limits: Limits = (), **environment: str
    ) -> Launch:
        """A script or module with words, in a process that was forked."""
        scratch = TemporaryDirectory()
        settings = (str(self.path), self.environment(**environment), scratch.name, limits)
        process = FORKS.Process(
            target=_program, args=(program, words, *settings), name=" ".join(map(str, words))
        )
        with FORKING, pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", PRELOADED)  # of the server, which starts here
            process.start()
        return Launch(process, scratch)

    def _forked(
        self, program: str, words: tuple[str, ...], limits: Limits, **environment: str
    ) -> Outcome:
        with self.launch(program, words, limits, **environment) as launch:
            out, err = launch.communicate()
            assert launch.returncode is not None
            return Outcome(launch.returncode, out, err)

    def run_fresh(self, *words: str, **environment: str) -> Outcome:
        """``python run.py`` in an interpreter of its own."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "run.py"), *words],
            cwd=self.path,
            env=self.environment(**environment),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def start_fresh(self, *words: str) -> subprocess.Popen[str]:
        """A launch in an interpreter of its own, with pipes that can be closed."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), *words],
            cwd=self.path,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def frame(self, *words: str) -> pd.DataFrame:
        """What ``xcbench results`` prints."""
        shown = self.xcbench("results", *words).succeeded()
        return pd.read_csv(io.StringIO(shown.out))

    def cells(self, runs: str = "runs") -> dict[str, tuple[int, int]]:
        """Finished cells by identity, with what changes when one is written again."""
        stats = {}
        for path in (self.path / runs / "cells").glob("[!.]*/cell.json"):
            stat = path.stat()
            stats[path.parent.name] = (stat.st_ino, stat.st_mtime_ns)
        return stats


def _program(
    program: str,
    words: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    output: str,
    limits: Limits,
) -> None:
    """A script or module as the main program of a process that was just forked."""
    gc.freeze()  # no collection looks at the big imports again
    _as_at_a_terminal()
    for name, descriptor in (("out", 1), ("err", 2)):
        path = Path(output) / name
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program, *words]
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    for name, most in limits:
        resource.setrlimit(name, (most, most))
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


NewWorkspace = Callable[[str], Workspace]
