"""Measure the saved weights of a cell again, where only the code of its evaluation changed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.core.dataset import Dataset
from xcbench.core.models.model import Model
from xcbench.errors import UserError
from xcbench.plan.code import Change, Code, change
from xcbench.plan.job import Job
from xcbench.store import cells
from xcbench.store.cell import Cell
from xcbench.train.evaluator import Evaluator

LINEAR = {"W", "b"}
UNCORRECTED = "_uncorrected"  # columns of a model whose correction is fitted, and not saved


def due(job: Job) -> tuple[Cell, Change] | None:
    """The stored cell of a job whose weights can be measured again, and what changed of its code.

    None where nothing changed, where training changed, or where the weights were not kept.
    """
    settings = job.settings
    runs_dir = Path(settings.runs_dir)
    best = settings.budget.patience  # whose weights are not those of the last checkpoint
    if settings.force or best or not cells.has_weights(runs_dir, job.cell.cell):
        return None
    cell = cells.usable(runs_dir, job.cell.cell)
    if cell is None or cell.status != "done":
        return None
    changed = change(Code.of(cell.code))
    corrected = any(str(name).endswith(UNCORRECTED) for name in cell.curve)
    return None if not changed or changed.trains or corrected else (cell, changed)


def evaluated(job: Job, cell: Cell, changed: Change, model: Model, dataset: Dataset) -> Cell | None:
    """The cell with the changed columns measured anew at its last checkpoint.

    Earlier checkpoints, whose weights are gone, lose these columns. None where the weights are not
    those of a linear model, or are damaged.

    Parameters
    ----------
    model : untrained model of the job.
    """
    try:
        weights = cells.saved_arrays(Path(job.settings.runs_dir), cell)
    except UserError:
        return None
    if not weights.keys() <= LINEAR:
        return None
    model.restore(weights)
    started = time.perf_counter()
    evaluator = Evaluator(dataset, job.settings.evaluation, job.settings.seed)
    last = int(cell.curve["iteration"].iloc[-1])
    with np.errstate(all="ignore"):
        (columns,) = evaluator.measured([model], last)
    seconds = time.perf_counter() - started
    return replace(
        cell,
        curve=_renewed(cell.curve, columns, changed),
        weights=weights,
        inputs=_inputs(job, cell),
        seconds={**cell.seconds, "evaluate": cell.seconds.get("evaluate", 0.0) + seconds},
    )


def _renewed(curve: pd.DataFrame, columns: dict[str, float], changed: Change) -> pd.DataFrame:
    curve = curve.copy()
    for name in changed.parts:
        values = np.full(len(curve), np.nan)
        values[-1] = columns.get(name, np.nan)
        curve[name] = values
    return curve


def _inputs(job: Job, cell: Cell) -> dict[str, np.ndarray]:
    """The saved transformation of new rows, if there is one."""
    try:
        return cells.saved_arrays(Path(job.settings.runs_dir), cell, cells.INPUTS)
    except UserError:
        return {}
