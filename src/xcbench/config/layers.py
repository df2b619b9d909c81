"""What Hydra composes of an experiment, laid together without it.

Hydra takes a tenth of a second for each dataset and method of a paper, of which there are hundreds.
Their layers are few: they are read once, and laid over one another in the order of
``conf/config.yaml``. Whatever else is chosen is left to Hydra.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from typing import cast

from hydra import compose
from omegaconf import OmegaConf

from xcbench import options
from xcbench.config import composing, presets
from xcbench.data import external
from xcbench.methods import registry
from xcbench.options import Content
from xcbench.system import yaml_files

PRESETS = ("variant", "variant_method", "variant_dataset", "rates")  # the later ones over the first
CHOICES = {"experiment", "dataset", "method", "variant", "rates"}


def lay(choices: Mapping[str, str]) -> Content | None:
    """Configuration of an experiment with these groups, ``${...}`` as it stands, inside Hydra.

    Parameters
    ----------
    choices : of experiment, dataset and method, perhaps also of variant and rates.

    Returns
    -------
    dict or None
        None if something chosen is no preset, or no dataset or method of ours.
    """
    name, dataset, method = (
        choices.get(group, "") for group in ("experiment", "dataset", "method")
    )
    ours = dataset in external.catalogue() and method in registry.builtin()
    if not name or not ours or choices.keys() - CHOICES:
        return None
    preset = presets.entry("experiment", name)
    chosen = {**presets.chosen(preset or {}), **choices}
    if variant := chosen.get("variant"):
        chosen["variant_method"] = f"{variant}/{method}"
        chosen["variant_dataset"] = f"{variant}/{dataset}"
    layers = [_defaults(), {**_file("dataset", dataset), "method": _options(method)}]
    for group in filter(chosen.get, PRESETS):
        entry = presets.entry(group, chosen[group])
        if entry is None and group in choices:
            return None
        layers.append(presets.settings(group, chosen[group], entry or {}))
    preset_settings = (
        presets.settings("experiment", name, preset) if preset else _file("experiment", name)
    )
    layers += [preset_settings, _of_every_cell()]
    return reduce(presets.over, layers)


def _file(group: str, name: str) -> Content:
    """What a file sets by itself; composed again when it has changed."""
    path = options.folder() / group / f"{name}.yaml"
    return _composed(f"{group}/{name}", str(path), path.stat().st_mtime_ns)


@cache
def _composed(name: str, path: str, changed: int) -> Content:
    return _plain(compose(name))


@cache
def _options(method: str) -> Content:
    """Options of a method with their defaults."""
    return _plain(OmegaConf.structured(registry.builtin()[method].schema(name=method)))


@cache
def _defaults() -> Content:
    return _plain(composing.schema())


def _of_every_cell() -> Content:
    """What ``config.yaml`` sets itself, over all else."""
    content = _plain(yaml_files.load(options.folder() / "config.yaml"))
    return {key: value for key, value in content.items() if key not in ("defaults", "hydra")}


def _plain(config: object) -> Content:
    content = cast(Content, OmegaConf.to_container(config, resolve=False))
    return {str(key): value for key, value in content.items()}
