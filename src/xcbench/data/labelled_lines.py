"""Labelled rows of a user's file, line by line: the repository's format, or svmlight.

A first line ``N D K`` announces the format of the Extreme Classification Repository: N rows
``l1,l2 f:v f:v``, labels and features counted from 0, and an empty line is a row. Otherwise the
file is svmlight: labels are any text without blanks, commas and colons, an empty line is skipped,
and `` # `` starts a comment. A row without labels begins with a blank; behind a header, and among
rows to predict, it may begin with a pair.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench.data.files import open_content
from xcbench.data.sparse_text import BOM, LARGEST, bad_line, shown, sparse_rows
from xcbench.errors import UserError

BLOCK = 4096  # rows held at a time
ENCODING = "utf-8"
LONGEST = 1000  # characters of a label
ANNOUNCED = re.compile(rb"-?\d+\s+-?\d+\s+-?\d+")
HEADER = re.compile(rb"\d+\s+\d+\s+\d+")
NUMBERED = re.compile(rb"\d{1,18}(?:,\d{1,18})*+")
REMARK = re.compile(rb"\s#")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Header:
    """First line of a file in the repository's format: numbers of rows, features and labels."""

    rows: int
    features: int
    labels: int

    @classmethod
    def of(cls, path: Path) -> Header:
        """Read the header of a file, which must have one.

        Raises
        ------
        UserError
            If it is no header, or its numbers are not possible.
        """
        line = _first_line(path)
        if not HEADER.fullmatch(line):
            raise UserError(
                f"{path}, line 1: the header must be three numbers 'N D K', not {shown(line)}; "
                "get a file in the format of the Extreme Classification Repository"
            )
        numbers = [int(word) if len(word) < 19 else LARGEST + 1 for word in line.split()]
        if not 1 <= min(numbers) <= max(numbers) <= LARGEST:
            raise bad_line(
                path,
                1,
                f"the header {shown(line)} is not possible, "
                f"its numbers of rows, features and labels must lie between 1 and {LARGEST}",
            )
        return cls(*numbers)

    @classmethod
    def if_any(cls, path: Path) -> Header | None:
        """The header of a file, or None if it has none."""
        return cls.of(path) if ANNOUNCED.fullmatch(_first_line(path)) else None


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    X : features, numbered as in the file.
    labels : labels of every row, in file order.
    lines : line (N,) of every row.
    """

    X: sp.csr_array
    labels: list[list[str]]
    lines: np.ndarray


def blocks(path: Path, encoding: str = ENCODING, unlabelled: bool = False) -> Iterator[Block]:
    """Rows of a file, a block at a time.

    Parameters
    ----------
    unlabelled : whether svmlight rows need no labels, as those to predict. Otherwise a row that
        begins with a pair has lost its label.

    Raises
    ------
    UserError
        With file and line, if a line is malformed or the file is not what its header says.
    """
    _check_encoding(encoding)
    header = Header.if_any(path)
    width = header.features if header else LARGEST
    with open_content(path) as handle:
        rows = (
            _headed(handle, header, path)
            if header
            else _svmlight(handle, encoding, unlabelled, path)
        )
        while block := list(islice(rows, BLOCK)):
            X, lines = sparse_rows(((number, pairs) for number, _, pairs in block), width, path)
            yield Block(X, [labels for _, labels, _ in block], lines)


def _first_line(path: Path) -> bytes:
    with open_content(path) as handle:
        return handle.readline(1000).removeprefix(BOM).strip()


def _headed(
    handle: IO[bytes], header: Header, path: Path
) -> Iterator[tuple[int, list[str], bytes]]:
    """Line number, labels and pairs of every row behind a header."""
    handle.readline()
    number = 1
    for number, line in enumerate(handle, start=2):
        if number <= header.rows + 1:
            head, pairs = _parts(line)
            yield number, _label_numbers(head, header.labels, path, number), pairs
        elif line.strip():
            raise UserError(
                f"{path}, line {number}: the header says {header.rows} rows, here is one more; "
                "get the file again"
            )
    if number < header.rows + 1:
        raise UserError(
            f"{path} has {number - 1} rows, its header says {header.rows}; "
            "the file is cut off or not this one"
        )


def _svmlight(
    handle: IO[bytes], encoding: str, unlabelled: bool, path: Path
) -> Iterator[tuple[int, list[str], bytes]]:
    """Line number, labels and pairs of every row."""
    first, paired = b"", False
    for number, line in enumerate(handle, start=1):
        line = line.removeprefix(BOM) if number == 1 else line
        text = REMARK.split(b" " + line, maxsplit=1)[0][1:]
        if text.strip():
            head, pairs = _parts(text)
            if not (head or unlabelled or text[:1].isspace()):
                raise bad_line(
                    path,
                    number,
                    f"{shown(text)} does not begin with a label; a row without one begins with a "
                    "blank",
                )
            first, paired = first or text, paired or bool(pairs.strip())
            yield number, _label_texts(head, encoding, path, number), pairs
    if first and not paired:
        raise UserError(
            f"{path} has no pair feature:value, it begins with {shown(first)}; a line is "
            "'label feature:value ...' (svmlight); convert the table, or get the file again"
        )


def _parts(text: bytes) -> tuple[bytes, bytes]:
    """Labels and pairs of a line."""
    head, *rest = text.split(maxsplit=1) or [b""]
    return (b"", text) if text[:1].isspace() or b":" in head else (head, b"".join(rest))


def _label_numbers(head: bytes, n_labels: int, path: Path, number: int) -> list[str]:
    """Labels of a row behind a header."""
    if not head:
        return []
    if not NUMBERED.fullmatch(head):
        raise bad_line(path, number, f"{shown(head)} is not a list of labels l1,l2 counted from 0")
    labels = head.decode("ascii").split(",")
    largest = max(map(int, labels))
    if largest >= n_labels:
        raise bad_line(
            path,
            number,
            f"label {largest} is out of range, the header says {n_labels} labels counted from 0",
        )
    return labels


def _label_texts(head: bytes, encoding: str, path: Path, number: int) -> list[str]:
    """Labels of an svmlight row."""
    if not head:
        return []
    try:
        labels = head.decode(encoding).split(",")
    except UnicodeDecodeError:
        raise UserError(
            f"{path}, line {number}: the label {shown(head)} is not {encoding.upper()}; name the "
            "encoding with encoding=latin-1 or another (of a dataset dataset.encoding=latin-1), or "
            "get the file again"
        ) from None
    if "" in labels:
        raise bad_line(path, number, f"{shown(head)} has an empty label among labels l1,l2")
    if CONTROL.search(head.decode(encoding)):
        raise bad_line(path, number, f"the label {shown(head)} has a control character")
    if max(map(len, labels)) > LONGEST:
        raise bad_line(path, number, f"the label {shown(head)} has over {LONGEST} characters")
    return labels


def _check_encoding(encoding: str) -> None:
    """Refuse what is no encoding, or one in which blanks and digits are other bytes."""
    signs = "\n\r\t #,:+-.0123456789eE"
    try:
        plain = codecs.lookup(encoding).encode(signs)[0] == signs.encode("ascii")
    except (LookupError, ValueError, TypeError):
        plain = False
    if not plain:
        raise UserError(
            f"encoding={encoding} is not possible: it must be an encoding that contains ASCII, "
            "such as utf-8, latin-1 or cp1252; convert the file to UTF-8"
        )
