"""Tables of the papers, before anything was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from declared_tables import tables
from xcbench.papers import NAMES, description, run


@pytest.mark.parametrize("paper", NAMES)
def test_tables_of_nothing(paper: str, tmp_path: Path) -> None:
    measured, rows = run.measured(tmp_path), description.of(paper).rows
    if rows:
        measured = replace(measured, results=rows(measured))
    frames = [(table, table.frame(measured)) for table in tables(paper)]
    assert frames
    for table, frame in frames:
        assert frame.empty or {*(table.words or ())} <= {*frame}
