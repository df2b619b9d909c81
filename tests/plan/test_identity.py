"""Identity of a cell: every setting that changes numbers is part of it, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from xcbench.config.settings import Config, Slurm
from xcbench.core import engines, metrics
from xcbench.data.settings import DatasetSettings, Protocol, Source, SyntheticSettings
from xcbench.methods.umax import UmaxOptions
from xcbench.plan.planning import jobs
from xcbench.store.cell import identity as of_content

NAN = float("nan")


CONTENT = {
    "config": {"dataset": {"name": "a", "protocol": {"row_norm": "l2"}}, "method": {"lr": 0.1}},
    "digest": "feed",
    "version": 1,
    "engine": "numpy",
}


def test_identity_does_not_depend_on_the_order_of_keys() -> None:
    def turned(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: turned(value[name]) for name in reversed(value)}

    assert list(turned(CONTENT)) != list(CONTENT)
    assert of_content(turned(CONTENT)) == of_content(CONTENT)
    assert len(of_content(CONTENT)) == 16
    int(of_content(CONTENT), 16)


def test_identity_depends_on_every_value() -> None:
    def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        if isinstance(value, dict):
            for name in value:
                yield from leaves(value[name], (*path, name))
        else:
            yield path

    seen = {of_content(CONTENT)}
    paths = list(leaves(CONTENT))
    for path in paths:
        changed = copy.deepcopy(CONTENT)
        inside: Any = changed
        for name in path[:-1]:
            inside = inside[name]
        inside[path[-1]] = "other"
        seen.add(of_content(changed))
    assert len(seen) == 1 + len(paths)


def test_identity_refuses_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="JSON"):
        of_content({"lr": NAN})


def settings(runs_dir: Path) -> Config:
    return Config(
        dataset=DatasetSettings(
            name="tiny",
            reader="synthetic",
            synthetic=SyntheticSettings(train=60, test=20, features=30, classes=10, nonzeros=4.0),
        ),
        method=UmaxOptions(name="umax", lr=None, step="gradient"),
        runs_dir=str(runs_dir),
    )


SAMPLERS = ("tree", "clusters", "kernel", "rff", "midx")  # which have options of their own


def identity(point: Config) -> str:
    return jobs([point])[0].cell.cell


def other(value: Any, choices: tuple[str, ...]) -> Any:
    """Another value an option may have."""
    if choices:
        return next(choice for choice in choices if choice != value)
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else (value or 0.5) / 2


def changed_options(point: Any, skip: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every option of a configuration changed in turn, with its dotted name."""
    for entry in fields(point):
        value = getattr(point, entry.name)
        if entry.name in skip or value == "":  # paths of the user's own files
            continue
        if is_dataclass(value):
            for name, inner in changed_options(value, skip):
                yield f"{entry.name}.{name}", replace(point, **{entry.name: inner})
        else:
            changed = other(value, entry.metadata.get("choices", ()))
            yield entry.name, replace(point, **{entry.name: changed})


def test_every_setting_is_part_of_the_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = (
        "experiment",
        "rates",
        "grid",
        "plan",
        "force",
        "halving",
        "mlflow",
        "tracking_uri",
        "save_weights",
        "workers",
        "executor",
        "executor_address",
        "slurm",
        "lockstep",
        "fetch",
        "data_dir",
        "runs_dir",
    )
    paths = ("reports_dir", "reader", "folders", "files", "sha256", "source", "expected", "missing")
    paths += ("encoding", "features")  # part of the dataset's digest, as the content of files is
    # A maker of data takes neither of two, and nothing of other makers; name and sampling have few
    # possible values, and a single row is refused.
    others = ("categories", "blobs", *SAMPLERS, "in_batch")
    adaptive = ("optimizer", "lr_root_decay", "patience")  # U-max refuses them; this needs rows
    fixed = ("divide_by", "classes", "name", "sampler", "rows", "engine", "metrics")
    point = settings(tmp_path)
    result = {"as it is": identity(point)}
    for name, changed in changed_options(point, (*launch, *paths, *fixed, *adaptive, *others)):
        result[name] = identity(changed)
    waits = replace(point.budget, patience=3)
    held_out = replace(point, evaluation=replace(point.evaluation, validation=0.25))
    assert result["evaluation.validation"] == identity(held_out)
    result["budget.patience"] = identity(replace(held_out, budget=waits))
    assert point.dataset.synthetic is not None
    bigger = replace(point.dataset.synthetic, classes=11)
    result["classes"] = identity(replace(point, dataset=replace(point.dataset, synthetic=bigger)))
    fewer = replace(point.dataset, protocol=Protocol(rows=50))
    result["rows"] = identity(replace(point, dataset=fewer))
    if engines.resolve("auto") != "numpy":
        result["engine"] = identity(replace(point, engine="numpy"))
    monkeypatch.setattr(metrics, "names", lambda: ["mine"])
    further = replace(point.evaluation, metrics=["mine"])
    result["metrics"] = identity(replace(point, evaluation=further))
    result["sampler"] = identity(
        replace(point, method=UmaxOptions(name="umax", sampler="any", step="gradient"))
    )
    assert len(result) > 20
    same = {name for name in result if list(result.values()).count(result[name]) > 1}
    assert same == {"as it is", "budget.memory"}  # a limit of the machine


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_options_count_of_the_sampler_that_draws(sampler: str, tmp_path: Path) -> None:
    point = settings(tmp_path)

    def identities(drawn_by: str) -> set[str]:
        method = replace(point.method, sampler=drawn_by)
        changed = changed_options(getattr(method, sampler), ())
        methods = [method, *(replace(method, **{sampler: group}) for _, group in changed)]
        return {identity(replace(point, method=it)) for it in methods}

    assert len(identities("others")) == 1
    assert len(identities(sampler)) == len(fields(getattr(point.method, sampler))) + 1


def test_launch_and_paths_are_not_part_of_the_identity(tmp_path: Path) -> None:
    point = settings(tmp_path)
    moved = replace(
        point,
        grid="other",
        plan=True,
        force=True,
        mlflow=False,
        tracking_uri="http://elsewhere",
        save_weights=True,
        fetch=False,
        executor="slurm",
        slurm=Slurm(partition="long"),
        dataset=replace(point.dataset, source=Source(page="elsewhere")),
        data_dir="elsewhere",
        runs_dir=str(tmp_path / "elsewhere"),
        reports_dir="elsewhere",
    )
    assert identity(moved) == identity(point)
    spelled_out = replace(point, method=replace(point.method, lr=jobs([point], False)[0].cell.lr))
    assert identity(spelled_out) == identity(point)
