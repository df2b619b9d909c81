"""The tidy frame: one row a cell, or one row a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pandas as pd

from xcbench.config.settings import Budget, Evaluation
from xcbench.data.settings import Protocol
from xcbench.errors import UserError, suggestion
from xcbench.methods.options import AUTO
from xcbench.options import Content
from xcbench.store import cells, checkpoints, grids
from xcbench.store.cell import CURVE_COLUMNS, Cell

HEAD = ["cell", "status", "dataset", "method", "lr", "seed", "engine"]
COLUMNS = [*HEAD, *CURVE_COLUMNS]
BY = "lr_by"  # column: AUTO where trials found the rate of a cell


def frame(
    cells: Iterable[Cell], curves: bool = False, checkpoint: str = checkpoints.LAST
) -> pd.DataFrame:
    """Tidy frame of cells.

    Parameters
    ----------
    cells : the cells.
    curves : one row a checkpoint instead of one row a cell.
    checkpoint : rule for the checkpoint of a cell's row, see `checkpoints.of`.

    Returns
    -------
    DataFrame
        First `COLUMNS`, then `BY` if trials found a rate, metrics of the method, then settings
        under dotted names (``method.negatives``), then ``message``. Losses and bounds are means
        per sample in nats, without l2 penalty; errors are fractions. A cell without a curve has
        one row with empty metrics.
    """
    rows: list[Content] = []
    for cell in cells:
        content = {**vars(cell), "lr": cell.lr}
        head = {name: content[name] for name in HEAD}
        head |= {BY: AUTO} if cell.config.get("method", {}).get("lr") == AUTO else {}
        tail = {**settings(cell), "message": cell.message}
        points = cell.curve.to_numpy(object).tolist()  # column by column takes five times as long
        names = list(map(str, cell.curve.columns))
        at = checkpoints.of(cell, checkpoint).place
        for point in (points if curves else points[at : at + 1]) or [[]]:
            rows.append({**head, **dict(zip(names, point, strict=False)), **tail})
    if not rows:
        return pd.DataFrame(columns=COLUMNS)
    table = pd.DataFrame(rows)
    table["lr"] = table["lr"].astype(float)
    table["message"] = pd.Series([row["message"] for row in rows], dtype=object)  # None stays None
    common = {*COLUMNS, "message"}
    columns = [name for name in table if name not in common and "." not in str(name)]
    options = [name for name in table if "." in str(name)]
    table = table.reindex(columns=[*COLUMNS, *columns, *options, "message"])
    return table.sort_values(["dataset", "method", "lr", "seed"], kind="stable", ignore_index=True)


def settings(cell: Cell) -> Content:
    """Settings of a cell under dotted names, without those with a separate column."""
    flat = completed(cell)
    for name in ("dataset.name", "method.name", "method.lr", "seed"):
        flat.pop(name, None)
    return {name if "." in name else f"run.{name}": value for name, value in flat.items()}


def completed(cell: Cell) -> dict[str, object]:
    """Settings of a cell under dotted names, with defaults for options newer than the cell."""
    return {**_defaults(), **flatten(cell.config)}


@cache
def _defaults() -> Content:
    defaults = {
        "dataset": {"protocol": asdict(Protocol())},
        "budget": asdict(Budget()),
        "evaluation": asdict(Evaluation()),
    }
    return flatten(defaults)


def flatten(nested: Content, prefix: str = "") -> Content:
    """``{"a": {"b": 1}}`` as ``{"a.b": 1}``; lists become text."""
    flat: dict[str, object] = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return flat


def select(runs_dir: Path, filters: dict[str, str]) -> list[Cell]:
    """Cells that meet every filter.

    Parameters
    ----------
    runs_dir : where the cells are.
    filters : column name to comma-separated accepted values; ``grid`` selects cells by names of
        launches.

    Raises
    ------
    UserError
        If a filter names no column or an unknown grid.
    """
    remaining = dict(filters)
    members = grids.members(runs_dir, remaining.pop("grid")) if "grid" in remaining else None
    candidates = list(cells.load_all(runs_dir, members))
    if not remaining:
        return candidates
    rows = frame(candidates)
    keep = pd.Series(True, index=rows.index)
    for column, accepted in remaining.items():
        if column not in rows.columns:
            names = list(map(str, rows.columns))
            remedy = suggestion(column, names) or f"; columns are: {', '.join(names)}"
            raise UserError(f"no column '{column}' to filter by{remedy}")
        keep &= rows[column].map(lambda value, a=accepted: _matches(value, a.split(",")))
    chosen = set(rows.loc[keep, "cell"])
    return [cell for cell in candidates if cell.cell in chosen]


def _matches(value: object, accepted: list[str]) -> bool:
    if isinstance(value, float | int) and not isinstance(value, bool):
        for text in accepted:
            try:
                if float(text) == float(value):
                    return True
            except ValueError:
                continue
        return False
    return str(value).lower() in [text.lower() for text in accepted]
