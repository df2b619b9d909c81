"""The notebook of docs/: its cells run, and give the outputs that stand there."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from workspace import ROOT, Workspace

TOUR = ROOT / "docs" / "tour.ipynb"


def shown(source: str, names: dict[str, Any]) -> Any:
    """Value of a cell's last line, as a notebook shows it; None where that is no expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), TOUR.name, "exec"), names)
    return last and eval(compile(ast.Expression(last.value), TOUR.name, "eval"), names)


def test_outputs_of_the_notebook(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    kinds = []
    for cell in json.loads(TOUR.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            continue
        if source.startswith("!xcbench "):
            assert workspace.xcbench(*source.split()[1:]).code == 0
            continue
        value = shown(source, names)
        (output,) = (each for each in cell["outputs"] if each["output_type"] != "stream")
        stored = output["data"]
        kinds += stored
        if "image/png" in stored:
            assert value._repr_png_().startswith(b"\x89PNG")
        else:
            text = "".join(stored["text/plain"])
            assert repr(value) == text or eval(text) == value
    assert "image/png" in kinds
