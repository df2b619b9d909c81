"""Cells for MLflow's store, and what the store says of them."""

from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.store.cell import CURVE_COLUMNS, Cell

STARTED = 1_750_000_000.25
CODE = """import sys
from pathlib import Path
from xcbench.store import cells
from xcbench.track import tracking
"""


def curve(rows: int, **changes: list[float]) -> pd.DataFrame:
    steps = np.arange(rows)
    values = {name: np.exp(-0.1 * steps) + i for i, name in enumerate(CURVE_COLUMNS)}
    clock = {"iteration": 10 * steps, "train_seconds": 0.125 * steps}
    return pd.DataFrame({**values, **clock, "own": 2.0**steps, **changes})


def a_cell(number: int, **changes: object) -> Cell:
    content = {
        "cell": f"{number:016x}",
        "dataset": "toy",
        "method": "ove",
        "seed": number,
        "engine": "numpy",
        "method_version": 1,
        "dataset_digest": "d1",
        "config": {
            "method": {"name": "ove", "lr": 0.1, "negatives": [1, 2]},
            "text": "x" * 7000,
            "seed": number,
        },
        "status": "done",
        "shape": {"train": 30, "test": 10, "features": 5, "classes": 3},
        "started": STARTED + number,
        "environment": {"git_commit": "c0ffee", "xcbench": "0.1.0"},
        "curve": curve(5),
    }
    return Cell(**(content | changes))


def some_cells() -> list[Cell]:
    broken = curve(4, bound=[np.nan, 1.0, np.inf, -np.inf], test_error=[np.nan] * 4)
    many = {f"option{i}": i for i in range(150)}
    return [
        a_cell(0),
        a_cell(1, status="diverged", message="not finite", curve=broken),
        a_cell(2, status="timeout", curve=curve(200), config=many),
        a_cell(
            3,
            status="failed",
            message="m" * 9000,
            curve=curve(0),
            config={"method": {"name": "ove"}},
        ),
        a_cell(4, status="skipped", message="no data", started=0.0, curve=curve(0)),
    ]


def client(runs_dir: Path):
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=f"sqlite:///{runs_dir}/mlflow.db")


def stored(runs_dir: Path) -> dict[str, dict]:
    """All that the store says, by cell, without the identities that MLflow makes up."""
    api = client(runs_dir)
    (experiment,) = api.search_experiments()
    assert experiment.name == "xcbench"
    content = {}
    for run in api.search_runs([experiment.experiment_id]):
        histories = {
            name: sorted(
                (m.step, m.timestamp, m.value)
                for m in api.get_metric_history(run.info.run_id, name)
            )
            for name in run.data.metrics
        }
        tags = dict(run.data.tags)
        content[tags["cell"]] = {
            "name": tags.pop("mlflow.runName"),
            "tags": tags,
            "params": run.data.params,
            "times": (run.info.status, run.info.start_time, run.info.end_time),
            "curves": histories,
        }
    return content
