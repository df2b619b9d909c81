"""Hydra launcher and sweeper: a whole sweep is composed and checked before its first cell runs.

Hydra takes plugins from the namespace package ``hydra_plugins`` alone, which is why it stands here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.types import Override
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from xcbench.errors import UserError
from xcbench.run.overrides import for_methods
from xcbench.run.sweeps import Composer


class SweepLauncher(Launcher):
    """Hands all points of a sweep to one flow, which resumes, isolates failures and sums up."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what is needed to compose the points."""
        self.loader = hydra_context.config_loader
        self.base = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Compose every point, then run them together."""
        from xcbench.cli import summary
        from xcbench.run.execute import run

        if not job_overrides:
            raise UserError("the grid is empty: something that is swept has no value")
        presets = {
            item for point in job_overrides for item in point if item.startswith("experiment=")
        }
        if len(presets) > 1:
            raise UserError(
                "a preset cannot itself be swept, its own grid would be lost: "
                "launch the presets one after the other"
            )
        if len(job_overrides) > 200:
            print(f"reading {len(job_overrides):,} configurations …", flush=True)
        composer = Composer(lambda point: self.loader.load_sweep_config(self.base, point))
        configurations, problems = composer.possible(job_overrides)
        code = run(configurations, ended=summary.show) or (1 if problems else 0)
        if code:
            sys.exit(code)
        return [
            JobReturn(overrides=list(point), status=JobStatus.COMPLETED) for point in job_overrides
        ]


class Sweeper(BasicSweeper):
    """Hydra's own sweeper, without composing every point once more where our launcher does it."""

    @staticmethod
    def split_arguments(
        overrides: list[Override], max_batch_size: int | None
    ) -> list[list[list[str]]]:
        """All combinations, each with the options that its method has."""
        (points,) = BasicSweeper.split_arguments(overrides, None)
        if not points:
            return [points]
        return list(BasicSweeper.split_overrides_to_chunks(for_methods(points), max_batch_size))

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Leave it to our launcher."""
        if not isinstance(self.launcher, SweepLauncher):
            super().validate_batch_is_legal(batch)


HERE = "hydra_plugins.xcbench_launcher"
NODES = {
    "hydra/launcher": {"_target_": f"{HERE}.SweepLauncher"},
    "hydra/sweeper": {"_target_": f"{HERE}.Sweeper", "max_batch_size": None, "params": None},
}
for group, node in NODES.items():
    ConfigStore.instance().store(group=group, name="xcbench", node=node, provider="xcbench")
