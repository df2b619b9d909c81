"""Which tests run a line: recorded once, and again for the test files that changed.

The record of a test file stays when the code changes: its lines move along with the text. Lines of
fixtures count for all tests of a file, since fixtures of modules run in the first of them.
"""

from __future__ import annotations

import ast
import difflib
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from mutants import lines
from mutants.changes import Change
from mutants.copies import OPTIONS, ROOT, environment

PACKAGE = ROOT / "src" / "xcbench"
Lines = dict[str, set[int]]  # by file
MOST_OF_A_TEST = 8  # cases of a parametrised test


class Covering:
    """Lines and seconds of tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, Lines] = {}
        self.hashes: dict[str, str] = {}  # of test files
        self.sources: dict[str, str] = {}
        if path.exists():
            self._read(json.loads(gzip.decompress(path.read_bytes())))
        self.users: dict[str, list[str]] = {}

    def _read(self, content: dict[str, Any]) -> None:
        self.seconds, self.hashes = content["seconds"], content["hashes"]
        self.sources = sources()
        moves = {
            file: moved(before, self.sources[file])
            for file, before in content["sources"].items()
            if file in self.sources
        }
        for test, files in content["lines"].items():
            self.lines[test] = {
                file: {moves[file][n] for n in numbers if n in moves[file]}
                for file, numbers in files.items()
                if file in moves
            }

    def save(self) -> None:
        """Write the record."""
        stored = {
            test: {file: sorted(numbers) for file, numbers in files.items()}
            for test, files in self.lines.items()
        }
        content = {"seconds": self.seconds, "hashes": self.hashes, "sources": self.sources}
        text = json.dumps({**content, "lines": stored})
        self.path.write_bytes(gzip.compress(text.encode(), 1))

    def update(self, place: Path, jobs: int) -> None:
        """Run the test files that are new or changed, some at a time."""
        now = hashes()
        self.forget({it for it in self.seconds if now.get(_file(it)) != self.hashes.get(_file(it))})
        stale = [file for file in now if now[file] != self.hashes.get(file)]
        for first in range(0, len(stale), 20):
            files = stale[first : first + 20]
            print(f"lines of {len(stale) - first} test files are to be recorded", flush=True)
            folder = place / f".lines-{first}"
            record(place, folder, files, jobs)
            self.add(folder)
            self.hashes |= {file: now[file] for file in files}
            self.sources = sources()
            self.save()

    def forget(self, tests: set[str]) -> None:
        """Leave tests out."""
        for test in tests & self.seconds.keys():
            del self.seconds[test], self.lines[test]

    def add(self, folder: Path) -> None:
        """Take up what a run has written."""
        passed: dict[str, bool] = {}
        seconds: dict[str, float] = defaultdict(float)
        for line in (folder / "outcomes.jsonl").read_text("utf-8").splitlines():
            test, spent, outcome = json.loads(line)
            seconds[test] += spent
            passed[test] = passed.get(test, True) and outcome == "passed"
        ran, of_fixtures = read_lines(folder)
        for test, good in passed.items():
            if good:
                self.seconds[test] = seconds[test]
                self.lines[test] = ran[test]
                for file, numbers in of_fixtures[_file(test)].items():
                    self.lines[test].setdefault(file, set()).update(numbers)

    def tests(self, change: Change, seconds: float) -> list[str]:
        """Tests that run a change, fastest first: so many seconds of those that run least else."""
        ran = self._running(change.file, change.lines) or self._through_users(change)
        size = {test: sum(map(len, self.lines[test].values())) for test in ran}
        share = {
            test: len(self.lines[test].get(change.file, ())) / (50 + size[test]) for test in ran
        }
        chosen: list[str] = []
        cases: dict[str, int] = defaultdict(int)
        for test in sorted(ran, key=lambda test: (-share[test], test)):
            cases[test.partition("[")[0]] += 1
            if cases[test.partition("[")[0]] <= MOST_OF_A_TEST and self.seconds[test] <= seconds:
                chosen.append(test)
                seconds -= self.seconds[test]
        return sorted(chosen, key=lambda test: self.seconds[test]) or ran[:1]

    def _running(self, file: str, numbers: range) -> list[str]:
        return [
            test
            for test, files in self.lines.items()
            if any(n in files.get(file, ()) for n in numbers)
        ]

    def _through_users(self, change: Change) -> list[str]:
        """Tests that run a line with the name of the function: compiled code has no lines."""
        tests: set[str] = set()
        names, open_ = set[str](), [_function(self.sources[change.file], change.number)]
        while open_ and not tests:
            name = open_.pop(0)
            names.add(name)
            for file, text in self.sources.items():
                for number, line in enumerate(text.splitlines(), 1):
                    if name and re.search(rf"\b{name}\b", line) and f"def {name}" not in line:
                        tests.update(self._running(file, range(number, number + 1)))
                        user = _function(text, number)
                        open_ += [user] if user not in {*names, *open_} else []
        return sorted(tests)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _function(source: str, number: int) -> str:
    """Name of the outermost function around a line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= number <= (node.end_lineno or 0):
            return node.name
    return ""


def moved(before: str, after: str) -> dict[int, int]:
    """New numbers of the lines of a text; a changed block becomes its first lines."""
    a, b = before.splitlines(), after.splitlines()
    numbers = {}
    for _, i, i_end, j, j_end in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
        for n in range(i, i_end):
            if j < j_end:
                numbers[n + 1] = min(j + n - i, j_end - 1) + 1
    return numbers


def sources() -> dict[str, str]:
    """Text of every file of the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in files}


def hashes() -> dict[str, str]:
    """What identifies the content of every test file."""
    files = sorted((ROOT / "tests").glob("test_*.py"))
    return {f"tests/{it.name}": hashlib.sha256(it.read_bytes()).hexdigest() for it in files}


def record(place: Path, folder: Path, files: list[str], jobs: int) -> None:
    """Run test files and record their lines in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = ("--numprocesses", str(jobs), "--dist", "loadfile", "--no-loadscope-reorder", *files)
    environ = environment(place, **{lines.FOLDER: str(folder)})
    command = [sys.executable, "-m", "pytest", *OPTIONS, *words]
    subprocess.run(command, cwd=place, env=environ, stdout=subprocess.DEVNULL)


def read_lines(folder: Path) -> tuple[dict[str, Lines], dict[str, Lines]]:
    """Lines of tests, and of the fixtures of files."""
    ran: dict[str, Lines] = defaultdict(lambda: defaultdict(set))
    of_fixtures: dict[str, Lines] = defaultdict(lambda: defaultdict(set))
    for path in folder.glob("*.lines"):
        here: Lines = defaultdict(set)
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("= "):
                test, _, phase = line[2:].rpartition(" (")
                here = of_fixtures[_file(test)] if phase == "setup)" else ran[test]
            else:
                file, _, number = line.rpartition(" ")
                here[file].add(int(number))
    ran.pop("", None)
    return ran, of_fixtures
