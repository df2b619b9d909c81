"""Run the tests of a change on a changed copy, in a process that forks from this one.

Its libraries are imported already: this saves most of the seconds of a trial.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from mutants.changes import Change
from mutants.copies import OPTIONS, environment

CAUGHT, SURVIVED, UNCOVERED = "caught", "survived", "survived, no test runs it"
PATIENCE, FACTOR = 150.0, 5.0  # seconds of a test: some to compile kernels, and times its own
LIBRARIES = (
    "hydra",
    "matplotlib.pyplot",
    "mlflow",
    "numba",
    "pandas",
    "scipy.stats",
    "sklearn.svm",
)
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Verdict:
    """What became of a change, and the first test that failed."""

    word: str
    by: str = ""


def preload() -> None:
    """Import the libraries once, with one thread of BLAS as `conftest` has it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in LIBRARIES:
        importlib.import_module(name)


@dataclass(frozen=True)
class Trial:
    """Tests of a change that are under way in a copy; without a change, of the code as it is."""

    change: Change | None
    place: Path
    source: bytes
    process: BaseProcess
    deadline: float

    @classmethod
    def start(cls, change: Change | None, place: Path, tests: dict[str, float]) -> Trial:
        """Run tests, of which the seconds are known, until one fails; a hang is a failure."""
        limit = PATIENCE + FACTOR * max(tests.values())
        ini = (f"faulthandler_timeout={limit}", "faulthandler_exit_on_timeout=true")
        words = [*OPTIONS, *(f"--override-ini={it}" for it in ini), *tests]
        source = b""
        if change is not None:
            words.append("--exitfirst")
            path = _path(place, change)
            source = path.read_bytes()
            path.write_bytes(change.apply(source))
        process = FORK.Process(target=_pytest, args=(place, words))
        process.start()
        end = time.monotonic() + PATIENCE + limit + FACTOR * sum(tests.values())
        return cls(change, place, source, process, end)

    def over(self) -> bool:
        """Whether it has ended, or should have."""
        return not self.process.is_alive() or time.monotonic() > self.deadline

    def end(self) -> Verdict:
        """Restore the copy; launches may have kept what they compiled of the change."""
        assert self.process.pid is not None
        with contextlib.suppress(ProcessLookupError):  # a hang, or what it launched
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join()
        if self.change is not None:
            path = _path(self.place, self.change)
            path.write_bytes(self.source)
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
                compiled.unlink()
        if self.process.exitcode == 0:
            return Verdict(SURVIVED)
        failed = sorted(self.failed())
        return Verdict(CAUGHT, failed[0] if failed else "a hang or a crash")

    def failed(self) -> set[str]:
        """Tests that failed."""
        text = _output(self.place).read_text("utf-8", "replace")
        return set(re.findall(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", text, re.MULTILINE))


def _path(place: Path, change: Change) -> Path:
    return place / "src" / "xcbench" / change.file


def _output(place: Path) -> Path:
    return place.with_name(f"{place.name}.log")


def _pytest(place: Path, words: list[str]) -> None:
    """Run pytest as its own program would, in a group of processes that can be ended."""
    os.setsid()
    output = os.open(_output(place), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ.update(environment(place))
    os.chdir(place)
    sys.modules["__main__"] = importlib.import_module("pytest.__main__")
    sys.path[:0] = [str(place / "src"), str(place / "tests")]
    code = int(pytest.main(words))
    sys.stdout.flush()
    os._exit(code)


def trials(
    tests: dict[Change, dict[str, float]], places: list[Path]
) -> Iterator[tuple[Change, Verdict]]:
    """Try changes with their tests, one at a time in each copy."""
    waiting, free, running = list(tests), list(places), list[Trial]()
    try:
        while waiting or running:
            while waiting and free:
                change = waiting.pop(0)
                if tests[change]:
                    running.append(Trial.start(change, free.pop(), tests[change]))
                else:
                    yield change, Verdict(UNCOVERED)
            time.sleep(0.1)
            for trial in [trial for trial in running if trial.over()]:
                running.remove(trial)
                free.append(trial.place)
                assert trial.change is not None
                yield trial.change, trial.end()
    finally:  # of an interruption
        for trial in running:
            trial.end()


def failing(place: Path, tests: dict[str, float]) -> set[str]:
    """Those of the tests that fail on the code as it is."""
    if not tests:
        return set()
    trial = Trial.start(None, place, tests)
    while not trial.over():
        time.sleep(0.1)
    trial.end()
    return trial.failed()
