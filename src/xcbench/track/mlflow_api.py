"""Runs in an MLflow store, through MLflow's client: a few calls a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any, TypeVar

from xcbench.track.mlflow_runs import CONTEXT, FOLDER, Entry, Run

METRICS, PARAMS = 900, 100  # that a request may hold
PAGE = 1000  # runs that an answer may hold

T = TypeVar("T")


@dataclass
class Api:
    """A server, a database, or any other store that MLflow supports.

    A run is ``RUNNING`` until it is complete, so incomplete ones can be recognised.

    Attributes
    ----------
    client : MLflow's client.
    identity : id of the experiment in the store.
    folder : tag `FOLDER` of this folder's runs; "" for a store that has no others.
    """

    client: Any
    identity: str
    folder: str

    def entries(self, cells: Sequence[str] | None = None) -> list[Entry]:
        """Runs of these cells, or of all, without those that were deleted."""
        ours = [f"tags.{FOLDER} = '{self.folder}'"] if self.folder else []
        if cells is None:
            return list(self._search(ours))
        return [entry for name in cells for entry in self._search([*ours, f"tags.cell = '{name}'"])]

    def _search(self, conditions: Sequence[str]) -> Iterator[Entry]:
        token, condition = None, " and ".join(conditions)
        while True:
            page = self.client.search_runs([self.identity], condition, 1, PAGE, None, token)
            for run in page:
                tags = run.data.tags
                identifying = tags["cell"], tags.get("started"), tags.get("grid")
                yield Entry(run.info.run_id, run.info.status, *identifying)
            token = page.token
            if not token:
                return

    def insert(self, runs: Sequence[Run]) -> None:
        """Write runs one after the other."""
        from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param

        for run in runs:
            tags = run.tags | ({FOLDER: self.folder} if self.folder else {})
            key = self.client.create_run(self.identity, run.start, tags, run.name).info.run_id
            params = batches([Param(*item) for item in run.params.items()], PARAMS)
            points = [Metric(name, value, at, step) for name, value, at, step in run.points]
            for metrics, some in zip_longest(batches(points, METRICS), params, fillvalue=()):
                self.client.log_batch(key, metrics, some)
            data = DatasetInput(Dataset(**run.data), [InputTag(*CONTEXT)])
            self.client.log_inputs(key, [data])
            self.client.set_terminated(key, run.status, run.end)

    def delete(self, entries: Sequence[Entry]) -> None:
        """Mark runs as deleted."""
        for entry in entries:
            self.client.delete_run(entry.run)

    def regroup(self, entries: Sequence[Entry]) -> None:
        """Give runs the tag ``grid`` of these entries."""
        for entry in entries:
            self.client.set_tag(entry.run, "grid", entry.grid or "")


def batches(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """So many entries at a time."""
    rest = iter(entries)
    return iter(lambda: list(islice(rest, size)), [])
