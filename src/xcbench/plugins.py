"""Plugins: methods, samplers and datasets from outside this package.

A plugin is named by an entry point of an installed package, or by a *target* ``module.name``. The
module is on the Python path or in the working directory. Plugins are imported on demand, so a
broken package fails only the runs that use it. Where a file names a target, `reading` keeps it from
being imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from xcbench.errors import UserError, one_line, suggestion

_loaded: set[tuple[str, str]] = set()  # targets that somebody asked this process for, by kind
# Modules that may be imported while files are read; None where the names are the user's own.
_trusted: ContextVar[frozenset[str] | None] = ContextVar("trusted", default=None)
GROUPS = {"method": "xcbench.methods", "sampler": "xcbench.samplers", "dataset": "xcbench.datasets"}


@dataclass(frozen=True)
class PluginRef:
    """A plugin that was requested.

    Attributes
    ----------
    reference : name or target, from which another process can load it.
    origin : package and version, or module, that it comes from; empty if built in.
    """

    thing: Any
    reference: str
    origin: str = ""

    @property
    def label(self) -> str:
        """Name for messages."""
        return f"{self.reference} ({self.origin})" if self.origin else self.reference


@cache
def announced(kind: str) -> dict[str, list[EntryPoint]]:
    """Entry points of installed packages by name, not loaded."""
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUPS[kind]):
        entries.setdefault(entry.name, []).append(entry)
    return entries


def is_target(reference: str) -> bool:
    """Whether this is a target ``module.name`` rather than a name."""
    return "." in reference


def refuse_clash(kind: str, name: str) -> None:
    """Refuse a built-in name that an installed package announces too.

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


@contextmanager
def reading(trust: Iterable[str] = ()) -> Iterator[None]:
    """Context in which names come from files: no target is imported.

    Parameters
    ----------
    trust : modules that may be imported all the same, besides those of an outer context.
    """
    token = _trusted.set((_trusted.get() or frozenset()) | frozenset(trust))
    try:
        yield
    finally:
        _trusted.reset(token)


def find(kind: str, reference: str, ours: tuple[str, ...] = ()) -> PluginRef:
    """Load the plugin of a name or target; a misspelt name gets a suggestion from ``ours``.

    Raises
    ------
    UserError
        If there is no such plugin, more than one, it cannot be imported, or a file names a target
        that is not trusted.
    """
    trusted, target = _trusted.get(), is_target(reference)
    if target and trusted is not None and (kind, reference) not in _loaded:
        where = module(kind, reference)
        if where not in trusted:
            raise UserError(
                f"a file names the {kind} {reference}, which is neither xcbench's own nor an "
                f"installed package's, and may be any code; if you trust it, add trust={where}"
            )
    return _find(kind, reference, ours)


@cache
def _find(kind: str, reference: str, ours: tuple[str, ...]) -> PluginRef:
    if is_target(reference):
        return _target(kind, reference)
    entries = announced(kind).get(reference, [])
    if not entries:
        meant = suggestion(reference, [*ours, *announced(kind)])
        names = ", ".join([*ours, *announced(kind)]) or "none"
        raise UserError(f"unknown {kind} '{reference}'{meant or f'; {kind}s: {names}'}")
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


def usable(kind: str) -> list[str]:
    """Names and targets that may be loaded without being asked for: announced, or loaded before.

    Nothing else that a file names is imported.
    """
    return [*announced(kind), *(reference for its, reference in _loaded if its == kind)]


def module(kind: str, reference: str) -> str:
    """Name of the module that a name or a target stands for, which is not imported."""
    if is_target(reference):
        return reference.rpartition(".")[0]
    return next((entry.module for entry in announced(kind).get(reference, [])), "")


def failure(error: BaseException) -> str:
    """Describe an exception of a plugin in one line."""
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
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            raise UserError(
                f"{kind} {target}: there is no module {missing} on the Python path "
                "or in this folder; correct the name, or go where it is"
            ) from None
        raise UserError(
            f"{kind} {target}: module {name} cannot be imported: {failure(error)}"
        ) from None
    if not hasattr(module, attribute):
        raise UserError(f"{kind} {target}: module {name} has no '{attribute}'")
    _loaded.add((kind, target))
    return PluginRef(getattr(module, attribute), target, f"module {name}")
