"""What docs/library.md shows is what it gives."""

from __future__ import annotations

import doctest
from pathlib import Path

import pandas as pd
import pytest

from workspace import ROOT


def test_numbers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert done.attempted > 20 and done.failed == 0


def test_the_table_of_equal_loss_is_that_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import equal_loss

    made = equal_loss.page(pd.read_csv(equal_loss.TABLE))
    written = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert f"{equal_loss.BEGIN}{made}{equal_loss.END}" in written
