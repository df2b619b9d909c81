"""From the files under ``conf/`` to a checked `Config`."""

from __future__ import annotations

from dataclasses import Field, fields
from functools import cache
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from xcbench.data.settings import DatasetSettings
from xcbench.options import check_value
from xcbench.run.settings import Config


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
    whole = typed(composed)
    return Config(**{entry.name: part(whole, entry) for entry in fields(Config)})


def typed(composed: DictConfig) -> DictConfig:
    """Our own part of a composed configuration, with the type of every option."""
    own = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    made = OmegaConf.merge(_schema(), own)
    assert isinstance(made, DictConfig)
    return made


@cache
def _schema() -> DictConfig:
    made = OmegaConf.structured(Config)
    assert isinstance(made, DictConfig)
    return made


def part(composed: DictConfig, entry: Field[Any]) -> Any:
    """Checked value of one field of `Config` in a typed configuration.

    Raises
    ------
    UserError
        If it is out of range.
    """
    value = composed[entry.name]
    made = OmegaConf.to_object(value) if OmegaConf.is_config(value) else value
    check_value(entry, made)
    return made
