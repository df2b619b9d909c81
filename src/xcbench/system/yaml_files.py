"""YAML files of finite measure: those whose aliases, told in full, stay small.

An alias stands for all that it names. Thirty lines, each with two aliases of the one before, are a
billion entries once they are told in full, as OmegaConf does. So the entries of a file are counted
before any is made.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml  # type: ignore[import-untyped]
from omegaconf import DictConfig, OmegaConf

from xcbench.errors import UserError, one_line
from xcbench.units import MIB

ENTRIES = 20_000  # ours have 3,000 at most
DEPTH = 50  # ours have 10
BYTES = MIB
FASTEST = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class Measure(NamedTuple):
    """Size of a node: its entries with those that its aliases stand for, and its levels."""

    entries: int = 1
    levels: int = 1

    def around(self, child: Measure) -> Measure:
        """Measure of a node with one more child."""
        return Measure(self.entries + child.entries, max(self.levels, 1 + child.levels))


def load(path: Path) -> DictConfig:
    """Mapping in a file; a file that has not changed is parsed once.

    Raises
    ------
    UserError
        If it is larger than a configuration is, or no mapping.
    YAMLError, OSError
        If it cannot be read.
    """
    status = path.stat()
    return copy.deepcopy(_parsed(path, status.st_mtime_ns, status.st_size))


def plain(path: Path) -> dict[str, Any]:
    """As `load`, in plain dictionaries and lists."""
    return cast("dict[str, Any]", OmegaConf.to_container(load(path)))


@cache
def _parsed(path: Path, changed: int, size: int) -> DictConfig:
    check(path)
    content = OmegaConf.load(path)
    if not isinstance(content, DictConfig):
        raise UserError(f"{path} is not a mapping of names to values")
    return content


def check(path: Path) -> None:
    """Refuse a file that is larger than a configuration is.

    Raises
    ------
    UserError
        If it is, or is not YAML.
    OSError
        If it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read(BYTES + 1)
        if len(text) > BYTES:
            raise ValueError(f"has more than {BYTES // MIB} MiB")
        _measure(yaml.parse(text, Loader=FASTEST))
    except yaml.YAMLError as error:
        raise UserError(f"{path} cannot be read: {one_line(error)}") from None
    except ValueError as error:
        raise UserError(f"{path} {error}; no configuration needs that") from None


def check_folder(folder: Path) -> None:
    """`check` every YAML file in a folder and below it."""
    for path in sorted(folder.rglob("*.yaml")):
        check(path)


def _measure(events: Iterable[yaml.Event]) -> None:
    """Count the entries of a document while it is read."""
    anchors: dict[str, Measure] = {}
    open_nodes: list[tuple[str | None, Measure]] = []  # from the outermost on, with their anchors
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, Measure()))
            _limit(Measure(levels=len(open_nodes)))
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, node = open_nodes.pop()
        elif isinstance(event, yaml.ScalarEvent):
            anchor, node = event.anchor, Measure()
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == outer for outer, _ in open_nodes):
                raise ValueError("has an alias within what it names")
            anchor, node = None, anchors.get(event.anchor, Measure())  # an unknown one fails later
        else:
            continue
        if anchor:
            anchors[anchor] = node
        if open_nodes:
            outer, inner = open_nodes[-1]
            open_nodes[-1] = outer, _limit(inner.around(node))


def _limit(measure: Measure) -> Measure:
    """The measure of a node that is not too large.

    Raises
    ------
    ValueError
        If it is.
    """
    if measure.entries > ENTRIES:
        raise ValueError(f"has more than {ENTRIES:,} entries, its aliases told in full")
    if measure.levels > DEPTH:
        raise ValueError(f"is nested more than {DEPTH} levels deep")
    return measure
