"""Configurations of finite measure: YAML files whose aliases, told in full, stay small.

An alias stands for all that it names. Thirty lines, each with two aliases of the one before, are a
billion entries once they are told in full, as OmegaConf does. So entries are counted while a file
is read, before any is made.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]
from omegaconf import _utils

from xcbench.errors import UserError
from xcbench.units import MIB

ENTRIES = 20_000  # ours have 3,000 at most
DEPTH = 50  # ours have 10
BYTES = MIB
ORIGINAL = _utils.get_yaml_loader


def register() -> None:
    """Make OmegaConf, and so Hydra, read by these limits."""
    _utils.get_yaml_loader = _loader


@cache
def _loader() -> Any:
    class Measured(_Measured, ORIGINAL()):  # type: ignore[misc]
        """The loader of OmegaConf, with limits."""

    return Measured


class _Measured:
    """Counts entries, and how deep they are, while a loader composes them."""

    def __init__(self, stream: Any) -> None:
        self.source = str(getattr(stream, "name", "a configuration"))
        self.number, self.depth = 0, 0
        self.measures: dict[int, tuple[int, int]] = {}  # by node: entries in full, levels
        if _size(stream) > BYTES:
            self._refuse(f"has more than {BYTES // MIB} MiB")
        super().__init__(stream)  # type: ignore[call-arg]

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose an entry, unless there are too many."""
        loader: Any = super()
        if loader.check_event(yaml.AliasEvent):
            node = loader.compose_node(parent, index)
            if id(node) not in self.measures:
                self._refuse("has an alias within what it names")
            return node
        self.number += 1
        self.depth += 1
        self._check(self.number, self.depth)
        node = loader.compose_node(parent, index)
        self.depth -= 1
        inner = [self.measures[id(child)] for child in _children(node)]
        entries = 1 + sum(number for number, _ in inner)
        levels = 1 + max((level for _, level in inner), default=0)
        self._check(entries, levels)
        self.measures[id(node)] = entries, levels
        return node

    def _check(self, entries: int, levels: int) -> None:
        if entries > ENTRIES:
            self._refuse(f"has more than {ENTRIES:,} entries, its aliases told in full")
        if levels > DEPTH:
            self._refuse(f"is nested more than {DEPTH} levels deep")

    def _refuse(self, why: str) -> NoReturn:
        raise UserError(f"{self.source} {why}; no configuration needs that")


def _children(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _size(stream: Any) -> int:
    """Bytes of a file, or of a text."""
    if hasattr(stream, "fileno"):
        return os.fstat(stream.fileno()).st_size
    return len(stream) if isinstance(stream, str | bytes) else 0
