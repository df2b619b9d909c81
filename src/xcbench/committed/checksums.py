"""Checksums of a paper's tables: of every row as it is written, and of every cell's curve."""

from __future__ import annotations

import zlib

import pandas as pd

from xcbench.store.cell import CURVE_COLUMNS
from xcbench.system import sealed

DIGITS = 8  # of a number in the tables
FORMAT = f"%.{DIGITS}g"
LENGTH = 8  # of a row's checksum


def of_rows(fields: pd.DataFrame) -> list[str]:
    """SHA-256, cut short, of every row of texts: its fields that are not empty, sorted by name.

    Another order of columns, or a new column that is empty, changes no checksum.
    """
    names = sorted(map(str, fields))
    lines = fields[names].itertuples(index=False, name=None)
    texts = (
        "\n".join(f"{name}={value}" for name, value in zip(names, line, strict=True) if value)
        for line in lines
    )
    return [sealed.digest(text.encode())[:LENGTH] for text in texts]


def of_curves(curves: pd.DataFrame) -> dict[str, str]:
    """CRC-32 of all checkpoints of every cell that has any, in the digits of the table."""
    sums: dict[str, int] = {}
    curves = curves.dropna(subset=CURVE_COLUMNS, how="all")  # of what was not run
    names = sorted(name for name in map(str, curves) if name != "cell")
    values = curves[names].astype(float).to_numpy() + 0.0  # -0 is 0
    for cell, line in zip(curves["cell"], values, strict=True):
        pairs = zip(names, line, strict=True)
        text = ",".join(f"{name}={value:.{DIGITS}g}" for name, value in pairs if value == value)
        sums[cell] = zlib.crc32(text.encode(), sums.get(cell, 0))
    return {cell: f"{number:08x}" for cell, number in sums.items()}
