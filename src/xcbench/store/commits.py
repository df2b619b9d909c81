"""Commits of the code behind the numbers of a report."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from xcbench.store.cell import HISTORY, RECORDED, UNKNOWN, Cell
from xcbench.units import count

COLUMNS = ["commit_source", "commit"]


def with_commits(rows: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """Rows of cells with ``commit`` and ``commit_source``."""
    by_name = {cell.cell: cell for cell in cells}
    same = [by_name[name] for name in rows["cell"]]
    return rows.assign(
        commit=[cell.commit for cell in same], commit_source=[cell.commit_source for cell in same]
    )


def counted(rows: pd.DataFrame) -> str:
    """Number of cells by commit, the most first: ``0123456789ab (5 cells), …``."""
    pairs = rows.reindex(columns=COLUMNS).astype(object)
    otherwise = pairs["commit"].map(lambda commit: UNKNOWN if pd.isna(commit) else RECORDED)
    pairs = pairs.fillna({"commit_source": otherwise, "commit": ""})  # tables of older versions
    groups = pairs.groupby(COLUMNS, as_index=False).size()
    groups = groups.sort_values("size", ascending=False, kind="stable")
    return ", ".join(
        f"{_words(str(source), str(commit))} ({count(int(number), 'cell')})"
        for source, commit, number in groups.itertuples(index=False, name=None)
    )


def _words(source: str, commit: str) -> str:
    return {RECORDED: commit, HISTORY: f"added in {commit}"}.get(source, f"no commit: {source}")
