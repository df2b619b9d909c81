"""Executors, which run the cells of a launch: local processes, SLURM, Dask or Ray.

An executor is one file with one class, `Engine`. Its tasks save cells in ``runs/``, on a shared
file system; the launch handles the grid, progress and tracking.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from xcbench.config.settings import EXECUTORS, Config
from xcbench.errors import UserError
from xcbench.run.executors.elsewhere import Executor

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


def engine(launch: Config, runs_dir: Path) -> Executor:
    """The engine of an executor that is not local."""
    module = import_module(f"{__name__}.{launch.executor}")
    executor: Executor = module.Engine(launch, runs_dir)
    return executor
