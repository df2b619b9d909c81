"""Two processes write the same bytes from the same tables."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workspace import ROOT, SMALL, Workspace

TABLES = ("tuning*", "runs*", "priors", "margins", "toy-weights", "checks")  # that launches write
LAUNCHES = ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "2"})
SECONDS = 1800.0  # of both processes, on a machine that does other work


def slow(*words: str) -> object:
    return pytest.param(words, marks=pytest.mark.slow)


def measured(reports: Path, names: tuple[str, ...]) -> None:
    """Copy the tables that launches wrote, and nothing that is made of them."""
    for name in names:
        (reports / name).mkdir(parents=True)
        for table in TABLES:
            for path in (ROOT / "reports" / name).rglob(f"{table}.csv"):  # the board's by task
                to = reports / path.relative_to(ROOT / "reports")
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to)


def written(workspace: Workspace, *words: str) -> list[dict[str, bytes]]:
    """Files below ``reports-1`` and ``reports-2`` after two processes of one command."""
    folders = [workspace.path / f"reports-{number}" for number in (1, 2)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "xcbench", *words, f"reports_dir={folder}"],
            cwd=workspace.path,
            env=workspace.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for folder, variables in zip(folders, LAUNCHES, strict=True)
    ]
    for process in processes:
        out, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, out
    return [
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        }
        for folder in folders
    ]


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


@pytest.mark.parametrize(
    "words",
    [
        ("paper", "ove", "part=report"),
        slow("paper", "ar", "part=report"),
        slow("paper", "adv", "part=report"),
        slow("paper", "memoir", "part=report"),
        slow("paper", "umax", "part=report"),
        slow("board", "part=report"),
    ],
    ids=lambda words: words[-2],
)
def test_a_report_of_committed_tables(workspace: Workspace, words: tuple[str, ...]) -> None:
    folder = words[-2]
    for number in (1, 2):
        measured(workspace.path / f"reports-{number}", (folder,))
    first, second = written(workspace, *words)
    assert f"{folder}/index.html" in first and f"{folder}/tables.md" in first
    assert any(name.startswith(f"{folder}/figures/") for name in first)
    assert differing(first, second) == []


def test_the_first_page(workspace: Workspace) -> None:
    for number in (1, 2):
        for name in ("umax", "ove", "ar", "adv", "memoir"):
            to = workspace.path / f"reports-{number}" / name
            to.mkdir(parents=True)
            for file in ("replication.csv", "claims.csv", "summary.json", "index.html"):
                shutil.copy(ROOT / "reports" / name / file, to)
            for path in (ROOT / "reports" / name).glob("runs*"):  # whose hours are counted
                shutil.copy(path, to)
    first, second = written(workspace, "replication")
    assert {"index.html", "README.md", "scoreboard.svg", "replication.csv"} < set(first)
    assert differing(first, second) == []


def test_the_report_of_a_grid(workspace: Workspace) -> None:
    words = ("dataset=digits", "method=ove,umax,nce", "method.lr=0.01,0.1")
    launched = workspace.run("-m", *words, "engine=numpy", *SMALL, "grid=two")
    assert launched.code == 0, launched.text
    first, second = written(workspace, "report", "grid=two", "--self-contained")
    assert {f"two/{name}" for name in ("index.html", "results.csv", "self-contained.html")} < set(
        first
    )
    assert differing(first, second) == []
