"""Tables of the papers, before anything was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from declared_tables import table
from xcbench.papers import NAMES, run
from xcbench.papers.claims import described, function


@pytest.mark.parametrize("paper", NAMES)
def test_tables_of_nothing(paper: str, tmp_path: Path) -> None:
    measured, spec = run.measured(tmp_path), described(paper)
    if "rows" in spec:
        measured = replace(measured, results=function(paper, spec["rows"])(measured))
    listed = [it for section in spec["sections"] for it in section.get("tables", ())]
    frames = {it["table"]: table(paper, it["table"], measured) for it in listed if "table" in it}
    assert len(frames) > 2
    for entry in listed:
        frame = frames.get(entry.get("table"))
        assert frame is None or frame.empty or {*entry.get("words", ())} <= {*frame}
