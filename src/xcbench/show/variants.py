"""Labels of variants; cells that differ in a setting never share a label.

A label is the name and the settings in which cells of that name differ: ``umax (negatives=5)``.
Dataset settings are compared within a dataset, method settings within a method. Run settings
(budget, engine, precision) are compared within a method on one dataset. Learning rate and seed make
no variant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from xcbench.store.cell import Cell

UNKNOWN = ""


def label(rows: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """Add ``dataset_label`` and ``method_label`` to the frame of cells.

    The version of the method and the digest of the data count as settings ``method.version`` and
    ``dataset.digest``.
    """
    version = rows["cell"].map({cell.cell: cell.method_version for cell in cells})
    digest = rows["cell"].map({cell.cell: cell.dataset_digest[:8] for cell in cells})
    rows = rows.copy()
    rows["method.version"], rows["dataset.digest"] = version, digest
    of_data, of_method, of_run = split(rows)
    rows["dataset_label"] = _join(rows["dataset"], _differences(rows, ["dataset"], of_data))
    rows["method_label"] = _join(
        rows["method"],
        _differences(rows, ["method"], of_method),
        _differences(rows, ["dataset_label", "method"], of_run),
    )
    return rows


def split(rows: pd.DataFrame) -> tuple[list[str], list[str], list[str]]:
    """Columns with settings of the dataset, of the method, and of the run."""
    dotted = [str(name) for name in rows if "." in str(name)]
    of_data = [name for name in dotted if name.startswith("dataset.")]
    of_method = [name for name in dotted if name.startswith("method.")]
    of_run = ["engine", *(name for name in dotted if name not in {*of_data, *of_method})]
    return of_data, of_method, of_run


def pairs(row: pd.Series, columns: Iterable[str]) -> list[str]:
    """List settings of a row as ``name=value``, by the last part of the names if distinct."""
    names = list(columns)
    return _pairs(row[names].map(text).to_frame().T, names)[0]


def _pairs(shown: pd.DataFrame, names: list[str]) -> list[list[str]]:
    """`pairs` of every row of settings in words."""
    short = [name.rsplit(".", 1)[-1] for name in names]
    if len(set(short)) < len(short):
        short = names
    return [
        [f"{key}={value or 'unknown'}" for key, value in zip(short, row, strict=True)]
        for row in shown[names].to_numpy(object)  # one without names has no tuples
    ]


def text(value: object) -> str:
    """Format a setting: numbers without trailing zeros, booleans as in YAML."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if value is None or (isinstance(value, float) and value != value):
        return "none"
    if isinstance(value, int | float):
        return f"{value:.10g}"
    return str(value)


def natural(name: str) -> list[int | str]:
    """Key to sort names with numbers in them: ``negatives=5`` before ``negatives=10``."""
    return [
        int(part) if odd % 2 else part.lower() for odd, part in enumerate(re.split(r"(\d+)", name))
    ]


def differing(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Columns with more than one known value."""
    return [name for name in columns if len(set(rows[name].map(text)) - {UNKNOWN}) > 1]


def _differences(rows: pd.DataFrame, by: list[str], columns: list[str]) -> pd.Series:
    """For each row, the settings in which the rows that agree with it in ``by`` differ."""
    shown = rows[columns].map(text)
    values = shown.where(shown != UNKNOWN)
    several = values.groupby([rows[name] for name in by]).nunique() > 1
    parts = []
    for key, group in shown.groupby([rows[name] for name in by]):
        names = [name for name in columns if several.at[key if len(by) > 1 else key[0], name]]
        parts.append(pd.Series(_pairs(group, names), group.index))
    return pd.concat(parts).reindex(rows.index)


def _join(names: pd.Series, *differences: pd.Series) -> list[str]:
    labels = []
    for name, *parts in zip(names, *differences, strict=True):
        settings = ", ".join(pair for part in parts for pair in part)
        labels.append(f"{name} ({settings})" if settings else str(name))
    return labels
