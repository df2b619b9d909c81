"""What ``evaluation.curve_rows`` changes in grids of the papers.

Each grid trains twice, with curves from all rows and from a sample. Ends have all rows in both;
before them, two cells of one dataset and seed are in one order by the sample and maybe in another
by all rows.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.measure import ROOT, command
from benchmarks.table import Kept
from xcbench.store import cells
from xcbench.store.cell import Cell, identity

GRIDS = (
    "first",
    "umax/steps_u0",
    "adv/crossed",
    "memoir/constant",
    "scent/losses",
)
LOSSES = ["test_log_loss", "test_error"]


def table(rows: pd.DataFrame) -> str:
    """A line a grid."""
    shown = rows.rename(columns=lambda name: name.replace("_", " "))
    return f"{shown.to_markdown(index=False, floatfmt='.2g')}\n"


KEPT = Kept(
    ROOT / "reports" / "curve-rows.csv",
    ["grid", "rows"],
    ROOT / "docs" / "development.md",
    "curve rows",
    table,
    "%.4g",
)


def twin(cell: Cell) -> str:
    """Identity of the cell that measures all rows."""
    evaluation = {k: it for k, it in cell.content["evaluation"].items() if k != "curve_rows"}
    return identity({**cell.content, "evaluation": evaluation})


def trained(grid: str, rows: int) -> list[Cell]:
    """Cells of a grid with curves of so many rows, all where that is 0."""
    with TemporaryDirectory() as folder:
        words = f"experiment={grid}", f"evaluation.curve_rows={rows}", f"runs_dir={folder}"
        command(str(ROOT / "run.py"), "-m", *words, "mlflow=false")
        return [cell for cell in cells.load_all(Path(folder)) if cell.status == "done"]


def both(cell: Cell, curve_of_all: pd.DataFrame) -> pd.DataFrame:
    """Losses of the checkpoints of a cell: by the sample, its standard error, and by all rows."""
    curve = cell.curve.set_index("iteration")
    loss = next(name for name in LOSSES if name in curve and curve[name].notna().any())
    error = curve.get(f"{loss}_standard_error", pd.Series(np.nan, curve.index))
    of_all = curve_of_all.set_index("iteration")[loss]
    joined = pd.DataFrame({"sample": curve[loss], "error": error, "all": of_all})
    joined = joined.dropna(subset=["sample", "all"])
    return joined.assign(run=f"{cell.dataset} {cell.seed}", last=curve.index[-1])


def pairs(points: pd.DataFrame) -> np.ndarray:
    """Differences of every two cells at a checkpoint: (2, P), by the sample and by all rows."""
    differences = [np.empty((2, 0))]
    for _, group in points.groupby(["run", points.index]):
        losses = group[["sample", "all"]].to_numpy(float).T
        first, second = np.triu_indices(losses.shape[1], 1)
        differences.append(losses[:, first] - losses[:, second])
    return np.hstack(differences)


def compared(grid: str, rows: int) -> pd.DataFrame:
    """A grid with curves of so many rows, beside the same with all."""
    of_all = {cell.cell: cell.curve for cell in trained(grid, 0)}
    sampled = trained(grid, rows)
    points = pd.concat([both(cell, of_all[twin(cell)]) for cell in sampled])
    at_end = points.index == points["last"]
    ends, before = points[at_end], points[~at_end & (points.index > 0)]
    by_sample, by_all = pairs(before)
    other = by_sample * by_all < 0
    decided = np.abs(pairs(ends)[1])
    row = {
        "grid": grid,
        "rows": rows,
        "cells": len(sampled),
        "ends_differ": int((ends["sample"] != ends["all"]).sum()),
        "standard_error": before["error"].median(),
        "least_difference_of_ends": decided[decided > 0].min(initial=np.inf),
        "pairs_of_curves": len(by_all),
        "in_another_order": int(other.sum()),
        "largest_of_these": np.abs(by_all[other]).max(initial=0.0),
    }
    return pd.DataFrame([row])


def run(grids: str = ",".join(GRIDS), rows: str = "2000") -> None:
    """Compare some grids; the table stands in ``docs/development.md``."""
    for grid in grids.split(","):
        KEPT.add(compared(grid, int(rows)))
