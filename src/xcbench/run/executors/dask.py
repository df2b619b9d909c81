"""Dask: an existing scheduler, or a local one with a process for each worker."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import distributed

from xcbench import plugins
from xcbench.config.settings import Config
from xcbench.errors import UserError
from xcbench.run.executors.elsewhere import Executor, LostTask
from xcbench.run.executors.task import Handle, Result, Task, work
from xcbench.system.processes import without_signals

PATIENCE = 20.0  # seconds for a scheduler to answer


class Engine(Executor):
    """A client of Dask's scheduler."""

    def __init__(self, launch: Config, runs_dir: Path) -> None:
        self.at_once = launch.workers
        self.cluster = None
        address: str | None = launch.executor_address
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        if not address:
            with without_signals():
                address = self.cluster = distributed.LocalCluster(
                    n_workers=launch.workers,
                    threads_per_worker=1,
                    memory_limit=0,  # the launch has one of its own
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
        try:
            self.client = distributed.Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise UserError(
                f"executor_address={address}: no Dask scheduler answers there ({error}); "
                "start one with `dask scheduler`"
            ) from None
        if not self.client.scheduler_info()["workers"]:
            print(f"the Dask scheduler at {address} has no worker yet", flush=True)

    def submit(self, tasks: Sequence[Task]) -> Sequence[Handle]:
        """Hand tasks over."""
        try:
            return [self.client.submit(work, task, pure=False) for task in tasks]
        except distributed.client.ClosedClientError:
            raise UserError(
                "the Dask scheduler is gone; start it and give the same command again: what is "
                "finished stays finished"
            ) from None

    def ended(self, tasks: Sequence[Handle]) -> Sequence[Handle]:
        """Futures that are done."""
        return [future for future in tasks if future.done()]

    def result(self, task: Handle) -> Result:
        """Result of a future."""
        try:
            return task.result(timeout=PATIENCE)
        except distributed.KilledWorker:
            raise LostTask("the Dask workers that ran it died: killed, or out of memory?") from None
        except distributed.client.FutureCancelledError:
            raise LostTask("cancelled: by someone, or the Dask scheduler is gone") from None
        except Exception as error:  # such as of a worker without xcbench
            raise LostTask(f"Dask lost it: {plugins.failure(error)}") from None

    def close(self) -> None:
        """Cancel the tasks, and end the workers that were started here."""
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()
