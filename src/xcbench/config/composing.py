"""From the files under ``conf/`` to a checked `Config`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from xcbench.config.datasets import Dataset
from xcbench.config.launch import Config
from xcbench.options import check


def register() -> None:
    """Make the schemas known to Hydra; the files under ``conf/`` refer to them."""
    store = ConfigStore.instance()
    store.store(group="schema", name="config", node=Config, package="_global_")
    store.store(group="schema/dataset", name="dataset", node=Dataset)


def folder() -> Path:
    """Configuration files: inside the installed package, else at the top of the checkout."""
    inside = Path(__file__).parents[1] / "conf"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "conf"


def program() -> str:
    """Start a launch by this: the script of a checkout, or the command of an installed package."""
    inside = Path(__file__).parents[1] / "conf"
    return "xcbench run" if inside.is_dir() else "python run.py"


def read(composed: DictConfig) -> Config:
    """Turn a composed configuration into a checked `Config`.

    Raises
    ------
    UserError
        If a value is out of range.
    """
    return resolved(typed(composed))


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


def resolved(composed: DictConfig) -> Config:
    """Checked `Config` of a typed configuration.

    Raises
    ------
    UserError
        If a value is out of range.
    """
    settings = OmegaConf.to_object(composed)
    assert isinstance(settings, Config)
    check(settings)
    return settings
