"""Cells as runs would have left them, without any run."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pandas as pd

from xcbench.store.cell import CURVE_COLUMNS, Cell

NAN = float("nan")


def make(
    method="umax",
    lr=0.1,
    seed=0,
    end=1.0,
    dataset="tiny",
    status="done",
    message=None,
    version=1,
    protocol="none",
    epochs=4.0,
    engine="numba",
    checkpoints=4,
    **options,
) -> Cell:
    """A cell whose training log loss falls from log 8 to ``end``; the test loss is twice that."""
    config = {
        "dataset": {"name": dataset, "protocol": {"label": "smallest", "row_norm": protocol}},
        "method": {"name": method, "lr": lr, "bias": True, **options},
        "budget": {"epochs": epochs, "checkpoints": checkpoints},
        "seed": seed,
        "dtype": "float32",
    }
    at = np.linspace(0, epochs, checkpoints + 1)
    loss = np.linspace(math.log(8), end, checkpoints + 1)
    curve = pd.DataFrame(
        {
            "iteration": 100 * at,
            "epoch": at,
            "observations": 100 * at,
            "train_seconds": 0.5 * at,
            "bound": NAN,
            "train_log_loss": loss,
            "train_error": loss / 10,
            "test_log_loss": 2 * loss,
            "test_error": loss / 5,
        }
    )
    if status == "diverged":
        curve.loc[curve.index[-1], CURVE_COLUMNS[4:]] = NAN
    if status in ("failed", "skipped"):
        curve = pd.DataFrame(columns=CURVE_COLUMNS)
    shape = {"train": 100, "test": 50, "features": 30, "classes": 8, "nonzeros_per_row": 5.25}
    return Cell(
        cell=hashlib.sha256(f"{config}{version}{engine}".encode()).hexdigest()[:16],
        dataset=dataset,
        method=method,
        seed=seed,
        engine=engine,
        method_version=version,
        dataset_digest="0123456789abcdef",
        config=config,
        status=status,
        message=message,
        shape={} if status == "skipped" else {**shape, "twin": dataset.endswith("-twin")},
        curve=curve,
    )


def grid() -> list[Cell]:
    """Two datasets and a bit of everything that can happen to a cell."""
    return [
        *(
            make(lr=lr, seed=seed, end=end + 0.02 * seed, negatives=m)
            for m in (1, 5)
            for lr, end in ((0.01, 1.5), (0.1, 1.0 + m / 100), (1.0, 1.2))
            for seed in (0, 1)
        ),
        make("vanilla", 0.01, 0, end=1.8),
        make("vanilla", 0.1, 0, end=900.0),
        make("vanilla", 1.0, 0, status="diverged", message="train log loss is not finite"),
        make("softmax", None, 0, end=0.9, checkpoints=1),
        make("broken", 0.1, 0, status="failed", message="ValueError: a | b <c>"),
        make("umax", 0.1, 0, dataset="small-twin", negatives=1, status="diverged"),
        make("softmax", None, 0, dataset="small-twin", status="skipped", message="needs 4 GiB"),
    ]
