"""Where the wall time of a sweep goes: three methods, six rates, some seeds, the whole command.

``python -m benchmarks.grids [dataset=mnist,bibtex,eurlex] [seeds=0,1,2] [rounds=3] [before=REV]``
writes ``reports/grids.csv`` and a table of ``docs/development.md``. With ``before``, the code of
that revision runs the same sweeps, in turn with today's. Nothing else should run meanwhile.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pandas as pd

from benchmarks.commands import seconds
from benchmarks.comparison import write_between

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "reports" / "grids.csv"
PAGE = ROOT / "docs" / "development.md"
SWEEP = ("-m", "method=ove,umax,implicit", "method.lr=0.001,0.003,0.01,0.03,0.1,0.3")
WARM = ("seed=0", "budget.epochs=0.01", "budget.checkpoints=1")
PHASES = ["import", "compose", "plan", "load", "compile", "train", "evaluate", "save", "track"]


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """The files of a revision, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def swept(tree: Path, folder: Path, *words: str) -> float:
    """Wall seconds of the sweep by the code in ``tree``; of its runs only prepared data stay."""
    runs = folder / "runs"
    environment = {
        "PYTHONPATH": str(tree / "src"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "XCBENCH_FETCH": "0",
    }
    for entry in runs.iterdir() if runs.exists() else ():
        if entry.name != "cache":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    words = (*SWEEP, *words, f"runs_dir={runs}")
    return seconds(str(tree / "run.py"), *words, folder=folder, environment=environment)


def phases(folder: Path) -> Mapping[str, float]:
    """Seconds of every phase of the launch in a folder; none of code that did not record them."""
    command = ["launches", f"runs_dir={folder / 'runs'}", "--format", "csv"]
    done = subprocess.run(
        [sys.executable, "-m", "xcbench", *command], capture_output=True, text=True, check=True
    )
    frame = pd.read_csv(io.StringIO(done.stdout)) if done.stdout.strip() else pd.DataFrame()
    return {name: float(frame[name].iloc[-1]) for name in PHASES if name in frame and len(frame)}


def measured(
    dataset: str, seeds: str, rounds: int, trees: Mapping[str, Path]
) -> Iterator[dict[str, object]]:
    """Rows of a dataset: each tree in turn, round after round, compiled code and data ready."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = {code: Path(scratch) / code for code in trees}
        for code, tree in trees.items():
            folders[code].mkdir()
            swept(tree, folders[code], f"dataset={dataset}", *WARM)
        for number in range(1, rounds + 1):
            for code, tree in trees.items():
                wall = swept(tree, folders[code], f"dataset={dataset}", f"seed={seeds}")
                row = {"dataset": dataset, "seeds": seeds, "code": code, "round": number}
                yield {**row, "wall": wall, **phases(folders[code])}


def table(rows: pd.DataFrame) -> str:
    """Medians by dataset and code; ``times``: how much longer the earlier code took."""
    lines = []
    for (dataset, seeds), group in rows.groupby(["dataset", "seeds"], sort=False):
        medians = group.groupby("code", sort=False)[["wall", *PHASES]].median()
        cells = 18 * len(str(seeds).split(","))
        for code, line in medians.iterrows():
            numbers = {name: f"{line[name]:.1f}" for name in ("wall", *PHASES)}
            times = f"{line['wall'] / medians['wall']['today']:.1f}" if code != "today" else ""
            lines.append(
                {"dataset": dataset, "cells": cells, "code": code, **numbers, "times": times}
            )
    frame = pd.DataFrame(lines).replace("nan", "")
    return f"{frame.to_markdown(index=False, disable_numparse=True)}\n"


def main(words: list[str]) -> None:
    """Measure the datasets that were asked for; rows of others stay."""
    settings = {"dataset": "mnist,bibtex,eurlex", "seeds": "0,1,2", "rounds": "3", "before": ""}
    settings |= dict(word.split("=", 1) for word in words)
    rows = pd.read_csv(TABLE, dtype={"seeds": str}) if TABLE.exists() else pd.DataFrame()
    revision = settings["before"]
    with tree_of(revision) if revision else nullcontext() as earlier:
        trees = {revision: earlier, "today": ROOT} if earlier else {"today": ROOT}
        for dataset in settings["dataset"].split(","):
            kept = rows[rows["dataset"] != dataset] if len(rows) else rows
            new: list[dict[str, object]] = []
            for row in measured(dataset, settings["seeds"], int(settings["rounds"]), trees):
                new.append(row)
                print(row, flush=True)
                rows = pd.concat([kept, pd.DataFrame(new)], ignore_index=True)
                rows.to_csv(TABLE, index=False, float_format="%.4g")
    write_between(PAGE, "grids", table(rows))
    print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
