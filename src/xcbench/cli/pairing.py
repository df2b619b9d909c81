"""Cells of two grids in pairs: the same settings, seed by seed, but for what the grids differ in.

A setting differs between two groups of cells if no value of one occurs in the other. Groups are the
cells of one dataset and method, as far as the grids have these in common.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from xcbench.core.metrics import of_column
from xcbench.papers.rows import differences
from xcbench.show.effects import Effect, effect
from xcbench.show.variants import text
from xcbench.store import results
from xcbench.store.cell import ENDED, Cell

Key = tuple[tuple[str, str], ...]  # names of settings with their values in words
GROUPS = ("dataset", "method")
OF_IDENTITY = ("dataset.protocol.", "method.", "budget.", "evaluation.", "dtype")


@dataclass(frozen=True)
class Pair:
    """Cells of two grids with these settings in common, by seed."""

    settings: dict[str, str]
    a: dict[int, Cell]
    b: dict[int, Cell]


@dataclass
class Pairing:
    """The cells of two grids in pairs.

    Attributes
    ----------
    differing : settings in which the grids differ, with their values on either side.
    alone : cells of either side without a partner.
    several : cells of either side that share settings and seed with others of their side.
    """

    pairs: list[Pair] = field(default_factory=list)
    differing: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)
    alone: tuple[list[Cell], list[Cell]] = field(default_factory=lambda: ([], []))
    several: tuple[list[Cell], list[Cell]] = field(default_factory=lambda: ([], []))


def pair(a: Sequence[Cell], b: Sequence[Cell]) -> Pairing:
    """Pair the cells of two grids."""
    identities = {cell.cell: _identity(cell) for cell in (*a, *b)}
    different = _differing(a, b, identities)
    heads = [name for name in GROUPS if name not in different]
    pairing = Pairing()
    for its in _grouped(a, b, lambda cell: _shared(identities[cell.cell], heads)).values():
        _pair_group(pairing, *its, identities)
    return pairing


def _pair_group(
    pairing: Pairing, a: list[Cell], b: list[Cell], identities: Mapping[str, dict[str, str]]
) -> None:
    """Add the pairs of a group, and what has no partner in it."""
    different = _differing(a, b, identities) if a and b else {}
    for name, values in different.items():
        union = pairing.differing.setdefault(name, (set(), set()))
        for identity, more in zip(union, values, strict=True):
            identity.update(more)
    groups = _grouped(
        a, b, lambda cell: _shared(identities[cell.cell], identities[cell.cell].keys() - different)
    )
    for key, sides in groups.items():
        seeds = [{cell.seed: cell for cell in side} for side in sides]
        partners = all(sides)
        if partners and [*map(len, seeds)] == [*map(len, sides)]:
            pairing.pairs.append(Pair(dict(key), *seeds))
            continue
        left_out = pairing.several if partners else pairing.alone
        for cells, side in zip(left_out, sides, strict=True):
            cells.extend(side)


def _identity(cell: Cell) -> dict[str, str]:
    """What identifies a cell besides its seed, in words."""
    settings = results.completed(cell)
    del settings["method.name"]
    of_identity = {name: settings[name] for name in settings if name.startswith(OF_IDENTITY)}
    content = {"dataset": cell.dataset, "method": cell.method, **of_identity, "engine": cell.engine}
    content |= {"method version": cell.method_version, "dataset digest": cell.dataset_digest[:8]}
    return {name: text(value) for name, value in content.items()}


def _differing(
    a: Iterable[Cell], b: Iterable[Cell], identities: Mapping[str, dict[str, str]]
) -> dict[str, tuple[set[str], set[str]]]:
    """Settings of which no value of one side occurs on the other."""
    sides = [[identities[cell.cell] for cell in side] for side in (a, b)]
    names = dict.fromkeys(name for side in sides for settings in side for name in settings)
    values = {
        name: tuple({settings.get(name, "none") for settings in side} for side in sides)
        for name in names
    }
    return {name: (one, other) for name, (one, other) in values.items() if not one & other}


def _grouped(
    a: Iterable[Cell], b: Iterable[Cell], key: Callable[[Cell], Key]
) -> dict[Key, tuple[list[Cell], list[Cell]]]:
    """Cells of either side that have a key in common."""
    groups: dict[Key, tuple[list[Cell], list[Cell]]] = {}
    for place, side in enumerate((a, b)):
        for cell in side:
            groups.setdefault(key(cell), ([], []))[place].append(cell)
    return groups


def _shared(identity: Mapping[str, str], names: Container[str]) -> Key:
    """Some settings of a cell, without those that it does not have."""
    return tuple((name, it) for name, it in identity.items() if name in names and it != "none")


# ---------------------------------------------------------------- what became of the pairs
def changes(pairs: Sequence[Pair], rows: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """A line a pair and metric with a difference b - a in any seed; intervals without 0 first.

    Parameters
    ----------
    rows : frame of the cells, one row a cell.
    """
    by_cell = rows.set_index("cell")
    shown = _labels(pairs)
    lines = [
        {**{name: pair.settings.get(name, "") for name in shown}, **line}
        for pair in pairs
        for metric in metrics
        if (line := _line(pair, by_cell, metric))
    ]
    table = pd.DataFrame(lines)
    return table.sort_values("b is", key=lambda it: it == "", kind="stable") if lines else table


def statuses(pairs: Sequence[Pair]) -> pd.DataFrame:
    """A line for each pair of cells of which one status is not the other's."""
    shown = _labels(pairs)
    return pd.DataFrame(
        {
            **{name: pair.settings.get(name, "") for name in shown},
            **{"seed": seed, "a": pair.a[seed].status, "b": pair.b[seed].status},
        }
        for pair in pairs
        for seed in pair.a.keys() & pair.b.keys()
        if pair.a[seed].status != pair.b[seed].status
    )


def _labels(pairs: Sequence[Pair]) -> list[str]:
    """Dataset, method, and the settings that tell pairs of one dataset and method apart."""
    table = pd.DataFrame([pair.settings for pair in pairs]).fillna("none")
    heads = [name for name in GROUPS if name in table]
    groups = table.groupby(heads) if heads else table.groupby(lambda _: 0)
    several = groups.nunique().gt(1).any() if len(table) else pd.Series(dtype=bool)
    return [*heads, *(str(name) for name, varies in several.items() if varies)]


def _line(pair: Pair, by_cell: pd.DataFrame, metric: str) -> dict[str, object]:
    """Means and effect of a metric; nothing where no seed has a difference."""
    a, b = (_values(side, by_cell, metric) for side in (pair.a, pair.b))
    numbers = differences(b, a)
    if not any(numbers):
        return {}
    it = effect(numbers)
    means = {"metric": metric, "a": a.mean(), "b": b.mean(), "b - a": it.mean}
    return {**means, "low": it.low, "high": it.high, "seeds": it.seeds, "b is": _word(it, metric)}


def _values(side: Mapping[int, Cell], by_cell: pd.DataFrame, metric: str) -> pd.Series:
    """A metric by seed, of the cells that ended."""
    ended = {seed: cell.cell for seed, cell in side.items() if cell.status in ENDED}
    values = {seed: by_cell.at[name, metric] for seed, name in ended.items()}
    return pd.Series(values, dtype=float).dropna()


def _word(it: Effect, metric: str) -> str:
    """Whether b is better, where the interval excludes 0."""
    if not (it.low > 0 or it.high < 0):
        return ""
    return "worse" if it.mean * of_column(metric).direction > 0 else "better"
