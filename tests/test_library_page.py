"""What docs/library.md shows is what it gives."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from workspace import ROOT


def test_numbers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert done.attempted > 20 and done.failed == 0
