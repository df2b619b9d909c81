"""What others wrote: the examples of docs/extending.md, as they would be installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

from workspace import ROOT, SMALL, Workspace

PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")
RUN = ("dataset=digits", *SMALL)


def example(word: str) -> str:
    """The block of Python in docs/extending.md that has a word in it."""
    (found,) = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.S) if word in code]
    return found


GCE = example("gce.py")
REPEAT = example("repeat.py")
RINGS = example("rings.py")


def announce(folder: Path, package: str, group: str, line: str) -> None:
    """What an installed package leaves behind: its metadata."""
    where = folder / f"{package}-1.2.dist-info"
    where.mkdir(parents=True)
    (where / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (where / "entry_points.txt").write_text(f"[xcbench.{group}]\n{line}\n")


def install(folder: Path) -> None:
    """The three examples as packages."""
    for module, text, group, line in (
        ("gce", GCE, "methods", "gce = gce:method"),
        ("repeat", REPEAT, "samplers", "repeat = repeat:WithRepetition"),
        ("rings", RINGS, "datasets", "rings = rings:rings"),
    ):
        announce(folder, f"xcbench_{module}", group, line)
        (folder / f"{module}.py").write_text(text)


def content(workspace: Workspace, runs: str = "runs") -> dict[str, dict]:
    """Content of the finished cells, by identity."""
    files = (workspace.path / runs / "cells").glob("[!.]*/cell.json")
    return {file.parent.name: json.loads(file.read_text()) for file in files}
