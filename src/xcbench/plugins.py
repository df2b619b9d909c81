"""Plugins: methods, samplers and datasets that others wrote, from outside this package.

A thing has a name that an installed package announces by an entry point, or it is a *target*,
``module.thing``, of a module on the Python path or in the working directory. Nothing is imported
before it is asked for, so a broken package costs only the runs that use it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from xcbench.errors import UserError, one_line, suggestion

GROUPS = {"method": "xcbench.methods", "sampler": "xcbench.samplers", "dataset": "xcbench.datasets"}


@dataclass(frozen=True)
class PluginRef:
    """Something that was asked for.

    Attributes
    ----------
    reference : what names it to another process: its name, or its target.
    origin : package and version or module it comes from; empty for our own.
    """

    thing: Any
    reference: str
    origin: str = ""

    @property
    def label(self) -> str:
        """As sentences name it."""
        return f"{self.reference} ({self.origin})" if self.origin else self.reference


@cache
def announced(kind: str) -> dict[str, list[EntryPoint]]:
    """Entry points of installed packages by name, not yet loaded."""
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUPS[kind]):
        entries.setdefault(entry.name, []).append(entry)
    return entries


def is_target(reference: str) -> bool:
    """Whether this is ``module.thing`` rather than a name."""
    return "." in reference


def refuse_clash(kind: str, name: str) -> None:
    """Refuse the name of one of ours if a package announces it too.

    Raises
    ------
    UserError
        If there is such a package.
    """
    for entry in announced(kind).get(name, []):
        raise UserError(
            f"{kind} {name} is xcbench's own, but {_package(entry)} announces one of this name "
            "too; rename that one, or uninstall its package"
        )


@cache
def find(kind: str, reference: str, ours: tuple[str, ...] = ()) -> PluginRef:
    """Load what a name or a target stands for; ``ours`` are names that a mistake may mean.

    Raises
    ------
    UserError
        If there is no such thing, more than one, or it cannot be imported.
    """
    if is_target(reference):
        return _target(kind, reference)
    entries = announced(kind).get(reference, [])
    if not entries:
        meant = suggestion(reference, [*ours, *announced(kind)])
        known = ", ".join([*ours, *announced(kind)]) or "none"
        raise UserError(f"unknown {kind} '{reference}'{meant or f'; {kind}s: {known}'}")
    packages = [_package(entry) for entry in entries]
    if len(entries) > 1:
        raise UserError(
            f"{kind} {reference} is announced by {' and by '.join(packages)}; uninstall one of them"
        )
    try:
        thing = entries[0].load()
    except (Exception, SystemExit) as error:
        raise UserError(
            f"{kind} {reference} of {packages[0]} cannot be loaded from {entries[0].value}: "
            f"{failure(error)}"
        ) from None
    return PluginRef(thing, reference, f"{packages[0]}, {entries[0].value}")


def failure(error: BaseException) -> str:
    """An exception of code from outside, in one line."""
    return f"{type(error).__name__}: {one_line(error)}".removesuffix(": ")


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package without a name"


def _target(kind: str, target: str) -> PluginRef:
    name, _, attribute = target.rpartition(".")
    if not all(part.isidentifier() for part in target.split(".")):
        raise UserError(f"{kind} {target} is not possible: a target is written module.thing")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise UserError(
                f"{kind} {target}: module {name} cannot be imported: {failure(error)}"
            ) from None
        raise UserError(
            f"{kind} {target}: there is no module {error.name} on the Python path "
            "or in this folder; correct the name, or go where it is"
        ) from None
    except (Exception, SystemExit) as error:
        raise UserError(
            f"{kind} {target}: module {name} cannot be imported: {failure(error)}"
        ) from None
    if not hasattr(module, attribute):
        raise UserError(f"{kind} {target}: module {name} has no '{attribute}'")
    return PluginRef(getattr(module, attribute), target, f"module {name}")
