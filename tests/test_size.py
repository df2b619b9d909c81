"""The budget of size: every room is within its number, and a larger one is refused."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import size
from workspace import ROOT


def test_every_room_is_within_its_budget() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "size.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "papers" in done.stdout


def test_docstrings_are_free_and_statements_count() -> None:
    text = (
        '"""A module."""\n\ndef f(x):\n    """Doc."""\n    if x:\n        return 1\n    return 2\n'
    )
    assert size.statements(text) == 4


def test_growth_is_named() -> None:
    (sentence,) = size.beyond(Counter(core=11, cli=3), {"core": 10, "cli": 3})
    assert sentence == "core has 11 statements, its budget in pyproject.toml is 10"
    assert size.beyond(Counter(new=1), {})


def test_no_budget_is_idle() -> None:
    """A room far below its number has lost code; the number follows."""
    counts = size.sizes()
    assert {room for room, most in size.budget().items() if counts[room] < 0.85 * most} == set()
