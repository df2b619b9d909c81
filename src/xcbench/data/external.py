"""A dataset from outside: its settings and its reader, found through `xcbench.plugins`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench import options, plugins
from xcbench.core.dataset import Raw
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError
from xcbench.plugins import PluginRef, failure

Read = Callable[[dict[str, Path], DatasetSettings], tuple[Raw, Raw]]


@dataclass(frozen=True)
class External:
    """A dataset from outside.

    Attributes
    ----------
    settings : its name, and whatever differs from the defaults: files, protocol, expected shape.
    read : function of file paths by role, and settings, that gives training and test rows.
    version : version of its content; a change invalidates the cache and changes identities.
    """

    settings: DatasetSettings
    read: Read
    version: int = 1

    @property
    def name(self) -> str:
        """Name in commands, tables and figures."""
        return self.settings.name


def catalogue() -> dict[str, Path]:
    """Configuration files of the built-in datasets, by name in order."""
    return {path.stem: path for path in sorted((options.folder() / "dataset").glob("*.yaml"))}


def find(reference: str) -> PluginRef:
    """Find a dataset plugin by name or target.

    Raises
    ------
    UserError
        If there is none, its name is taken, or a part of it is missing.
    """
    plugin = plugins.find("dataset", reference)
    thing, who = plugin.thing, f"dataset {plugin.label}"
    if not isinstance(thing, External):
        raise UserError(f"{who} is a {type(thing).__name__}, it must be xcbench.data.External")
    if not isinstance(thing.settings, DatasetSettings) or not callable(thing.read):
        raise UserError(f"{who}: its settings must be a DatasetSettings, its read a function")
    if not isinstance(thing.version, int):
        raise UserError(f"{who}: its version is {thing.version!r}, it must be a whole number")
    if thing.name in catalogue():
        raise UserError(f"{who} has the name '{thing.name}' of a dataset of xcbench; rename it")
    if not plugins.is_target(reference) and thing.name != reference:
        raise UserError(f"{who} calls itself '{thing.name}'; both must be the same")
    return plugin


def settings(reference: str) -> DatasetSettings:
    """Default settings of a dataset plugin."""
    return replace(find(reference).thing.settings, reader=reference)


def external(settings: DatasetSettings) -> PluginRef | None:
    """Find the dataset plugin that settings belong to, if any."""
    if settings.reader in READERS:
        return None
    if plugins.is_target(settings.reader) or settings.reader in plugins.announced("dataset"):
        return find(settings.reader)
    return None


def read(plugin: PluginRef, paths: dict[str, Path], settings: DatasetSettings) -> tuple[Raw, Raw]:
    """Rows of a dataset plugin.

    Raises
    ------
    UserError
        If its reader fails, or returns anything but two valid `Raw`.
    """
    who = f"dataset {plugin.label}"
    try:
        parts = plugin.thing.read(paths, settings)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{who}: its reader failed: {failure(error)}") from error
    if not isinstance(parts, tuple) or [type(part) for part in parts] != [Raw, Raw]:
        raise UserError(f"{who}: its reader must give two Raw, the training and the test rows")
    for part, name in zip(parts, ("training", "test"), strict=True):
        problem = _problem(part)
        if problem:
            raise UserError(f"{who}: in its {name} rows {problem}")
    return parts


def _problem(raw: Raw) -> str:
    """What is wrong with rows, or nothing."""
    X, start, labels = raw.X, np.asarray(raw.label_start), np.asarray(raw.labels)
    if not isinstance(X, np.ndarray | sp.csr_array) or X.ndim != 2:
        return f"X is a {type(X).__name__}, it must be a matrix: a NumPy array or a SciPy csr_array"
    values = X if isinstance(X, np.ndarray) else X.data
    if not np.issubdtype(values.dtype, np.number) or not np.isfinite(values).all():
        return "X has values that are not finite numbers"
    if start.shape != (X.shape[0] + 1,) or start[0] != 0 or (np.diff(start) < 0).any():
        return f"label_start must count the labels up to each of the {X.shape[0]} rows, from 0"
    if labels.shape != (start[-1],):
        return f"there are {labels.size} labels, label_start says {start[-1]}"
    if len(labels) and not np.issubdtype(labels.dtype, np.integer):
        return f"labels are {labels.dtype}, they must be whole numbers"
    if len(labels) and not 0 <= labels.min() <= labels.max() < raw.n_labels:
        return (
            f"labels lie between {labels.min()} and {labels.max()}, "
            f"n_labels={raw.n_labels} says between 0 and {raw.n_labels - 1}"
        )
    return ""
