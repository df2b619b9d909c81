"""What a cell is: one point of a grid and, once it ran, what came of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

STATUSES = ("done", "diverged", "timeout", "failed", "skipped")
FINAL = ("done", "diverged", "timeout")

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
    """One point of a grid and, once it ran, what came of it.

    Attributes
    ----------
    cell : identity, a hash of the next block of fields.
    dataset, method, seed, engine : what a table shows, with the rate `lr`.
    method_version, dataset_digest : change when the code of the method or the data change.
    config : resolved settings without volatile keys (paths, flags of the launch).
    status : one of `STATUSES`; ``message`` says why where it is not ``done``.
    shape : rows, features, classes and non-zeros per row of the dataset.
    seconds : the four clocks: load, compile, train, evaluate.
    launch : settings that are not part of the identity, such as where the data were found.
    curve : one row a checkpoint, first `CURVE_COLUMNS`, then what the method adds.
    content : what ``cell`` is the hash of.
    weights : W and b at the end, where they are to be saved; `load` leaves them on the disk.
    inputs : with them, what makes features of rows (`xcbench.data.inputs`).
    """

    cell: str
    dataset: str
    method: str
    seed: int
    engine: str
    method_version: int
    dataset_digest: str
    config: dict[str, Any]
    status: str = "skipped"
    message: str | None = None
    shape: dict[str, Any] = field(default_factory=dict)
    started: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    traceback: str | None = None
    launch: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    curve: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CURVE_COLUMNS))
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def lr(self) -> float | None:
        """Learning rate; None without one."""
        rate: float | None = self.config.get("method", {}).get("lr")
        return rate

    @property
    def label(self) -> str:
        """The cell in a few words."""
        rate = "" if self.lr is None else f" lr={self.lr:.4g}"
        return f"{self.dataset} {self.method}{rate} seed={self.seed}"


def identity(content: dict[str, Any]) -> str:
    """Hash of what makes two cells the same experiment: 16 hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_its_settings(cell: Cell) -> bool:
    """Whether the identity is that of the content, and the content that of the settings."""
    settings = {
        **cell.config,
        "dataset": cell.dataset,
        "digest": cell.dataset_digest,
        "protocol": cell.config["dataset"]["protocol"],
        "version": cell.method_version,
        "engine": cell.engine,
    }
    return identity(cell.content) == cell.cell and _agree(cell.content, settings)


def _agree(content: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether values under the same names are the same; settings have the defaults too."""
    return all(
        _agree(value, settings[name]) if isinstance(value, dict) else value == settings[name]
        for name, value in content.items()
        if name in settings
    )
