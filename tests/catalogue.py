"""Datasets as the configuration files describe them, the toy dataset among them."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from xcbench import options
from xcbench.config import composing
from xcbench.core.dataset import Info
from xcbench.data import load, prepare
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError

TOY = (
    "dataset=eurlex", "dataset.name=toy", "dataset.folders=[toy]",
    "dataset.files={train: a.txt, test: b.txt}", "dataset.missing=error",
    "dataset.expected={train: 0, test: 0, features: 0, labels: 0}",
)  # fmt: skip


@functools.cache
def composed(*overrides: str) -> DatasetSettings:
    composing.register()
    with initialize_config_dir(str(options.folder()), version_base=None):
        return composing.read(compose("config", list(overrides))).dataset


def refusal(settings: DatasetSettings, data_dir: Path, cache_dir: Path) -> str:
    with pytest.raises(UserError) as caught:
        prepare(settings, data_dir, cache_dir)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def loaded(settings: DatasetSettings, data_dir: Path, cache_dir: Path):
    info = prepare(settings, data_dir, cache_dir)
    assert isinstance(info, Info)
    return info, load(info, cache_dir)
