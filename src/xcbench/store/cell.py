"""Definition of a cell: one point of a grid and its results."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from xcbench.options import Content

STATUSES = ("done", "diverged", "timeout", "failed", "skipped")
FINAL = ("done", "diverged", "timeout")
ENDED = ("done", "timeout")  # with numbers to compare
OVERTIME = "ended: these cells took more than"  # of a message: without a number at its limit
DIGITS = 12  # of a commit, where it is shown
RECORDED, HISTORY = "recorded", "history"  # where a commit is from: the run, or git log
UNKNOWN, UNRUN = "not recorded", "nothing was measured"  # why a cell has no commit

CURVE_COLUMNS = [
    "iteration",
    "epoch",
    "observations",
    "train_seconds",
    "bound",
    "train_log_loss",
    "train_error",
    "test_log_loss",
    "test_error",
]


@dataclass
class Cell:
    """One point of a grid and its results.

    Attributes
    ----------
    cell : identity, the hash of ``content``.
    dataset, method, seed, engine : shown in tables, with the rate `lr`.
    method_version, dataset_digest : change when the code of the method or the data change.
    config : resolved settings without volatile keys (paths, flags of the launch).
    status : one of `STATUSES`; ``message`` gives the reason unless it is ``done``.
    shape : rows, features, classes and non-zeros per row of the dataset.
    seconds : the clocks: load, compile, train, evaluate; and of train what trials of a rate took.
    launch : settings that are not part of the identity, such as the data folder.
    rate : what trials found for ``method.lr=auto``, and ``trials`` the loss of each rate they took;
        None where it diverged.
    curve : one row a checkpoint: `CURVE_COLUMNS`, then columns of the method.
    content : everything that makes two cells the same experiment.
    weights : final W and b, if they are to be saved; `load` does not read them.
    inputs : transformation of new rows for these weights (`xcbench.data.inputs`).
    code : record of the code that the numbers come from (`xcbench.plan.code`).
    """

    cell: str
    dataset: str
    method: str
    seed: int
    engine: str
    method_version: int
    dataset_digest: str
    config: Content
    status: str = "skipped"
    message: str | None = None
    shape: Content = field(default_factory=dict)
    started: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    environment: Content = field(default_factory=dict)
    traceback: str | None = None
    launch: Content = field(default_factory=dict)
    content: Content = field(default_factory=dict)
    code: Content = field(default_factory=dict)
    rate: float | None = None
    trials: dict[str, float | None] = field(default_factory=dict)
    curve: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CURVE_COLUMNS))
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def lr(self) -> float | None:
        """Learning rate; None without one, or where trials have not found one yet."""
        rate: float | str | None = self.config.get("method", {}).get("lr")
        return self.rate if isinstance(rate, str) else rate

    @property
    def commit(self) -> str:
        """Commit of the code that measured the cell, ``-dirty`` if files differed; may be empty."""
        digits, *mark = str(self.environment.get("git_commit") or "").split("-")
        return "-".join([digits[:DIGITS], *mark])

    @property
    def commit_source(self) -> str:
        """``recorded``, or why there is no commit."""
        if self.commit:
            return RECORDED
        otherwise = UNKNOWN if self.environment else UNRUN
        return str(self.environment.get("git_commit_missing", otherwise))

    @property
    def label(self) -> str:
        """Short description of the cell."""
        rate = "" if self.lr is None else f" lr={self.lr:.4g}"
        return f"{self.dataset} {self.method}{rate} seed={self.seed}"


def identity(content: Content) -> str:
    """Hash of a cell's content: 16 hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_settings(cell: Cell) -> None:
    """Check the parts of a cell that tables and messages take apart.

    Raises
    ------
    ValueError
        If one is of another type.
    """
    parts = ("dataset", "method", "budget", "evaluation")
    nested = [*(cell.config.get(name, {}) for name in parts), cell.launch.get("dataset", {})]
    numbers = [*cell.shape.values()]
    if not all(isinstance(part, dict) for part in nested):
        raise ValueError("its settings are not those of a cell")
    if cell.lr is not None:
        numbers.append(cell.lr)
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("its shape or its rate is no number")


def of_its_settings(cell: Cell) -> bool:
    """Whether the identity matches the content, and the content the settings."""
    settings = {
        **cell.config,
        "dataset": cell.dataset,
        "digest": cell.dataset_digest,
        "protocol": cell.config["dataset"]["protocol"],
        "version": cell.method_version,
        "engine": cell.engine,
    }
    return identity(cell.content) == cell.cell and _agree(cell.content, settings)


def _agree(content: Content, settings: Content) -> bool:
    """Whether values under the same names are the same; settings have the defaults too."""
    return all(
        _agree(value, settings[name]) if isinstance(value, dict) else value == settings[name]
        for name, value in content.items()
        if name in settings
    )
