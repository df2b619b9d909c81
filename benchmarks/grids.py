"""Where the wall time of a sweep goes: three methods, six rates, some seeds, the whole command."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from benchmarks.measure import ROOT, command
from benchmarks.table import Kept
from xcbench.store import profile

SWEEP = (
    *("-m", "method=ove,umax,implicit", "method.lr=0.001,0.003,0.01,0.03,0.1,0.3"),
    "only.ove.sampler=shared",  # as older revisions draw
)
WARM = ("seed=0", "budget.epochs=0.01", "budget.checkpoints=1")
PHASES = ["import", "compose", "plan", "load", "compile", "train", "evaluate", "save", "track"]


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """The files of a revision, in a temporary folder."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def swept(tree: Path, folder: Path, *words: str) -> dict[str, object]:
    """Wall seconds of the sweep by the code in ``tree``, and of its phases where it records them.

    Of its runs only prepared data stay.
    """
    runs = folder / "runs"
    environment = {
        "PYTHONPATH": str(tree / "src"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "XCBENCH_FETCH": "0",
    }
    words = (str(tree / "run.py"), *SWEEP, *words, f"runs_dir={runs}")
    spent = command(*words, folder=folder, environment=environment)
    frame = profile.read(runs)
    for entry in runs.iterdir():
        if entry.name != "cache":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    last = frame.tail(1).to_dict("records") or [{}]
    return {"wall": spent.wall, **{name: last[0].get(name) for name in PHASES}}


def table(rows: pd.DataFrame) -> str:
    """Medians by dataset and code; ``×``: how much longer the first one took."""
    lines = []
    for (dataset, seeds), group in rows.groupby(["dataset", "seeds"], sort=False):
        medians = group.groupby("code", sort=False)[["wall", *PHASES]].median()
        cells = 18 * len(str(seeds).split(","))
        for code, line in medians.iterrows():
            numbers = {name: f"{line[name]:.1f}" for name in ("wall", *PHASES)}
            head = {"dataset": dataset, "cells": cells, "code": code}
            times = (medians.loc[medians.index[0]] / line)[["wall", "train", "evaluate"]]
            ratios = {f"{name} ×": f"{ratio:.1f}" for name, ratio in times.items()}
            lines.append({**head, **numbers, **ratios})
    frame = pd.DataFrame(lines).replace("nan", "")
    return f"{frame.to_markdown(index=False, disable_numparse=True)}\n"


KEPT = Kept(
    ROOT / "reports" / "grids.csv",
    ["dataset"],
    ROOT / "docs" / "development.md",
    "grids",
    table,
    "%.4g",
)


def run(
    dataset: str = "mnist,bibtex,eurlex",
    seeds: str = "0,1,2",
    rounds: str = "3",
    before: str = "",
    curve_rows: str = "",
) -> None:
    """Sweep some datasets, compiled code and data ready; nothing else should run meanwhile.

    Parameters
    ----------
    before : a revision, whose code runs the same sweeps, in turn with today's.
    curve_rows : of a third sweep, whose curves have so many rows.
    """
    with tree_of(before) if before else nullcontext(ROOT) as earlier:
        codes: dict[str, tuple[Path, tuple[str, ...]]] = {before: (earlier, ())} if before else {}
        codes["today"] = ROOT, ()
        if curve_rows:
            option = f"curve_rows={curve_rows}"
            codes[f"today, {option}"] = ROOT, (f"evaluation.{option}",)
        for name in dataset.split(","):
            rows = []
            with TemporaryDirectory() as scratch:
                folders = {code: Path(scratch) / str(place) for place, code in enumerate(codes)}
                for code, (tree, _) in codes.items():
                    folders[code].mkdir()
                    swept(tree, folders[code], f"dataset={name}", *WARM)
                for number in range(1, int(rounds) + 1):
                    for code, (tree, options) in codes.items():
                        words = f"dataset={name}", f"seed={seeds}", *options
                        row = {"dataset": name, "seeds": seeds, "code": code, "round": number}
                        rows.append({**row, **swept(tree, folders[code], *words)})
                    KEPT.add(pd.DataFrame(rows))
