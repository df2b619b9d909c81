"""Objective of a sweeper such as Optuna's, which it minimises: the loss that chooses rates."""

from __future__ import annotations

import math
from pathlib import Path

from xcbench.config.settings import Config
from xcbench.core.metrics import of_column
from xcbench.errors import UserError
from xcbench.plan import planning
from xcbench.store import cells, checkpoints
from xcbench.store.cell import FINAL


def of_point(settings: Config) -> float:
    """Objective of a point with a finished cell: a last value.

    It is that of the first column in `checkpoints.CHOOSING`, and infinity if the cell diverged.

    Raises
    ------
    UserError
        If the cell failed or was skipped.
    """
    (job,) = planning.jobs([settings], complete=False)
    cell = cells.usable(Path(settings.runs_dir), job.cell.cell)
    if cell is None or cell.status not in FINAL:
        why = f"{cell.status}: {cell.message}" if cell else "not there"
        raise UserError(f"{job.label} has no objective: it is {why}")
    if cell.status == "diverged":
        return math.inf
    last = cell.curve.iloc[-1]
    return next(
        (
            of_column(name).key(float(last[name]))
            for name in checkpoints.CHOOSING
            if name in last and math.isfinite(last[name])
        ),
        math.inf,
    )
