"""Write many runs at once into the tables of an MLflow database.

MLflow's API takes a tenth of a second a run. This module writes the same rows in one transaction a
batch; a test compares both.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xcbench.track.mlflow_runs import CONTEXT, FOLDER, Data, Entry, Point, Run

ENTRIES = """
select runs.run_uuid, runs.status, cell.value, started.value, grid.value from runs
join experiments on experiments.experiment_id = runs.experiment_id
  and experiments.name = :experiment
join tags as cell on cell.run_uuid = runs.run_uuid and cell.key = 'cell'
left join tags as started on started.run_uuid = runs.run_uuid and started.key = 'started'
left join tags as grid on grid.run_uuid = runs.run_uuid and grid.key = 'grid'
left join tags as folder on folder.run_uuid = runs.run_uuid and folder.key = :folder_tag
where runs.lifecycle_stage = 'active' and coalesce(folder.value, '') = :folder
"""


@dataclass
class Tables:
    """A store in a database.

    Attributes
    ----------
    uri : as SQLAlchemy understands it.
    experiment : name of the experiment.
    identity : of the experiment in the store.
    artifacts : where files of runs would be.
    folder : tag `FOLDER` of the runs that are written and seen; "" for a store of one folder.
    """

    uri: str
    experiment: str
    identity: str
    artifacts: str
    folder: str = ""

    def entries(self, cells: Sequence[str] | None = None) -> list[Entry]:
        """Runs of all cells, by one query, without deleted ones."""
        from sqlalchemy import text

        with _connection(self.uri) as connection:
            records = connection.execute(text(ENTRIES), _asked(self.experiment, self.folder))
            return [Entry(*row) for row in records]

    def insert(self, runs: Sequence[Run]) -> None:
        """Write runs, all or none."""
        from mlflow.store.tracking.dbmodels import models

        keys = [_run_identity() for _ in runs]
        folder = {FOLDER: self.folder} if self.folder else {}
        tags: list[Any] = []
        params: list[Any] = []
        metrics: list[Any] = []
        latest: list[Any] = []
        for key, run in zip(keys, runs, strict=True):
            identity = {"run_uuid": key}
            named = {**run.tags, **folder, "mlflow.runName": run.name}
            tags += [{**identity, "key": k, "value": v} for k, v in named.items()]
            params += [{**identity, "key": k, "value": v} for k, v in run.params.items()]
            points = list(dict.fromkeys(run.points))
            last = {point[0]: point for point in sorted(points, key=lambda p: (p[3], p[2], p[1]))}
            metrics += [{**identity, **_metric(point)} for point in points]
            latest += [{**identity, **_metric(point)} for point in last.values()]
        with _connection(self.uri) as connection:
            _write(connection, models.SqlRun, map(self._head, runs, keys))
            _write(connection, models.SqlTag, tags)
            _write(connection, models.SqlParam, params)
            _write(connection, models.SqlMetric, metrics)
            _write(connection, models.SqlLatestMetric, latest)
            self._link(connection, models, dict(zip(keys, (run.data for run in runs), strict=True)))

    def _link(self, connection: Any, models: Any, inputs: dict[str, Data]) -> None:
        """Name the dataset of each run; one that the experiment has is not written again."""
        table = models.SqlDataset.__table__
        columns = table.c.name, table.c.digest, table.c.dataset_uuid
        query = table.select().with_only_columns(*columns)
        query = query.where(table.c.experiment_id == int(self.identity))
        stored = {(name, digest): key for name, digest, key in connection.execute(query)}
        new = {data[:2]: data for data in inputs.values() if data[:2] not in stored}
        stored |= {pair: secrets.token_hex(16) for pair in new}
        rows = (
            {
                "dataset_uuid": stored[pair],
                "experiment_id": int(self.identity),
                "name": data.name,
                "digest": data.digest,
                "dataset_source_type": data.source_type,
                "dataset_source": data.source,
                "dataset_schema": "",
                "dataset_profile": data.profile,
            }
            for pair, data in new.items()
        )
        _write(connection, models.SqlDataset, rows)
        links = {run: secrets.token_hex(16) for run in inputs}
        rows = (
            {
                "input_uuid": link,
                "source_type": "DATASET",
                "source_id": stored[inputs[run][:2]],
                "destination_type": "RUN",
                "destination_id": run,
            }
            for run, link in links.items()
        )
        _write(connection, models.SqlInput, rows)
        name, value = CONTEXT
        rows = ({"input_uuid": link, "name": name, "value": value} for link in links.values())
        _write(connection, models.SqlInputTag, rows)

    def delete(self, entries: Sequence[Entry]) -> None:
        """Mark runs as deleted, as MLflow does."""
        from mlflow.store.tracking.dbmodels import models

        table = models.SqlRun.__table__
        now = {"lifecycle_stage": "deleted", "deleted_time": round(1000 * time.time())}
        with _connection(self.uri) as connection:
            for entry in entries:
                chosen = table.c.run_uuid == entry.run
                connection.execute(table.update().where(chosen).values(**now))

    def regroup(self, entries: Sequence[Entry]) -> None:
        """Give runs the tag ``grid`` of these entries."""
        from mlflow.store.tracking.dbmodels import models

        table = models.SqlTag.__table__
        with _connection(self.uri) as connection:
            for entry in entries:
                connection.execute(
                    table.delete().where(table.c.run_uuid == entry.run, table.c.key == "grid")
                )
            tags = [{"run_uuid": it.run, "key": "grid", "value": it.grid} for it in entries]
            _write(connection, models.SqlTag, [tag for tag in tags if tag["value"]])

    def _head(self, run: Run, key: str) -> dict[str, Any]:
        return {
            "run_uuid": key,
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
            "artifact_uri": f"{self.artifacts}/{key}/artifacts",
            "experiment_id": int(self.identity),
        }


def entries_of_file(store: Path, experiment: str) -> list[Entry]:
    """As `Tables.entries` for a SQLite file, without importing MLflow, which takes seconds."""
    with closing(sqlite3.connect(store)) as connection:
        return [Entry(*row) for row in connection.execute(ENTRIES, _asked(experiment, ""))]


def _asked(experiment: str, folder: str) -> dict[str, str]:
    return {"experiment": experiment, "folder_tag": FOLDER, "folder": folder}


@contextmanager
def _connection(uri: str) -> Iterator[Any]:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    engine = create_engine(uri, poolclass=NullPool)
    with engine.begin() as connection:  # commits at the end, or rolls everything back
        yield connection


def _write(connection: Any, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    values = list(rows)
    if not values:
        return
    insert = table.__table__.insert()
    if connection.dialect.name == "sqlite":  # no look at every row by SQLAlchemy
        connection.exec_driver_sql(str(insert.compile(column_keys=values[0])), values)
    else:
        connection.execute(insert, values)


def _run_identity() -> str:
    """Thirty-two hexadecimal digits in order of time: an index grows at few places, and fast."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def _metric(point: Point) -> dict[str, Any]:
    key, value, timestamp, step = point
    return {"key": key, "value": value, "timestamp": timestamp, "step": step, "is_nan": False}
