"""From the files under ``conf/`` to a checked `Config`."""

from __future__ import annotations

from dataclasses import Field, fields, make_dataclass
from functools import cache
from typing import cast, get_type_hints

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from xcbench.config.settings import Config
from xcbench.data.settings import DatasetSettings
from xcbench.options import Options, check_value


def register() -> None:
    """Make the schemas known to Hydra; the files under ``conf/`` refer to them."""
    store = ConfigStore.instance()
    store.store(group="schema", name="config", node=Config, package="_global_")
    store.store(group="schema/dataset", name="dataset", node=DatasetSettings)


def read(composed: DictConfig) -> Config:
    """Turn a composed configuration into a checked `Config`.

    Raises
    ------
    UserError
        If a value is out of range.
    """
    node = typed(composed)
    return Config(**{entry.name: part(node, entry) for entry in fields(Config)})


def typed(composed: DictConfig) -> DictConfig:
    """Our own part of a composed configuration, with the type of every option."""
    ours = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    return cast(DictConfig, OmegaConf.merge(schema(), ours))


@cache
def schema() -> DictConfig:
    """Our options with their types and defaults."""
    return OmegaConf.structured(Config)


@cache
def schema_of(name: str) -> DictConfig:
    """Schema of one part of `Config`; other keys are allowed."""
    alone = OmegaConf.structured(make_dataclass("Config", [(name, get_type_hints(Config)[name])]))
    OmegaConf.set_struct(alone, False)
    return alone


def part(composed: DictConfig, entry: Field[object]) -> Options:
    """Checked value of one field of `Config` in a typed configuration.

    Raises
    ------
    UserError
        If it is out of range.
    """
    node = composed[entry.name]
    value = OmegaConf.to_object(node) if OmegaConf.is_config(node) else node
    check_value(entry, value)
    return value
