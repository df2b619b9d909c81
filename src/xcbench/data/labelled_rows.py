"""Rows with text labels, in blocks: svmlight, or the repository's format.

A line such as ``sport,politics 3:0.5 7:1`` has labels separated by commas, or none, then pairs. A
first line ``N D K`` declares the format of the Extreme Classification Repository: features count
from 0, and an empty line is a row. Otherwise an empty line is skipped, and `` # `` starts a
comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.files import open_content
from xcbench.data.sparse_text import BOM, LARGEST, sparse_rows
from xcbench.errors import UserError

BLOCK = 4096  # rows held at a time
HEADER = re.compile(rb"\d{1,18}\s+\d{1,18}\s+\d{1,18}")
REMARK = re.compile(rb"\s#")
WHOLE = re.compile(r"[-+]?\d{1,18}")


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    X : features, numbered as in the file.
    labels : labels of every row, in file order.
    """

    X: sp.csr_array
    labels: list[list[str]]


def blocks(path: Path, size: int = BLOCK) -> Iterator[Block]:
    """Rows of a file, a block at a time.

    Raises
    ------
    UserError
        With file and line, if a pair is malformed.
    """
    with open_content(path) as handle:
        rows = _rows(handle)
        while block := list(islice(rows, size)):
            X, _ = sparse_rows(((number, pairs) for number, _, pairs in block), LARGEST, path)
            yield Block(X, [labels for _, labels, _ in block])


def read(path: Path) -> Raw:
    """All rows of a file; labels are numbered in ascending order, whole numbers as numbers.

    Raises
    ------
    UserError
        If a line is malformed, or there is no row with a label.
    """
    with open_content(path) as handle:
        headed = HEADER.fullmatch(handle.readline().removeprefix(BOM).strip()) is not None
    parts = list(blocks(path))
    lists = [labels for part in parts for labels in part.labels]
    flat = list(chain.from_iterable(lists))
    if not flat:
        raise UserError(f"{path} has no row with a label; a line is 'label feature:value ...'")
    words = np.array(flat)
    if all(WHOLE.fullmatch(word) for word in flat):
        words = words.astype(np.int64)
    names, labels = np.unique(words, return_inverse=True)
    X = parts[0].X if len(parts) == 1 else sp.vstack([part.X for part in parts], format="csr")
    first = 0 if headed or not X.nnz else min(1, int(X.indices.min()))
    width = max(1, int(X.indices.max(initial=0)) + 1 - first)
    start = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    narrow, _ = at(sp.csr_array(X), first, width)
    return Raw(narrow, start, labels, len(names), names, first)


def at(X: sp.csr_array, first: int, width: int) -> tuple[sp.csr_array, int]:
    """Rows at ``width`` features from ``first`` on, and the number of values left out."""
    inside = (X.indices >= first) & (X.indices < first + width)
    start = np.concatenate([[0], np.cumsum(inside)])[X.indptr].astype(X.indptr.dtype)
    values, features = X.data[inside], X.indices[inside] - first
    return sp.csr_array((values, features, start), (X.shape[0], width)), int((~inside).sum())


def _rows(handle: IO[bytes]) -> Iterator[tuple[int, list[str], bytes]]:
    """Line number, labels and pairs of every row."""
    headed = False
    for number, line in enumerate(handle, start=1):
        line = line.removeprefix(BOM) if number == 1 else line
        if number == 1 and HEADER.fullmatch(line.strip()):
            headed = True
            continue
        text = REMARK.split(b" " + line, maxsplit=1)[0][1:]
        if not text.strip():
            if headed:
                yield number, [], b""
            continue
        head, *rest = text.split(maxsplit=1)
        if text[:1].isspace() or b":" in head:
            yield number, [], text
        else:
            words = head.decode("utf-8", "replace").split(",")
            yield number, [word for word in words if word], b"".join(rest)
