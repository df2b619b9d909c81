"""The changes of `make mutants`: what they touch, what they leave, and who is asked about them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mutants.changes import Change, changes
from mutants.covering import Covering, moved
from workspace import ROOT


def of(line: str) -> set[str]:
    """What the expression of a line may become."""
    source = f"def f(a, b):\n    {line}\n"
    return {
        it.apply(source.encode()).decode().splitlines()[1].strip()
        for it in changes("x", source.encode())
    }


@pytest.mark.parametrize(
    "line, expected",
    [
        ("a = b < 2", {"a = (b <= 2)", "a = (not b < 2)", "a = b < 3"}),
        ("a = b is None", {"a = (b is not None)"}),
        ("a = b * 0.5 - a", {"a = (b * 0.5 + a)", "a = (b / 0.5) - a", "a = b * 1.0 - a"}),
        ("a = not b", {"a = (b)"}),
        ("a = -b", {"a = (b)"}),
        ("a = True", {"a = False"}),
        ("a = min(a, b)", {"a = max(a, b)"}),
        ("a = b.argmax()", {"a = b.argmin()"}),
        ("return a", {"return None"}),
        ("return a and b", {"return None", "return (a or b)"}),
        ("a = a if b else 0", {"a = a if not b else 0", "a = a if b else 1"}),
        ("while a: b", {"while not a: b"}),
        ("a = 1 < b < a", {"a = (1 <= b < a)", "a = 2 < b < a"}),
    ],
)
def test_a_line_may_become(line: str, expected: set[str]) -> None:
    assert of(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        '"""Add 1 and 2: not a sum."""',
        "raise ValueError(a + 1)",
        "assert a is not None",
        "a: int | None",
        'a = f"{b + 1}"',
        'a = "b" + b',
        "return None",
        "zip(a, b, strict=True)",
        "a = isinstance(a, b)",
        "from a import b",
    ],
)
def test_a_line_stays(line: str) -> None:
    assert of(line) == set()


def test_what_types_and_decorators_say_stays() -> None:
    source = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    a = 1

Numbers = list[int] | None

@dataclass(frozen=True)
class A:
    b: Literal[1] = 2
"""
    assert [it.label for it in changes("x", source.encode())] == ["2 → 3"]


def test_each_change_of_a_file_compiles_and_is_one_line_of_it() -> None:
    from xcbench.core import metrics

    source = Path(metrics.__file__).read_bytes()
    listed = changes("core/metrics.py", source)
    assert len(listed) > 100 and len({it.key for it in listed}) == len(listed)
    for change in listed:
        assert ast.dump(ast.parse(change.apply(source))) != ast.dump(ast.parse(source))


def test_a_draw_changes_only_where_the_code_does() -> None:
    before, after = b"a = 1\nb = 2\na = 1\n", b"c = 3\na = 1\nb = 2\na = 1\n"
    orders = [{it.order(0) for it in changes("x", text)} for text in (before, after)]
    assert len(orders[0]) == 3 and orders[0] < orders[1] and len(orders[1]) == 4


def test_lines_move_with_their_text() -> None:
    assert moved("a\nb\nc\n", "new\na\nB\nc\n") == {1: 2, 2: 3, 3: 4}
    assert moved("a\nb\n", "a\n") == {1: 1}


@pytest.fixture
def covering(tmp_path: Path) -> Covering:
    known = Covering(tmp_path / "none")
    known.sources = {
        "kernels.py": "@kernel\ndef fast(x):\n    return x + 1\n",
        "model.py": "import kernels\n\ndef use(x):\n    return kernels.fast(x)\n",
    }
    known.lines = {
        "tests/test_a.py::slow": {"model.py": {3, 4}},
        "tests/test_b.py::quick": {"model.py": {4}},
        "tests/test_c.py::other": {"model.py": {3}},
        "tests/test_d.py::endless": {"model.py": {4}},
    }
    known.seconds = dict(zip(known.lines, (2.0, 1.0, 1.0, 90.0), strict=True))
    return known


def only(covering: Covering, file: str) -> Change:
    (change,) = [it for it in changes(file, covering.sources[file].encode()) if it.after == "None"]
    return change


def test_the_quickest_test_of_a_line_comes_first(covering: Covering) -> None:
    chosen = covering.tests(only(covering, "model.py"), 60)
    assert chosen == ["tests/test_b.py::quick", "tests/test_a.py::slow"]
    assert covering.tests(only(covering, "model.py"), 1) == ["tests/test_b.py::quick"]


def test_compiled_code_is_covered_by_tests_of_its_callers(covering: Covering) -> None:
    assert covering.tests(only(covering, "kernels.py"), 60)[0] == "tests/test_b.py::quick"


TREE = """def larger(a, b):
    return a if a > b else b


def first(a):
    return a[0] + 0
"""
TESTS = """from xcbench import pair


def test_larger():
    assert pair.larger(1, 2) == 2


def test_first():
    pair.first([1])
"""
PROGRAM = """import sys
from pathlib import Path

from mutants.changes import changes
from mutants.trial import failing, trials

place = Path(sys.argv[1])
source = (place / "src/xcbench/pair.py").read_bytes()
tests = {f"tests/test_pair.py::test_{name}": 0.1 for name in ("larger", "first")}
some = {it: tests if it.after != "(a[0] - 0)" else {} for it in changes("pair.py", source)}
for change, verdict in trials(some, [place]):
    print(f"{change.label}: {verdict.word} {verdict.by}")
assert (place / "src/xcbench/pair.py").read_bytes() == source
print(failing(place, {**tests, "tests/test_pair.py::test_wrong": 0.1}))
"""


def test_changes_are_tried_on_a_copy(tmp_path: Path) -> None:
    package = tmp_path / "copy" / "src" / "xcbench"
    for folder in (package, tmp_path / "copy" / "tests"):
        folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "pair.py").write_text(TREE)
    wrong = "\n\ndef test_wrong():\n    assert pair.first([1]) == 0\n"
    (tmp_path / "copy" / "tests" / "test_pair.py").write_text(TESTS + wrong)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "copy")]
    paths = os.pathsep.join(str(ROOT / name) for name in ("tests", "src"))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert sorted(done.stdout.splitlines()) == sorted(
        [
            "a if a > b else b → None: caught tests/test_pair.py::test_larger",
            "a > b → (a >= b): survived ",
            "a > b → (not a > b): caught tests/test_pair.py::test_larger",
            "a[0] + 0 → (a[0] - 0): survived, no test runs it ",
            "a[0] + 0 → None: survived ",
            "0 → 1: caught tests/test_pair.py::test_first",
            "0 → 1: survived ",
            "{'tests/test_pair.py::test_wrong'}",
        ]
    ), done.stderr
