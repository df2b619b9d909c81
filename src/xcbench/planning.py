"""From configurations to jobs: datasets prepared, rates resolved, duplicates merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from xcbench import cells, config, registry
from xcbench.cells import Cell
from xcbench.config import Config
from xcbench.datasets import Info, Missing, prepare
from xcbench.errors import UserError

ENGINE = "numpy"


@dataclass(frozen=True)
class Job:
    """One cell to be: its configuration, its dataset, its identity."""

    settings: Config
    info: Info | Missing
    cell: Cell
    as_skipped: str
    """Identity that the same cell has while its data are missing."""

    @property
    def label(self) -> str:
        """As progress lines show it."""
        rate = "" if self.cell.lr is None else f" lr={self.cell.lr:.4g}"
        return f"{self.cell.dataset} {self.cell.method}{rate} seed={self.cell.seed}"


def jobs(configurations: Sequence[Config], sweep: bool) -> list[Job]:
    """Distinct jobs of a launch, in order.

    Parameters
    ----------
    configurations : checked configurations, one a grid point.
    sweep : whether they are points of a sweep; there, a rate collapses for methods without one.

    Raises
    ------
    UserError
        If settings are impossible for a method or dataset; nothing has run then.
    """
    infos: dict[str, Info | Missing] = {}
    made: dict[str, Job] = {}
    for settings in configurations:
        key = repr((settings.dataset, settings.data_dir))
        if key not in infos:
            infos[key] = prepare(settings.dataset, Path(settings.data_dir), cache_dir(settings))
        job = _job(settings, infos[key])
        made.setdefault(job.cell.cell, job)
    _refuse_useless_rate(configurations, list(made.values()), sweep)
    return list(made.values())


def cache_dir(settings: Config) -> Path:
    """Where prepared datasets are kept."""
    return Path(settings.runs_dir) / "cache"


def _job(settings: Config, info: Info | Missing) -> Job:
    entry = registry.entry(settings.method)
    has_rate = entry.has_rate(settings.method)
    if not has_rate:  # whatever is swept collapses
        settings = replace(settings, method=replace(settings.method, lr=None))
    as_skipped = _identity(_shown(settings, settings.dataset.name), "missing", entry.version)
    if isinstance(info, Info):
        registry.check(settings.method, info)
        if has_rate and settings.method.lr is None:
            rate = entry.default_rate(settings.method, info)
            settings = replace(settings, method=replace(settings.method, lr=rate))
    shown = _shown(settings, info.name)
    made = isinstance(info, Info) and (info.twin or settings.dataset.reader == "synthetic")
    if made and settings.dataset.synthetic:
        shown["dataset"]["synthetic"] = asdict(settings.dataset.synthetic)
    cell = Cell(
        cell=_identity(shown, info.digest, entry.version),
        dataset=info.name,
        method=settings.method.name,
        lr=settings.method.lr,
        seed=settings.seed,
        engine=ENGINE,
        method_version=entry.version,
        dataset_digest=info.digest,
        config=shown,
        shape=info.shape() if isinstance(info, Info) else {},
    )
    return Job(settings, info, cell, as_skipped)


def _shown(settings: Config, name: str) -> dict[str, Any]:
    """Settings of a cell without those of the launch."""
    return {
        "dataset": {
            "name": name,
            "reader": settings.dataset.reader,
            "protocol": settings.dataset.protocol.identity(),
        },
        "method": asdict(settings.method),
        "budget": asdict(settings.budget),
        "evaluation": asdict(settings.evaluation),
        "seed": settings.seed,
        "dtype": settings.dtype,
    }


def _identity(shown: dict[str, Any], digest: str, version: int) -> str:
    return cells.identity({"config": shown, "digest": digest, "version": version, "engine": ENGINE})


def _refuse_useless_rate(configurations: Sequence[Config], made: list[Job], sweep: bool) -> None:
    """A rate for methods of which none has one is a mistake; beside others it collapses."""
    given = any(settings.method.lr is not None for settings in configurations)
    rateless = [job for job in made if isinstance(job.info, Info) and job.cell.lr is None]
    if given and rateless and (len(rateless) == len(made) or not sweep):
        raise UserError(
            f"method {rateless[0].cell.method} with these settings has no learning rate; "
            "leave method.lr out"
        )


def memory_estimate(job: Job) -> float:
    """Bytes a cell needs at its peak, roughly: rows, weights and one block of scores."""
    if isinstance(job.info, Missing):
        return 0.0
    info, item = job.info, 4 if job.settings.dtype == "float32" else 8
    weights = info.classes * (info.features + 1.0) * item
    per_row = 8 * info.nonzeros_per_row if info.sparse else 4.0 * info.features
    rows = (info.train + info.test) * per_row
    copies = 2.0 if info.sparse else 1.0
    if isinstance(job.settings.method, config.Softmax) and job.settings.method.solver == "lbfgs":
        weights, copies = 8 / item * weights, 50.0  # SciPy keeps 20 pairs of vectors
    return rows + copies * weights + 3 * 4 * 2**22
