"""Parser of rows of ``feature:value`` pairs; errors name file and line."""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.errors import UserError

PAIR = re.compile(rb"\d+:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
PAIRS = re.compile(rb"(?:\d++:[-+.\deE]++\s++)*+")  # quick; the count of numbers tells the rest
BLOCK = 2000
LARGEST = 2**31 - 1
BOM = b"\xef\xbb\xbf"  # with which some programs begin a text


def sparse_rows(
    rows: Iterator[tuple[int, bytes]], n_features: int, path: Path
) -> tuple[sp.csr_array, np.ndarray]:
    """Rows ``f:v f:v ...``, each with the number of its line, parsed in blocks.

    Returns
    -------
    X : sparse array with sorted indices and without stored zeros.
    numbers : the line of each row.

    Raises
    ------
    UserError
        With file and line, if a line is malformed, an index is out of range or repeated, or a value
        is not finite in float32.
    """
    lines = array("q")
    parts: list[Any] = [sp.csr_array((0, n_features), dtype=np.float32)]
    while block := list(islice(rows, BLOCK)):
        texts = [text.strip() + b" " for _, text in block]
        count = np.array([text.count(b":") for text in texts])
        numbers = None
        if all(PAIRS.fullmatch(text.lstrip()) for text in texts):
            numbers = numbers_in(b"".join(texts).replace(b":", b" "), 2 * int(count.sum()))
        if numbers is None or not (numbers[::2] < n_features).all():
            raise _complaint(block, n_features, path)
        with np.errstate(over="ignore"):
            value = numbers[1::2].astype(np.float32)
        if not np.isfinite(value).all():
            raise _complaint(block, n_features, path)
        lines.extend(number for number, _ in block)
        start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        rows_of_block = value, numbers[::2].astype(np.int32), start
        parts.append(sp.csr_array(rows_of_block, (len(block), n_features)))
    X = sp.csr_array(sp.vstack(parts, format="csr"))
    X.sort_indices()
    _refuse_duplicates(X, path, lines)
    X.eliminate_zeros()
    return X, np.array(lines)


def _refuse_duplicates(X: sp.csr_array, path: Path, lines: array[int]) -> None:
    """Equal neighbours, unless they are the end of a row and the start of the next."""
    twice = X.indices[1:] == X.indices[:-1]
    start = X.indptr[1:-1]
    twice[start[(start > 0) & (start < X.nnz)] - 1] = False
    if twice.any():
        position = int(twice.argmax()) + 1
        row = int(np.searchsorted(X.indptr, position, side="right")) - 1
        raise bad_line(path, lines[row], f"feature {X.indices[position]} is given twice")


def numbers_in(text: bytes, expected: int) -> np.ndarray | None:
    """Parse numbers separated by blanks; None if one is malformed."""
    if expected == 0:
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return numbers if len(numbers) == expected else None


def _complaint(block: list[tuple[int, bytes]], n_features: int, path: Path) -> UserError:
    """What is wrong with the first bad pair of a block."""
    for number, text in block:
        for pair in text.split():
            feature, _, value = pair.partition(b":")
            if not PAIR.fullmatch(pair):
                return bad_line(
                    path,
                    number,
                    f"{shown(pair)} is not a pair feature:value with a finite number",
                )
            if not float(feature) < n_features:
                return bad_line(
                    path,
                    number,
                    f"feature {shown(feature)} is out of range, "
                    f"there are {n_features} features counted from 0",
                )
            with np.errstate(over="ignore"):
                if not np.isfinite(np.float32(float(value))):
                    return bad_line(
                        path, number, f"{shown(pair)} is too large a number for float32"
                    )
    return UserError(
        f"{path}, lines {block[0][0]} to {block[-1][0]}: a number cannot be read; mend the file"
    )


def bad_line(path: Path, number: int, what: str) -> UserError:
    """Error that says what is wrong with a line, and what to do."""
    return UserError(f"{path}, line {number}: {what}; mend the line, or get the file again")


def shown(text: bytes) -> str:
    """A short printable piece of a line for an error message, in quotes."""
    text = text.strip()
    return repr(text[:40])[1:] + ("…" if len(text) > 40 else "")
