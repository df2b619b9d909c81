"""Write a frame in the format that ``--format`` names, to standard output or to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from xcbench.errors import UserError, writing
from xcbench.system import durable

PARQUET = "parquet"


def write(
    frame: pd.DataFrame, form: str, digits: str, out: str, narrow: Sequence[str] = ()
) -> None:
    """Write a frame.

    Parameters
    ----------
    form : one of `FORMATS`.
    digits : format of numbers in tables for people.
    out : file to write; "" prints.
    narrow : the columns of tables for people, by default all.

    Raises
    ------
    UserError
        If a binary format would go to a terminal, its library is not installed, or the file cannot
        be written.
    """
    if form == PARQUET:
        _check_parquet(out)
    shown = frame[list(narrow)] if narrow and form in ("md", "latex") else frame
    content = FORMATS[form](shown, digits)
    if out:
        with writing(Path(out), "out"):
            durable.write(Path(out), content)
    elif isinstance(content, str):
        sys.stdout.write(content)
    else:
        sys.stdout.buffer.write(content)


def _check_parquet(out: str) -> None:
    if not find_spec("pyarrow"):
        raise UserError("parquet needs pyarrow: pip install 'xcbench[parquet]'")
    if not out and sys.stdout.isatty():
        raise UserError("parquet is binary, and this is a terminal: give out=FILE")


def _latex(frame: pd.DataFrame, digits: str) -> str:
    """A tabular with the rules of the package booktabs."""
    number = f"{{:{digits}}}".format
    return str(frame.to_latex(index=False, escape=True, na_rep="", float_format=number))


def _parquet(frame: pd.DataFrame, _: str) -> bytes:
    """A column has one type: numbers and truth values as such, anything mixed as text."""
    return frame.apply(_of_one_type).to_parquet(None, engine="pyarrow", index=False)


def _of_one_type(column: pd.Series) -> pd.Series:
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column.dropna()}
    if kinds <= {int, float}:
        return column.astype(float)
    return column if len(kinds) == 1 else column.map(str, na_action="ignore")


FORMATS: dict[str, Callable[[pd.DataFrame, str], str | bytes]] = {
    "csv": lambda frame, _: frame.to_csv(index=False),
    "md": lambda frame, digits: f"{frame.to_markdown(index=False, floatfmt=digits)}\n",
    "json": lambda frame, _: f"{frame.to_json(orient='records', indent=1)}\n",
    "latex": _latex,
    PARQUET: _parquet,
}
