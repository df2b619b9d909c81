"""Hydra launcher and sweeper: a whole sweep is composed and checked before its first cell runs.

Hydra takes plugins from the namespace package ``hydra_plugins`` alone, which is why it stands here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper as HydraSweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from xcbench.config.overrides import for_methods
from xcbench.errors import UserError
from xcbench.plan.sweeps import Composer, Point, combinations
from xcbench.plugins import failure

HERE = "hydra_plugins.xcbench_launcher"


class SweepLauncher(Launcher):
    """Hands all points of a sweep to one flow, which resumes, isolates failures and sums up."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what is needed to compose the points."""
        self.loader = hydra_context.config_loader
        self.base = config
        self.code = 0
        self.grid: list[str] = []

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Compose every point, then run them together."""
        from xcbench.cli import summary
        from xcbench.run.execute import run

        if self.base.hydra.sweeper.get("_target_") != f"{HERE}.Sweeper":
            return self._trials(job_overrides)
        configurations, problems = self.possible(job_overrides)
        self.ended(run(configurations, ended=summary.show) or (1 if problems else 0))
        return [_returned(point) for point in job_overrides]

    def possible(self, points: Sequence[Point]) -> Any:
        """Configurations of the points that have one, and the others by what is wrong."""
        if not points:
            raise UserError("the grid is empty: something that is swept has no value")
        presets = {item for point in points for item in point if item.startswith("experiment=")}
        if len(presets) > 1:
            raise UserError(
                "a preset cannot itself be swept, its own grid would be lost: "
                "launch the presets one after the other"
            )
        if len(points) > 200:
            print(f"reading {len(points):,} configurations …", flush=True)
        return self._composer().possible(points)

    def _composer(self) -> Composer:
        return Composer(lambda point: self.loader.load_sweep_config(self.base, point))

    def ended(self, code: int) -> None:
        """Keep the exit code of a batch; an interrupted one is the last."""
        from xcbench.system.processes import INTERRUPTED

        self.code = max(self.code, code)
        if code == INTERRUPTED:
            sys.exit(code)

    def _trials(self, points: Sequence[Point]) -> Sequence[JobReturn]:
        """Run a batch of another sweeper; each point returns its objective, or an error."""
        from pathlib import Path

        from xcbench.run import objective
        from xcbench.run.execute import execute, planned
        from xcbench.store import grids

        Path(self.base.hydra.sweep.dir).mkdir(parents=True, exist_ok=True)  # sweepers write there
        configurations, problems = self.possible(points)
        settings, launched = configurations[0], planned(configurations)
        if settings.halving:
            raise UserError(
                "another sweeper ends points by itself; leave out either it, or halving"
            )
        self.ended(execute(launched))
        self.grid += [job.cell.cell for job in launched]
        grids.add(Path(settings.runs_dir), settings.grid, self.grid)  # of all batches so far
        values = iter(configurations)
        impossible = {tuple(p): reason for reason, some in problems.items() for p in some}
        returned = []
        for point in points:
            try:
                if tuple(point) in impossible:
                    raise UserError(impossible[tuple(point)])
                returned.append(_returned(point, objective.of_point(next(values))))
            except UserError as error:
                returned.append(_returned(point, error))
        return returned


def _returned(point: Point, value: Any = None) -> JobReturn:
    failed = isinstance(value, Exception)
    status = JobStatus.FAILED if failed else JobStatus.COMPLETED
    done = JobReturn(overrides=list(point), status=status)
    done.return_value = value
    return done


class OtherLauncher(SweepLauncher):
    """Another launcher's processes, as one launch: a name, a row for every cell, an exit code."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Compose every point here, too, and let the other launcher run those that are possible."""
        from xcbench.cli import summary
        from xcbench.run.execute import run_by

        configurations, problems = self.possible(job_overrides)
        impossible = {tuple(point) for some in problems.values() for point in some}
        points = [point for point in job_overrides if tuple(point) not in impossible]

        def launch() -> str:
            try:
                done = self.launcher.launch(points, initial_job_idx)
            except Exception as error:  # a process was killed, or a job cancelled
                return failure(error)[:200]
            errors = [str(it._return_value) for it in done if it.status == JobStatus.FAILED]
            return errors[0] if errors else ""

        name = str(self.base.hydra.runtime.choices["hydra/launcher"])
        code = run_by(launch, name, configurations, summary.show)
        self.ended(code or (1 if problems else 0))
        return [_returned(point) for point in job_overrides]


class Sweeper(HydraSweeper):
    """All combinations of values, each with the options that its method has.

    Parameters
    ----------
    max_batch_size : points that are launched together; all by default.
    params : swept values of a preset.
    """

    def __init__(self, max_batch_size: int | None, params: dict[str, str] | None) -> None:
        self.max_batch_size, self.params = max_batch_size, params or {}

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Take the launcher that was chosen."""
        context: dict[str, Any] = {
            "hydra_context": hydra_context,
            "task_function": task_function,
            "config": config,
        }
        self.settings, self.loader = config, hydra_context.config_loader
        launcher = Plugins.instance().instantiate_launcher(**context)
        if not isinstance(launcher, SweepLauncher):
            launcher = OtherLauncher(launcher)
            launcher.setup(**context)
        self.batches = launcher

    def sweep(self, arguments: list[str]) -> Any:
        """Launch all batches; then end with the exit code of the worst.

        The folder that Hydra has for the sweep is one that is removed: the cells have their
        settings, and a folder of cells that cannot be written is no reason to end.
        """
        words = [*(f"{name}={value}" for name, value in self.params.items()), *arguments]
        parser = OverridesParser.create(config_loader=self.loader)
        points = for_methods([*combinations(parser.parse_overrides(words))])
        size = self.max_batch_size or len(points) or 1
        returned = []
        with TemporaryDirectory() as scratch:
            self.settings.hydra.sweep.dir = scratch
            for first in range(0, max(1, len(points)), size):
                returned.append(self.batches.launch(points[first : first + size], first))
        if self.batches.code:
            sys.exit(self.batches.code)
        return returned


NODES = {
    "hydra/launcher": {"_target_": f"{HERE}.SweepLauncher"},
    "hydra/sweeper": {"_target_": f"{HERE}.Sweeper", "max_batch_size": None, "params": None},
}
for group, node in NODES.items():
    ConfigStore.instance().store(group=group, name="xcbench", node=node, provider="xcbench")
