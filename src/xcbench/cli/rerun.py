"""Command that reruns a cell, from its settings and the present configuration files."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path

from xcbench import options, plugins
from xcbench.config import composing
from xcbench.config.settings import Config
from xcbench.data import external
from xcbench.errors import UserError
from xcbench.options import Content
from xcbench.store import results
from xcbench.store.cell import Cell
from xcbench.system import yaml_files


def command(cell: Cell, runs_dir: Path) -> str:
    """Command line with every setting that differs from the configuration files."""
    dataset = {**cell.config["dataset"], **cell.launch.get("dataset", {})}
    if cell.shape.get("twin"):
        dataset["name"] = dataset["name"].removesuffix("-twin")
    settings = {**cell.config, **cell.launch, "dataset": dataset, "runs_dir": str(runs_dir)}
    settings["engine"] = cell.engine
    method = settings.pop("method_target", settings["method"]["name"])
    groups = [f"dataset={_dataset(dataset)}"] if _dataset(dataset) else []
    groups.append(f"method={method}")
    default = results.flatten(asdict(_composed(groups) if _ours(method, dataset) else Config()))
    words = [
        _word(name, value)
        for name, value in results.flatten(settings).items()
        if name not in default or default[name] != value
    ]
    return shlex.join([*options.program().split(), *groups, *words, "force=true"])


def _ours(method: str, dataset: Content) -> bool:
    """Whether composing imports nothing from outside, which a cell must not make us do."""
    from xcbench.methods import registry

    return method in registry.builtin() and not _outside(str(dataset.get("reader", "")))


def _outside(reader: str) -> bool:
    return plugins.is_target(reader) or reader in plugins.announced("dataset")


def _dataset(settings: dict[str, object]) -> str | None:
    """Choice of a dataset: the file under ``conf/`` of its name, else of its reader."""
    configurations = {name: yaml_files.load(path) for name, path in external.catalogue().items()}
    for key in ("name", "reader"):
        for stem, content in configurations.items():
            if key in settings and content.get(key) == settings[key]:
                return stem
    reader = str(settings.get("reader", ""))
    return reader if _outside(reader) else None


def _composed(groups: list[str]) -> Config:
    """Settings of a launch with nothing but these groups, or with fewer if one is not here now."""
    from hydra import compose

    from xcbench.plan import sweeps

    try:
        with sweeps.hydra():
            return composing.read(compose("config", overrides=groups))
    except UserError:
        return Config()


def _word(name: str, value: object) -> str:
    """One setting in the syntax of a launch."""
    if isinstance(value, str) and not re.fullmatch(r"[\w./@%+~-]+|\[.*\]", value):
        return f"{name}={json.dumps(value, ensure_ascii=False)}"
    return f"{name}={text(value)}"


def text(value: object) -> str:
    """Format a value for the command line."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
