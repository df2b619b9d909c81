"""The type checker finds a wrong name in the description of a paper, with file and line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from workspace import ROOT

HEAD = """\
from xcbench.papers import columns as c
from xcbench.papers.description import Part, Table, Verdicts
from xcbench.papers.findings import Findings
from xcbench.papers.measures import Measure
from xcbench.papers.pivots import Cell, Labels, Pivot
from xcbench.papers.prose import Statement, above
from xcbench.papers.umax import experiments, figures, tables
"""
GOOD = """\
Statement("4", "A", left=experiments.FIGURE2(method="umax"), of=c.TEST_ERROR, holds=above(0))
Measure("Table 1", rows={"paper": experiments.FIGURE2}, columns={"classes": tables.file_size})
Part("Title", tables=[Table("Rates", tables.rates), Verdicts("Table 1", "Sizes")])
Pivot(by={"method": Labels(c.METHOD)}, columns={"loss": Cell(1 - c.TEST_ERROR, ".2f")})
"""
WRONG = {
    'Statement("4", "A", left=experiments.FIGURE2(method="umax"), of=c.TEST_EROR)': "TEST_EROR",
    'Statement("4", "A", left=experiments.FIGURE2, of=c.TEST_ERROR)': "Grid",
    'Statement("4", "A", left=experiments.FIGURE22(method="umax"))': "FIGURE22",
    'Statement("4", "A", left=experiments.FIGURE2(methods="umax"))': "methods",
    'Statement("4", "A", left=experiments.FIGURE2(where={"lr": 1}))': "Column",
    'Statement("4", "A", function=tables.ratess)': "ratess",
    'Statement("4", "A", holds=0)': "Bounds",
    'Statement("4", "A", hold=above(0))': "hold",
    'Measure("Table 1", columns={"classes": tables.file_sizes})': "file_sizes",
    'Measure("Table 1", columns={"classes": "classes"})': "dict",
    'Measure("Table 1", rows={"paper": "figure2"})': "dict",
    'Part("Title", tables=[Table("Rates", tables.rate)])': "rate",
    'Part("Title", pivto=1)': "pivto",
    'Pivot(by={}, column={})': "column",
    'Pivot(columns={})': "by",
    'Pivot(by={}, columns={"loss": Cell(where={c.LR: 1})})': "of",
    'Pivot(by={}, columns={"loss": "losses.mean()"})': "dict",
    'def findings(say: Findings) -> str:\n    return say.means(1)': "means",
}  # fmt: skip


@pytest.mark.slow
def test_wrong_names_are_found_with_their_lines(tmp_path: Path) -> None:
    file, expected, text = tmp_path / "described.py", {}, HEAD + GOOD
    for wrong, name in WRONG.items():
        text += f"{wrong}\n"
        expected[text.count("\n")] = name
    file.write_text(text)
    settings = ("--config-file", str(ROOT / "pyproject.toml"), "--no-pretty")
    command = [sys.executable, "-m", "mypy", *settings, f"--cache-dir={tmp_path}/cache", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    errors: dict[int, str] = {}
    for line, message in re.findall(r"described\.py:(\d+): error: (.*)", done.stdout):
        errors[int(line)] = errors.get(int(line), "") + message
    assert errors.keys() == expected.keys(), done.stdout
    for line, name in expected.items():
        assert f"{name}" in errors[line]
