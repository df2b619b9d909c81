"""From configurations to jobs: datasets prepared, rates resolved, duplicates merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from xcbench import cells, engines, registry
from xcbench.cells import Cell
from xcbench.config import Config
from xcbench.datasets import MAKERS, Info, Missing, made_by, prepare
from xcbench.datasets.external import external
from xcbench.errors import UserError
from xcbench.method import default_rate
from xcbench.options import changed


@dataclass(frozen=True)
class Job:
    """One cell to be: its configuration, its dataset, its identity."""

    settings: Config
    info: Info | Missing
    cell: Cell
    as_skipped: str
    """Identity that the same cell has while its data are missing."""
    method: str
    """What names the method to another process: its name, or its target."""
    origins: dict[str, str]
    """Where that comes from which is not ours."""

    @property
    def label(self) -> str:
        """As progress lines show it."""
        return self.cell.label


def jobs(configurations: Sequence[Config], whole: bool = True) -> list[Job]:
    """Distinct jobs of a launch, in order.

    Parameters
    ----------
    configurations : checked configurations, one a grid point.
    whole : whether these are all points of the launch.

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
            infos[key] = prepare(
                settings.dataset,
                Path(settings.data_dir),
                cache_dir(settings),
                fetching=settings.fetch and not settings.plan,
            )
        job = _job(settings, infos[key])
        made.setdefault(job.cell.cell, job)
    if whole:
        _refuse_useless_rate(configurations, list(made.values()))
    return list(made.values())


def cache_dir(settings: Config) -> Path:
    """Where prepared datasets are kept."""
    return Path(settings.runs_dir) / "cache"


def _job(settings: Config, info: Info | Missing) -> Job:
    found = registry.found(settings.method)
    method = found.thing
    engine = engines.resolve(settings.engine)
    has_rate = method.has_rate(settings.method)
    if not has_rate:  # whatever is swept collapses
        settings = replace(settings, method=replace(settings.method, lr=None))
    sampler = registry.check_sampling(settings.method)
    as_skipped = identity(settings, settings.dataset.name, "missing", engine)
    if isinstance(info, Info):
        registry.check(settings.method, info)
        if settings.evaluation.top_k > 1 and not method.ranks:
            raise UserError(
                f"evaluation.top_k={settings.evaluation.top_k} is not possible for {method.name}, "
                "which tells one class a row; leave out the option, or the method"
            )
        if settings.evaluation.top_k > info.classes:
            raise UserError(
                f"evaluation.top_k={settings.evaluation.top_k} is not possible on {info.name}: "
                f"it has {info.classes} classes"
            )
        if has_rate and settings.method.lr is None:
            rate = default_rate(method, settings.method, info)
            settings = replace(settings, method=replace(settings.method, lr=rate))
    absent = _no_package(method.lacks(settings.method), info)
    cell = Cell(
        cell=identity(settings, info.name, info.digest, engine),
        dataset=info.name,
        method=settings.method.name,
        lr=settings.method.lr,
        seed=settings.seed,
        engine=engine,
        method_version=method.version,
        dataset_digest=info.digest,
        config=_shown(settings, info),
        shape=info.shape() if isinstance(info, Info) else {},
        launch=_launch(settings, found.reference),
    )
    outside = {"method": found, "sampler": sampler, "dataset": external(settings.dataset)}
    origins = {f"{kind}_from": it.origin for kind, it in outside.items() if it and it.origin}
    return Job(settings, absent or info, cell, as_skipped, found.reference, origins)


def _no_package(reason: str, info: Info | Missing) -> Missing | None:
    """In the place of a dataset that is here: what a method lacks to run on it."""
    if not reason or isinstance(info, Missing):
        return None
    return Missing(info.name, info.digest, f"not run: no package ({reason})")


def _shown(settings: Config, info: Info | Missing) -> dict[str, Any]:
    """Settings of a cell in full, without those of the launch."""
    dataset = {
        "name": info.name,
        "reader": settings.dataset.reader,
        "protocol": asdict(settings.dataset.protocol),
    }
    maker = made_by(settings.dataset, info.twin) if isinstance(info, Info) else None
    if maker:
        dataset[maker[0]] = asdict(maker[1])
    return {
        "dataset": dataset,
        "method": asdict(settings.method),
        "budget": asdict(settings.budget),
        "evaluation": asdict(settings.evaluation),
        "seed": settings.seed,
        "dtype": settings.dtype,
    }


def _launch(settings: Config, method: str) -> dict[str, Any]:
    """Where data and method come from: no part of the identity, but needed to run it again."""
    target = {"method_target": method} if method != settings.method.name else {}
    apart = ("name", "reader", "protocol", "source", *MAKERS)
    found = {name: value for name, value in asdict(settings.dataset).items() if name not in apart}
    return {
        "dataset": found,
        "data_dir": settings.data_dir,
        "save_weights": settings.save_weights,
        **target,
    }


def identity(settings: Config, name: str, digest: str, engine: str) -> str:
    """Hash of the data (their digest holds the protocol), the method and how it is run.

    Parameters
    ----------
    settings : with the rate filled in, or without one for a method that has none.
    name, digest : of the prepared dataset.
    """
    versions = {"version": registry.entry(settings.method).version}
    sampler = registry.check_sampling(settings.method)
    if sampler:
        versions["sampler_version"] = getattr(sampler.thing, "version", 1)
    return cells.identity(
        {
            "dataset": name,
            "digest": digest,
            "protocol": changed(settings.dataset.protocol),
            "method": changed(settings.method),
            **versions,
            "budget": changed(settings.budget),
            "evaluation": changed(settings.evaluation),
            "seed": settings.seed,
            "dtype": settings.dtype,
            "engine": engine,
        }
    )


def _refuse_useless_rate(configurations: Sequence[Config], made: list[Job]) -> None:
    """A rate for methods of which none has one is a mistake; beside others it collapses."""
    given = any(settings.method.lr is not None for settings in configurations)
    rateless = [job for job in made if isinstance(job.info, Info) and job.cell.lr is None]
    if given and rateless and len(rateless) == len(made):
        raise UserError(
            f"method {rateless[0].cell.method} with these settings has no learning rate; "
            "leave method.lr out"
        )


def memory_estimate(job: Job) -> float:
    """Bytes a cell needs at its peak, roughly: rows, weights and one block of scores."""
    if isinstance(job.info, Missing):
        return 0.0
    info = job.info
    per_row = 8 * info.nonzeros_per_row if info.sparse else 4.0 * info.features
    rows = (info.train + info.test) * per_row
    method = registry.found(job.settings.method).thing
    return rows + method.memory(job.settings, info) + 3 * 4 * 2**22
