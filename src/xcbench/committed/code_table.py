"""The records of code that committed rows come from, one a line, in a file next to the rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from xcbench.errors import UserError, one_line
from xcbench.plan import code
from xcbench.plan.code import Code
from xcbench.plan.stored import sentences
from xcbench.store.cell import FINAL, Cell

Codes = Mapping[str, Code]  # by `Code.name`, which the column `COLUMN` of the rows has
COLUMN = "code"


def read(path: Path) -> dict[str, Code]:
    """Records of a file; none where there is none.

    Raises
    ------
    UserError
        If it cannot be read.
    """
    if not path.exists():
        return {}
    try:
        records = [Code.of(json.loads(line)) for line in path.read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({one_line(error)}); restore it") from None
    return {record.name: record for record in records if record}


def content(codes: Codes, names: Iterable[str]) -> bytes:
    """Text of the records with these names, in order."""
    lines = [json.dumps(codes[name].content) for name in sorted(set(names) & codes.keys())]
    return "".join(f"{line}\n" for line in lines).encode()


def of(cells: Iterable[Cell]) -> dict[str, Code]:
    """Records of cells."""
    records = (Code.of(cell.code) for cell in cells)
    return {record.name: record for record in records if record}


def renewed(codes: Codes) -> dict[str, Code]:
    """The same records; those whose code gives the same numbers today have today's digest."""
    changes = {name: code.change(record) for name, record in codes.items()}
    return {
        name: record if changes[name] or changes[name].unchecked else code.renewed(record)
        for name, record in codes.items()
    }


def stale(rows: pd.DataFrame, codes: Codes) -> str:
    """Sentences on rows whose code has changed since they were measured; empty without any."""
    names = rows.loc[rows["status"].isin(FINAL)].reindex(columns=[COLUMN])[COLUMN]
    names = names.astype(object).fillna("")
    changes = {name: code.change(codes.get(name)) for name in names.unique()}
    return "".join(f"{it}. " for it in sentences(map(changes.__getitem__, names))).rstrip()
