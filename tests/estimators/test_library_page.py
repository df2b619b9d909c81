"""What docs/library.md shows is what it gives."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from workspace import ROOT


def test_numbers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert done.attempted > 20 and done.failed == 0


@pytest.mark.parametrize("module", ["equal_loss", "multi_label", "adapters"])
def test_tables_are_those_of_their_files(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    kept = import_module(f"benchmarks.{module}").COMPARISON.kept
    assert kept.written in kept.page.read_text("utf-8")
