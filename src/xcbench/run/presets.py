"""Presets of the papers: ``conf/paper/NAME.yaml`` as Hydra's groups variant, rates and experiment.

A file has three parts. ``variants`` are settings of a paper, with those of a dataset or a method
below ``datasets`` and ``methods``. ``rates`` are its learning rates. ``experiments`` list what they
sweep. ``variant=umax/code``, ``rates=umax/table2`` and ``experiment=umax/figure2`` each choose one
entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from xcbench import options

PARTS = {"variant": "variants", "rates": "rates", "experiment": "experiments"}
BELOW = {"variant_dataset": "datasets", "variant_method": "methods"}
GROUPS = (*PARTS, *BELOW)


def names(group: str, paper: str = "") -> list[str]:
    """Choices of a group, such as ``umax/figure2``; for one paper, without its name."""
    prefix = f"{paper}/" if paper else ""
    return sorted(name.removeprefix(prefix) for name, _ in _entries(group, paper))


def find(group: str, name: str) -> DictConfig | None:
    """Settings of a preset, for the top level of a configuration; None if there is none."""
    paper, _, preset = name.partition("/")
    if not preset:
        return None
    entry = next((entry for key, entry in _entries(group, paper) if key == name), None)
    if entry is None:
        return None
    entry = entry.copy()
    for part in BELOW.values():
        entry.pop(part, None)
    if group == "experiment":
        swept = entry.pop("sweep", {})
        defaults = {
            "grid": name.replace("/", "-"),
            "hydra": {"mode": "MULTIRUN", "sweeper": {"params": swept}},
        }
        entry = {**defaults, **entry}
    settings = OmegaConf.create(entry)
    assert isinstance(settings, DictConfig)
    return settings


@cache
def _content(path: Path, changed: int) -> dict[str, Any]:
    """A file's parts; read again when it has changed."""
    content = OmegaConf.to_container(OmegaConf.load(path))
    assert isinstance(content, dict)
    return {str(part): entries for part, entries in content.items()}


def _entries(group: str, paper: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Presets of a group with their names; of one paper, or of all without its name."""
    for path in sorted((options.folder() / "paper").glob("*.yaml")):
        if paper not in ("", path.stem):  # parsing one takes a tenth of a second
            continue
        content = _content(path, path.stat().st_mtime_ns)
        for name, entry in content.get(PARTS.get(group, "variants"), {}).items():
            if group in PARTS:
                yield f"{path.stem}/{name}", entry
            else:
                for preset, below in entry.get(BELOW[group], {}).items():
                    yield f"{path.stem}/{name}/{preset}", below
