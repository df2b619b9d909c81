"""Ray: a cluster that runs already, or one on this machine."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path

import ray
from ray import exceptions

from xcbench.config.settings import Config
from xcbench.errors import UserError, one_line
from xcbench.run.executors.elsewhere import Executor, LostTask
from xcbench.run.executors.task import Handle, Result, Task, work
from xcbench.system.processes import without_signals

PATIENCE = 20.0  # seconds for a cluster to answer


class Engine(Executor):
    """A driver of Ray."""

    def __init__(self, launch: Config, runs_dir: Path) -> None:
        self.at_once, address = launch.workers, launch.executor_address
        here: dict[str, object] = {} if address else {"num_cpus": launch.workers}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        _reach(address)
        try:
            with without_signals():  # Ray has handlers of its own
                ray.init(
                    address=address or "local",
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **here,
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise UserError(f"Ray does not start, or does not answer: {one_line(error)}") from None
        self.work = ray.remote(num_cpus=1, max_retries=0)(work)

    def submit(self, tasks: Sequence[Task]) -> Sequence[Handle]:
        """Hand tasks over."""
        return [self.work.remote(task) for task in tasks]

    def ended(self, tasks: Sequence[Handle]) -> Sequence[Handle]:
        """References that are ready."""
        ready, _ = ray.wait([*tasks], num_returns=len(tasks), timeout=0) if tasks else ([], [])
        return list(ready)

    def result(self, task: Handle) -> Result:
        """Result of a reference."""
        try:
            return ray.get(task)
        except exceptions.OutOfMemoryError:
            raise LostTask("out of memory: Ray killed the worker") from None
        except exceptions.WorkerCrashedError:
            raise LostTask("the Ray worker died: killed, or out of memory?") from None
        except exceptions.RayError as error:
            raise LostTask(f"Ray lost it: {one_line(error)[:200]}") from None

    def close(self) -> None:
        """Cancel the tasks, and end what was started here."""
        ray.shutdown()


def _reach(address: str | None) -> None:
    """Refuse an address where nothing listens: Ray would try for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if not colon:  # none, or `auto`
        return
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise UserError(
            f"executor_address={address}: no Ray cluster answers there ({error}); "
            "start one with `ray start --head`, and write its address as HOST:PORT"
        ) from None
