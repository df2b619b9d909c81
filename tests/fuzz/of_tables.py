"""The tables that are committed for a paper: damaged, and forged with checksums that fit."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from fuzz.edits import FOLDER, Target, covered, damaged, written
from xcbench.committed import checksums, csv_tables
from xcbench.papers import committed, replication, stated

PAPER = "ove"
REPORTS = Path(__file__).resolve().parents[2] / "reports" / PAPER
CELLS = 3  # of the hundreds that are committed
ROWS, CURVES = "runs.csv", "runs-curves.csv"


@cache
def whole() -> Mapping[str, bytes]:
    """What is committed of a paper, with its first cells."""
    files = {
        name: (REPORTS / name).read_bytes()
        for name in (replication.NAME, stated.NAME, committed.SUMMARY)
    }
    for name in (ROWS, CURVES):
        table = pd.read_csv(REPORTS / name, dtype=str, keep_default_na=False)
        some = table[table["cell"].isin(table["cell"].unique()[:CELLS])]
        files[name] = some.to_csv(index=False).encode()
    return {f"{PAPER}/{name}": content for name, content in files.items()}


def said(folder: Path) -> Any:
    """All that is read of them for the pages about several papers."""
    numbers, claims = committed.read(folder / PAPER)
    return numbers.to_csv(), claims, committed.hours(folder / PAPER)


def forged(content: bytes) -> None:
    """Damaged tables, with the checksums and the summary that they should have."""
    changes = damaged(whole(), content)
    for name, text in {**whole(), **changes}.items():
        written(f"forged/{name}", text or b"")
    folder = FOLDER / "forged" / PAPER
    measured = {f"{PAPER}/{name}" for name in (ROWS, CURVES)}
    if measured & changes.keys():
        seal_rows(folder)
    if changes.keys() - measured:
        seal_counts(folder)
    said(FOLDER / "forged")


def seal_rows(folder: Path) -> None:
    with suppress(Exception):  # as far as that can be had
        rows = pd.read_csv(folder / ROWS, dtype=str, keep_default_na=False)
        rows = rows.drop(columns=csv_tables.CHECKSUM)
        sums = checksums.of_curves(csv_tables.typed((folder / CURVES).read_text(), ["cell"]))
        rows[csv_tables.CURVE_CHECKSUM] = rows["cell"].map(sums).fillna("")
        text = io.StringIO(rows.to_csv(index=False))
        again = csv_tables.with_checksums(pd.read_csv(text, dtype=str, keep_default_na=False))
        again.to_csv(folder / ROWS, index=False)


def seal_counts(folder: Path) -> None:
    with suppress(Exception):
        numbers = replication.read(folder / replication.NAME, PAPER)
        (folder / committed.SUMMARY).write_text(committed.summary(numbers, stated.read(folder)))


def targets() -> dict[str, Target]:
    """Of one paper."""
    return {
        "damaged_tables": covered("damaged-tables", whole, said),
        "forged_tables": Target(forged, (b"", bytes(6), b"\3\0\2\0\x60\7")),
    }
