"""From configurations to jobs: datasets prepared, rates resolved, duplicates merged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from xcbench.config.settings import Config
from xcbench.core import engines, metrics
from xcbench.core.dataset import Info
from xcbench.core.engines import SIDE_BY_SIDE
from xcbench.core.solvers import lockstep
from xcbench.data import MAKERS, Missing, Unprepared, look_up, maker_of, prepare
from xcbench.data.external import external
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.method import Method, with_rate
from xcbench.options import Content
from xcbench.plan import code
from xcbench.plan.fingerprint import Case
from xcbench.plan.identity import Shared, content_of, versions_of
from xcbench.plan.job import NO_CURVE, Job
from xcbench.store import results
from xcbench.store.cell import Cell, identity
from xcbench.store.profile import LAUNCH
from xcbench.system import sources
from xcbench.units import count

IN_LABEL = ("dataset.name", "method.lr", "seed")  # of every cell


@LAUNCH.during("plan")
def jobs(
    configurations: Sequence[Config], complete: bool = True, prepared: bool = True
) -> list[Job]:
    """Distinct jobs of a launch, in order. An impossible job is included, with its reason.

    Parameters
    ----------
    configurations : checked configurations, one a grid point.
    complete : whether these are all points.
    prepared : whether datasets are prepared. If not, jobs of those that are not in the cache have
        the digest alone, and no rate where a rule makes it: enough to know a row of theirs.

    Raises
    ------
    UserError
        If every point is impossible; nothing has run then.
    """
    if not configurations:
        return []
    infos: dict[str, Info | Unprepared | Missing] = {}
    distinct: dict[str, Job] = {}
    shared = Shared()
    with sources.remembered():
        for settings in configurations:
            key = shared(repr, settings.dataset) + settings.data_dir
            if key not in infos:
                infos[key] = _dataset(settings, prepared)
            job = _job(settings, infos[key], shared)
            distinct.setdefault(job.cell.cell, job)
    planned = list(distinct.values())
    if complete:
        _refuse_impossible(planned)
        _refuse_useless_rate(configurations, planned)
    return _labelled(planned)


def cache_dir(settings: Config) -> Path:
    """Folder of prepared datasets."""
    return Path(settings.runs_dir) / "cache"


def case(job: Job) -> Case:
    """What a fingerprint of the code of a job is taken with."""
    settings = job.settings
    twin = isinstance(job.info, Info | Unprepared) and job.info.twin
    return Case.of(
        settings.dataset,
        twin,
        job.method,
        settings.method,
        settings.evaluation,
        settings.budget,
        dtype=settings.dtype,
        engine=job.cell.engine,
        lockstep=job.lockstep is not None,
    )


def prepared(planned: Sequence[Job], complete: bool) -> list[Job]:
    """The same jobs, their datasets prepared."""
    if not any(isinstance(job.info, Unprepared) for job in planned):
        return list(planned)
    return jobs([job.settings for job in planned], complete)


def _dataset(settings: Config, prepared: bool) -> Info | Unprepared | Missing:
    """The dataset of a point, or why it cannot be used."""
    places = Path(settings.data_dir), cache_dir(settings)
    fetching = settings.fetch and not settings.plan
    try:
        if prepared:
            return prepare(settings.dataset, *places, fetching, with_inputs=settings.save_weights)
        return look_up(settings.dataset, *places, fetching)
    except UserError as error:
        name = settings.dataset.name or settings.dataset.reader
        return Missing(name, "missing", "refused", str(error))


def _job(settings: Config, info: Info | Unprepared | Missing, shared: Shared) -> Job:
    plugin = registry.plugin_of(settings.method)
    method, sampler, problem = plugin.thing, None, ""
    engine = engines.resolve(settings.engine)
    has_rate = method.has_rate(settings.method)
    if not has_rate:  # whatever is swept collapses
        settings = replace(settings, method=replace(settings.method, lr=None))
    asked = settings
    try:
        sampler = registry.outside_sampler(method, settings.method)
        if isinstance(info, Info):
            _check(settings, method, info)
            if has_rate and settings.method.lr is None:
                settings = replace(settings, method=with_rate(method, settings.method, info))
    except UserError as error:
        problem = str(error)
    versions = versions_of(method, sampler)
    content = content_of(settings, info.name, info.digest, engine, versions, shared)
    as_missing = content_of(asked, settings.dataset.name, "missing", engine, versions, shared)
    cell = Cell(
        cell=identity(content),
        dataset=info.name,
        method=settings.method.name,
        seed=settings.seed,
        engine=engine,
        method_version=method.version,
        dataset_digest=info.digest,
        config=_shown(settings, info, shared),
        shape=info.shape() if isinstance(info, Info) else {},
        launch=_launch(settings, plugin.reference, shared),
        content=content,
        curve=NO_CURVE,
    )
    outside = {"method": plugin, "sampler": sampler, "dataset": shared(external, settings.dataset)}
    return Job(
        settings=settings,
        info=_lacking(problem, method.lacks(settings.method), info) or info,
        cell=cell,
        as_skipped=identity(as_missing),
        method=plugin.reference,
        origins={f"{kind}_from": ref.origin for kind, ref in outside.items() if ref and ref.origin},
        label=cell.label,
        source=code.source(
            plugin.reference,
            settings.method,
            settings.dataset.reader,
            isinstance(info, Info | Unprepared) and info.twin,
        ),
        lockstep=None if problem else _in_lockstep(method, settings, info, cell),
    )


def _in_lockstep(
    method: Method, settings: Config, info: Info | Unprepared | Missing, cell: Cell
) -> str | None:
    """Identity of a cell but for its rate and weight decay, where lockstep is faster."""
    budget = settings.budget
    alone = budget.seconds or budget.times or settings.evaluation.costs or cell.engine == "numpy"
    if not isinstance(info, Info) or alone or not settings.lockstep:
        return None
    if lockstep.fewest(info, settings.dtype) > SIDE_BY_SIDE:
        return None
    if not lockstep.takes(method.build(with_rate(method, settings.method, info), info)):
        return None
    shared = {key: it for key, it in cell.content["method"].items() if key not in ("lr", "l2")}
    return identity({**cell.content, "method": shared})


def _check(settings: Config, method: Method, info: Info) -> None:
    """Refuse what is impossible for a method or a dataset."""
    registry.check(method, settings.method, info)
    _check_patience(settings, method, info)
    asked = settings.evaluation.metrics
    unknown = [name for name in asked if not metrics.exists(name)]
    if unknown:
        raise UserError(
            f"evaluation.metrics={unknown[0]} is unknown; "
            f"metrics: {', '.join(metrics.names()) or 'none besides those that have an option'}"
        )
    top_k = settings.evaluation.top_k
    option = f"evaluation.top_k={top_k}"
    if metrics.depth(asked) > top_k:
        top_k = metrics.depth(asked)
        option = f"evaluation.metrics=[{','.join(asked)}]"
    most = info.classes if method.ranks is True else int(method.ranks) or 1
    if most < top_k <= info.classes or (most == 1 and top_k > 1):
        tells = "tells one class" if most == 1 else f"ranks the best {most} classes of"
        raise UserError(
            f"{option} is not possible for {method.name}, "
            f"which {tells} a row; leave out the option, or the method"
        )
    if top_k > info.classes:
        raise UserError(f"{option} is not possible on {info.name}: it has {info.classes} classes")


def _check_patience(settings: Config, method: Method, info: Info) -> None:
    """Refuse patience without rows to judge by, or with a training that cannot be stopped."""
    patience = settings.budget.patience
    if not patience:
        return
    if not settings.evaluation.validation:
        raise UserError(
            f"budget.patience={patience} needs rows that are held out; set "
            "evaluation.validation=0.2 (of the test rows, or of the training rows with "
            "evaluation.validation_from=train)"
        )
    if not method.build(with_rate(method, settings.method, info), info).interruptible:
        raise UserError(
            f"budget.patience={patience} is not possible for {method.name}, whose training is one "
            "call that cannot be stopped; leave out the option, or the method"
        )


def _lacking(problem: str, package: str, info: Info | Unprepared | Missing) -> Missing | None:
    """In the place of a dataset that is here: why a method cannot run on it."""
    if isinstance(info, Missing) or not (problem or package):
        return None
    kind = "refused" if problem else "no package"
    return Missing(info.name, info.digest, kind, problem or package)


def _shown(settings: Config, info: Info | Unprepared | Missing, shared: Shared) -> Content:
    """Settings of a cell in full, without those of the launch."""
    dataset = {
        "name": info.name,
        "reader": settings.dataset.reader,
        "protocol": shared(asdict, settings.dataset.protocol),
    }
    maker = None if isinstance(info, Missing) else maker_of(settings.dataset, info.twin)
    if maker:
        dataset[maker[0]] = asdict(maker[1])
    return {
        "dataset": dataset,
        "method": asdict(settings.method),
        "budget": shared(asdict, settings.budget),
        "evaluation": shared(asdict, settings.evaluation),
        "seed": settings.seed,
        "dtype": settings.dtype,
    }


def _launch(settings: Config, method: str, shared: Shared) -> Content:
    """Where data and method come from: no part of the identity, but needed to run it again."""
    target = {"method_target": method} if method != settings.method.name else {}
    separate = ("name", "reader", "protocol", "source", *MAKERS)
    dataset = shared(asdict, settings.dataset)
    return {
        "dataset": {name: value for name, value in dataset.items() if name not in separate},
        "data_dir": settings.data_dir,
        "save_weights": settings.save_weights,
        **target,
    }


def _refuse_impossible(planned: Sequence[Job]) -> None:
    """A launch of which nothing is possible is a mistake; one of several points is skipped."""
    refused = [
        job.info.detail
        for job in planned
        if isinstance(job.info, Missing) and job.info.kind == "refused"
    ]
    if refused and len(refused) == len(planned):
        reasons = list(dict.fromkeys(refused))
        more = f"; and {count(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        raise UserError(reasons[0] + more)


def _labelled(planned: Sequence[Job]) -> list[Job]:
    """Jobs that say in what they differ from others of the same dataset and method."""
    groups: dict[tuple[str, str], dict[str, Content]] = defaultdict(dict)
    for job in planned:
        settings = {**job.cell.config, "engine": job.cell.engine}
        groups[job.cell.dataset, job.cell.method][job.cell.cell] = results.flatten(settings)
    labels = {}
    for group in groups.values():
        columns = dict.fromkeys(name for settings in group.values() for name in settings)
        differ = [
            name
            for name in columns
            if name not in IN_LABEL
            and len({str(settings.get(name)) for settings in group.values()}) > 1
        ]
        for cell, settings in group.items():
            shown = (f" {name.removeprefix('method.')}={settings.get(name)}" for name in differ)
            labels[cell] = "".join(shown)
    return [replace(job, label=job.label + labels[job.cell.cell]) for job in planned]


def _refuse_useless_rate(configurations: Sequence[Config], planned: list[Job]) -> None:
    """A rate for methods of which none has one is a mistake; with others it collapses."""
    asked = any(isinstance(settings.method.lr, float) for settings in configurations)
    rateless = [
        job for job in planned if isinstance(job.info, Info) and job.settings.method.lr is None
    ]
    if asked and rateless and len(rateless) == len(planned):
        raise UserError(
            f"method {rateless[0].cell.method} with these settings has no learning rate; "
            "leave method.lr out"
        )


def memory_estimate(job: Job, models: int = 1) -> float:
    """Approximate peak memory in bytes of a cell, or of so many in lockstep.

    Rows, weights and one block of scores.
    """
    if not isinstance(job.info, Info):
        return 0.0
    info = job.info
    per_row = 8 * info.nonzeros_per_row if info.sparse else 4.0 * info.features
    rows = (info.train + info.test) * per_row
    settings = job.settings
    method = registry.plugin_of(settings.method).thing
    itemsize = np.dtype(settings.dtype).itemsize
    weights = method.memory(settings.method, info, itemsize, settings.budget.epochs)
    if models > 1:
        weights += lockstep.memory(info, settings.dtype, models)
    return float(rows + weights + 3 * 4 * 2**22)
