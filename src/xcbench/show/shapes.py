"""A printed table in the paper's own shape: what is printed and what was measured in one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from xcbench.show.colours import verdict_class
from xcbench.show.formats import NONE

NAMES = ("dataset", "method", "metric")  # of a printed number
Key = tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A cell: the numbers as text, the verdict, and the place of its details on the page."""

    printed: str
    measured: str
    verdict: str
    anchor: str

    @property
    def kind(self) -> str:
        """CSS class of the verdict."""
        return verdict_class(self.verdict)


@dataclass(frozen=True)
class Shape:
    """A table with several rows of headings.

    Attributes
    ----------
    corner : names of what the first cells of a row say.
    heads : the rows of headings, each of texts and how many columns they span.
    body : first cells of a row, and one entry a column, None where nothing is printed.
    """

    corner: list[str]
    heads: list[list[tuple[str, int]]]
    body: list[tuple[Key, list[Entry | None]]]

    @property
    def measured(self) -> bool:
        """Whether any of its numbers was measured."""
        return any(entry.measured != NONE for _, line in self.body for entry in line if entry)


def shaped(rows: pd.DataFrame, entries: Sequence[Entry], columns: Sequence[str]) -> Shape:
    """Arrange printed numbers.

    Parameters
    ----------
    rows : of the replication table.
    entries : their cells.
    columns : which of `NAMES` stand above the columns, from above to below; the others stand at
        the left. Names that all numbers share are left out.
    """
    several = [name for name in NAMES if rows[name].nunique() > 1]
    left = [name for name in NAMES if name not in columns and name in several] or ["dataset"]
    above = [name for name in columns if name in several] or list(columns[:1])
    cells = {
        (_key(record, left), _key(record, above)): entry
        for record, entry in zip(rows.to_dict("records"), entries, strict=True)
    }
    side = list(dict.fromkeys(at for at, _ in cells))
    top = _grouped(list(dict.fromkeys(over for _, over in cells)))
    heads = [
        [(key[-1], len(list(group))) for key, group in groupby(top, key=lambda k: k[: level + 1])]
        for level in range(len(above))
    ]
    return Shape(left, heads, [(at, [cells.get((at, over)) for over in top]) for at in side])


def _grouped(keys: list[Key]) -> list[Key]:
    """Columns of one heading side by side, in the order in which the headings come first."""
    first = list(dict.fromkeys(key[0] for key in keys))
    return sorted(keys, key=lambda key: first.index(key[0]))


def _key(record: dict[Any, object], names: Sequence[str]) -> Key:
    return tuple(str(record[name]).replace("_", " ") or NONE for name in names)
