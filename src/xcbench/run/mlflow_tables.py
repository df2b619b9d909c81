"""Runs straight into the tables of an MLflow store, many at a time.

MLflow's own calls take a tenth of a second a run. What stands here writes the same rows, in one
transaction a batch; a test compares both.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Point = tuple[str, float, int, int]  # metric, value, time in ms, step


@dataclass
class Run:
    """What a run says; times are in ms."""

    name: str
    status: str
    start: int
    end: int
    tags: dict[str, str]
    params: dict[str, str]
    points: list[Point]


class Entry(NamedTuple):
    """A run of the store by its identity there, its status, and the tags that tell its cell."""

    run: str
    status: str
    cell: str
    started: str | None


ENTRIES = """
select runs.run_uuid, runs.status, cell.value, started.value from runs
join experiments on experiments.experiment_id = runs.experiment_id and experiments.name = ?
join tags as cell on cell.run_uuid = runs.run_uuid and cell.key = 'cell'
left join tags as started on started.run_uuid = runs.run_uuid and started.key = 'started'
where runs.lifecycle_stage = 'active'
"""


@contextmanager
def _connection(uri: str) -> Iterator[Any]:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    engine = create_engine(uri, poolclass=NullPool)
    with engine.begin() as connection:  # commits at the end, or rolls everything back
        yield connection


def entries(store: Path, experiment: str) -> list[Entry]:
    """Runs of an experiment that belong to a cell, without those that were deleted.

    Nothing of MLflow is imported, which takes seconds.
    """
    with closing(sqlite3.connect(store)) as connection:
        return [Entry(*row) for row in connection.execute(ENTRIES, (experiment,))]


def insert(uri: str, experiment: str, artifacts: str, runs: Sequence[Run]) -> None:
    """Write runs, all or none.

    Parameters
    ----------
    uri : of the store.
    experiment, artifacts : identity of an experiment, and where its files would be.
    runs : to be written.
    """
    from mlflow.store.tracking.dbmodels import models

    rows: dict[Any, list[dict[str, Any]]] = {
        table: []
        for table in (
            models.SqlRun,
            models.SqlTag,
            models.SqlParam,
            models.SqlMetric,
            models.SqlLatestMetric,
        )
    }
    for run in runs:
        key = {"run_uuid": _identity()}
        rows[models.SqlRun].append({**key, **_head(run, experiment, artifacts, key["run_uuid"])})
        tags = {**run.tags, "mlflow.runName": run.name}
        rows[models.SqlTag] += [{**key, "key": k, "value": v} for k, v in tags.items()]
        rows[models.SqlParam] += [{**key, "key": k, "value": v} for k, v in run.params.items()]
        points = list(dict.fromkeys(run.points))
        last: dict[str, Point] = {}
        for point in sorted(points, key=lambda p: (p[3], p[2], p[1])):
            last[point[0]] = point
        rows[models.SqlMetric] += [{**key, **_metric(point)} for point in points]
        rows[models.SqlLatestMetric] += [{**key, **_metric(point)} for point in last.values()]
    with _connection(uri) as connection:
        for table, values in rows.items():
            if values:
                statement = str(table.__table__.insert().compile(column_keys=values[0]))
                connection.exec_driver_sql(statement, values)  # no look at every row by SQLAlchemy


def _identity() -> str:
    """Thirty-two hexadecimal digits in order of time: an index grows at few places, and fast."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def _head(run: Run, experiment: str, artifacts: str, identity: str) -> dict[str, Any]:
    return {
        "name": run.name,
        "source_type": "UNKNOWN",
        "source_name": "",
        "entry_point_name": "",
        "user_id": "unknown",
        "status": run.status,
        "start_time": run.start,
        "end_time": run.end,
        "source_version": "",
        "lifecycle_stage": "active",
        "artifact_uri": f"{artifacts}/{identity}/artifacts",
        "experiment_id": int(experiment),
    }


def _metric(point: Point) -> dict[str, Any]:
    key, value, timestamp, step = point
    return {"key": key, "value": value, "timestamp": timestamp, "step": step, "is_nan": False}
