"""The campaign of `make faults`: its disk loses what was not synced, and a few of its trials."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from faults.disk import Disk, State
from faults.shim import Operation

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ("create a", "write a", "rename a b")


def disk(folder: Path, *lines: str) -> Disk:
    """What is left of operations such as ``rename a b``; what is written is ``xy``."""
    made = Disk(folder)
    for line in lines:
        kind, *paths = line.split()
        path, other = [str(folder / name) for name in (*paths, "")[:2]]
        made.apply(Operation(kind, path, other, b"xy" if kind == "write" else b""))
    return made


@pytest.mark.parametrize(
    ("lines", "loss", "left"),
    [
        (WRITTEN, "empty", {"b": b""}),
        (WRITTEN, "torn", {"b": b"x\0"}),
        (WRITTEN, "names", {}),
        (("create a", "write a", "fsync a", "rename a b"), "empty", {"b": b"xy"}),
        (("create a", "write a", "fsync a", "rename a b"), "names", {"a": b"xy"}),
        (("create a", "write a", "fsync a", "rename a b", "fsync ."), "names", {"b": b"xy"}),
        (("create a", "fsync a", "unlink a"), "names", {"a": b""}),
        (("mkdir d", "create d/a", "write d/a", "fsync d/a"), "names", {"d": None, "d/a": b"xy"}),
        (("mkdir d", "create d/a", "fsync d"), "names", {"d": None, "d/a": b""}),
    ],
)
def test_what_a_loss_of_power_leaves(
    tmp_path: Path, lines: tuple[str, ...], loss: str, left: State
) -> None:
    assert disk(tmp_path, *lines).left(loss) == left


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it needs /proc")
def test_a_few_trials(tmp_path: Path) -> None:
    words = ("launches", "trials=1", "seed=1", f"reports_dir={tmp_path}")
    done = subprocess.run(
        [sys.executable, "-m", "faults", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = pd.read_csv(tmp_path / "reliability.csv").set_index("scenario")
    assert list(counts["trials"]) == [1, 1, 1, 1]
    assert not counts[["lost", "silent", "unexplained"]].to_numpy().any()
    assert counts.loc["launch killed at each operation", "identical"] == 1
    assert counts.loc["launch on a full disk", "refused"] == 1
    assert "| launch killed at each operation" in (tmp_path / "reliability.md").read_text()
