"""The committed tables of a paper as CSV files, each row with a checksum of its text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from xcbench.committed import checksums
from xcbench.errors import UserError, one_line
from xcbench.units import printable

CHECKSUM, CURVE_CHECKSUM = "checksum", "curve_checksum"  # of a row's text; of its checkpoints
TEXTS = [
    "cell",
    "dataset_digest",
    "code",
    "commit",
    CURVE_CHECKSUM,
]  # hexadecimal: some look like numbers


def read(path: Path, needed: list[str], numbers: Sequence[str]) -> tuple[pd.DataFrame, int]:
    """Rows that fit their checksums, and the number of those that do not.

    Parameters
    ----------
    needed : columns; one that is not there is an error, and a table that is not there has these.
    numbers : columns in which a text is an error.

    Raises
    ------
    UserError
        If it cannot be read, or none of its rows fits.
    """
    if not path.exists():
        return pd.DataFrame(columns=needed), 0
    with reading(path):
        content = text(path)
        fields = _fields(content)
        if CHECKSUM not in fields:
            raise ValueError(f"it has no column '{CHECKSUM}'")
        fits = fields[CHECKSUM] == checksums.of_rows(fields.drop(columns=CHECKSUM))
        if len(fits) and not fits.any():
            raise ValueError("no row matches its checksum; the header may be damaged")
        frame = typed(content if fits.all() else fields[fits].to_csv(index=False), needed, numbers)
        return frame.drop(columns=CHECKSUM), int((~fits).sum())


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a table is read into a sentence that names it."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read ({printable(one_line(error))}); "
            "restore it, or remove it: its cells run again"
        ) from None


def text(path: Path) -> str:
    """Content of a table, if it ends where a line does."""
    content = path.read_bytes().decode()
    if not content.endswith("\n"):
        raise ValueError("its last line is cut off")
    return content


def texts(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A table of texts with exactly these columns.

    Raises
    ------
    OSError, ValueError
        If it cannot be read, is cut off, or has others.
    """
    table = _fields(text(path))
    if list(table) != list(columns):
        raise ValueError(f"its columns are not those of {path.name}")
    return table


def _fields(content: str) -> pd.DataFrame:
    """A table as it is written."""
    return pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False)


def typed(content: str, needed: list[str], numbers: Sequence[str] = ()) -> pd.DataFrame:
    """A table as numbers and texts; where none are named, all but the cell are numbers."""
    frame = pd.read_csv(io.StringIO(content), low_memory=False, dtype=dict.fromkeys(TEXTS, str))
    for name in needed:
        if name not in frame:
            raise ValueError(f"it has no column '{name}'")
    for name in numbers or [str(name) for name in frame if name != "cell"]:
        if name in frame and len(frame) and not is_numeric_dtype(frame[name]):
            raise ValueError(f"there is a text in its column '{name}'")
    return frame


def with_checksums(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as they are to be written."""
    fields = _fields(rows.to_csv(index=False, float_format=checksums.FORMAT))
    return fields.assign(**{CHECKSUM: checksums.of_rows(fields)})
