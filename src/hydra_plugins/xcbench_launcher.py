"""Hydra launcher: a whole sweep is composed and checked before its first cell runs.

Hydra takes plugins from the namespace package ``hydra_plugins`` alone, which is why it stands here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from xcbench import config
from xcbench.errors import UserError


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
        from xcbench import app

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
        if len(job_overrides) > 20:
            print(f"reading {len(job_overrides)} configurations …", flush=True)
        points = [
            config.read(self.loader.load_sweep_config(self.base, list(point)))
            for point in job_overrides
        ]
        code = app.run(points)
        if code:
            sys.exit(code)
        return [
            JobReturn(overrides=list(point), status=JobStatus.COMPLETED) for point in job_overrides
        ]


ConfigStore.instance().store(
    group="hydra/launcher",
    name="xcbench",
    node={"_target_": "hydra_plugins.xcbench_launcher.SweepLauncher"},
    provider="xcbench",
)
