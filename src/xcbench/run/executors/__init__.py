"""Executors, which run the cells of a launch: local processes, SLURM, Dask or Ray.

An executor is one file with one class, `Engine`. Its tasks save cells in ``runs/``, on a shared
file system; the launch handles the grid, progress and tracking.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from xcbench.config.settings import EXECUTORS, Config
from xcbench.errors import UserError
from xcbench.run import workers
from xcbench.run.executors import elsewhere
from xcbench.run.leases import Queue
from xcbench.run.progress import Progress
from xcbench.run.workers import Outcome

LOCAL = EXECUTORS[0]
PACKAGES = {"slurm": "submitit", "dask": "distributed", "ray": "ray"}


def check(launch: Config) -> None:
    """Refuse an unavailable executor, or settings of another one.

    Raises
    ------
    UserError
        Names the package that is missing, or the setting.
    """
    name = launch.executor
    package = PACKAGES.get(name)
    if package and find_spec(package) is None:
        raise UserError(
            f"executor={name} needs {package}, which is not installed; "
            f"pip install 'xcbench[{name}]', or leave the option out"
        )
    if launch.executor_address and name not in ("dask", "ray"):
        raise UserError(
            f"executor_address={launch.executor_address} is not possible with executor={name}: "
            "it is for dask and ray; leave it out"
        )


def run(queue: Queue, launch: Config, progress: Progress) -> Iterator[Outcome]:
    """Run the jobs of a queue and yield their outcomes, in order of completion."""
    if launch.executor == LOCAL or not queue:
        return workers.run(queue, launch.workers, progress.begin, progress.inside)
    module = import_module(f"{__name__}.{launch.executor}")
    return elsewhere.run(queue, module.Engine(launch, queue.runs_dir))
