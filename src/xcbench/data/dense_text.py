"""Dense features and label lists in separate text files, the format of the XML-CNN features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from xcbench.core.dataset import Raw
from xcbench.data.files import open_content
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.data.sparse_text import LARGEST, bad_line, numbers_in, shown, sparse_rows
from xcbench.errors import UserError


def dense_text(paths: dict[str, Path], settings: Settings) -> tuple[Raw, Raw]:
    """Features: a header ``N D``, then N lines of D numbers. Labels: ``N L``, then ``l:1 l:1 ...``.

    Labels are counted from 0 and taken in ascending order.

    Raises
    ------
    UserError
        With file and line, if a line is malformed. Also if the files of a part differ in their
        number of rows, or the label files in their number of labels.
    """
    parts = [_part(paths[role], paths[f"{role}_labels"]) for role in ("train", "test")]
    if len({part.n_labels for part in parts}) > 1:
        raise UserError(
            f"{paths['train_labels']} and {paths['test_labels']} declare different numbers of "
            "labels; get both again"
        )
    return parts[0], parts[1]


def _part(features: Path, labels: Path) -> Raw:
    X = rows(features)
    with open_content(labels) as handle:
        n_rows, n_labels = _header(handle, labels)
        sets, lines = sparse_rows(_lines(handle), n_labels, labels)
    row = np.repeat(lines, np.diff(sets.indptr))
    if (sets.data != 1).any():
        at = int(np.argmax(sets.data != 1))
        raise bad_line(labels, row[at], f"label {sets.indices[at]} must have the value 1")
    for path, n in ((features, len(X)), (labels, sets.shape[0])):
        if n != n_rows:
            raise UserError(f"{path} has {n} rows, the header of {labels} says {n_rows}")
    return Raw(X, sets.indptr, sets.indices.astype(np.int64), n_labels)


def rows(path: Path) -> np.ndarray:
    """Features below their header, into one array in float32."""
    with open_content(path) as handle:
        n_rows, n_features = _header(handle, path)
        try:
            X = np.empty((n_rows, n_features), np.float32)
        except (MemoryError, ValueError):  # the latter beyond what can be addressed
            what = f"{n_rows} rows of {n_features} columns do not fit into memory"
            raise bad_line(path, 1, what) from None
        end = 0
        for number, line in _lines(handle):
            if end == n_rows:
                raise bad_line(path, number, f"the header says {n_rows} rows, here is one more")
            values = numbers_in(line, n_features)
            with np.errstate(over="ignore"):
                if values is None or not np.isfinite(values.astype(np.float32)).all():
                    raise bad_line(path, number, f"{shown(line)} is not {n_features} numbers")
            X[end] = values
            end += 1
    if end < n_rows:
        raise UserError(f"{path} has {end} rows, its header says {n_rows}; get the file again")
    return X


def _header(handle: IO[bytes], path: Path) -> tuple[int, int]:
    line = handle.readline(1000)
    words = line.split()
    if len(words) != 2 or not all(word.isdigit() and 0 < int(word) <= LARGEST for word in words):
        raise bad_line(path, 1, f"the header must be two numbers 'rows columns', not {shown(line)}")
    return int(words[0]), int(words[1])


def _lines(handle: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    return enumerate(handle, start=2)
