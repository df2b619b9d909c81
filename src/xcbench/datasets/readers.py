"""Readers of file formats: paths to raw training and test rows.

A reader takes the paths by role and the dataset's settings, and returns two `Raw`. What a paper
does with the rows afterwards is a protocol, not a reader.
"""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench.config import Dataset as Settings
from xcbench.datasets.files import open_content
from xcbench.datasets.value import Raw
from xcbench.errors import UserError

Paths = dict[str, Path]

PAIRS = re.compile(rb"(?:\d+:[^\s:,]+\s+)*")
BLOCK = 20000


def repository(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Format of the Extreme Classification Repository.

    A header ``N D K``, then N lines ``l1,l2 f:v f:v ...``, labels and features counted from 0.
    """
    return _repository_split(paths["train"]), _repository_split(paths["test"])


def _repository_split(path: Path) -> Raw:
    with open_content(path) as handle:
        header = handle.readline()
        if not re.fullmatch(rb"\s*\d+\s+\d+\s+\d+\s*", header):
            raise UserError(f"{path}, line 1: the header must be three numbers 'N D K'")
        n_rows, n_features, n_labels = map(int, header.split())
        tails, label_lists = [], []
        for number, line in enumerate(handle, start=2):
            head, _, tail = line.partition(b" ")
            if b":" in head:  # a row without label
                head, tail = b"", line
            tails.append(tail)
            label_lists.append(_label_list(head, n_labels, path, number))
    if len(tails) != n_rows:
        raise UserError(
            f"{path} has {len(tails)} rows, its header says {n_rows}; "
            "the file is cut off or not this one"
        )
    X = _sparse_rows(iter(tails), n_features, path, first_line=2)
    return _ragged(X, label_lists, n_labels)


def _label_list(text: bytes, n_labels: int, path: Path, number: int) -> list[int]:
    text = text.strip()
    if not text:
        return []
    if not re.fullmatch(rb"\d+(,\d+)*", text):
        raise UserError(f"{path}, line {number}: '{_shown(text)}' is not a list of labels l1,l2")
    labels = [int(part) for part in text.split(b",")]
    if max(labels) >= n_labels:
        raise UserError(
            f"{path}, line {number}: label {max(labels)} is out of range, "
            f"the header says {n_labels} labels"
        )
    return labels


def mulan_arff(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Mulan's sparse ARFF: attributes are the features, then the labels; lines ``{i 1,j 1}``."""
    train, test = (
        _arff_split(paths[role], settings.expected.features) for role in ("train", "test")
    )
    return train, test


def _arff_split(path: Path, n_features: int) -> Raw:
    with open_content(path) as handle:
        n_attributes, first_line = _arff_header(handle, path)
        lines = (_arff_pairs(line, path, first_line + i) for i, line in enumerate(handle))
        whole = _sparse_rows((line for line in lines if line), n_attributes, path, first_line)
    is_label = whole.indices >= n_features
    row = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))[is_label]
    start = np.searchsorted(row, np.arange(whole.shape[0] + 1))
    labels = whole.indices[is_label] - n_features
    X = sp.csr_array(whole[:, :n_features])
    return Raw(X, start, labels, n_attributes - n_features)


def _arff_header(handle: IO[bytes], path: Path) -> tuple[int, int]:
    """Number of attributes, and number of the first line behind ``@data``."""
    n_attributes = 0
    for number, line in enumerate(handle, start=1):
        word = line[:10].lower()
        if word.startswith(b"@attribute"):
            n_attributes += 1
        elif word.startswith(b"@data"):
            return n_attributes, number + 1
    raise UserError(f"{path} has no @data line; it is not an ARFF file, or cut off")


def _arff_pairs(line: bytes, path: Path, number: int) -> bytes:
    """``{i 1,j 1}`` as ``i:1 j:1``."""
    line = line.strip()
    if not line or line.startswith(b"%"):
        return b""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        raise UserError(f"{path}, line {number}: a sparse ARFF row stands in braces {{i v,j v}}")
    return b" ".join(re.sub(rb"\s+", b":", pair.strip()) for pair in line[1:-1].split(b",")) + b" "


def _sparse_rows(
    lines: Iterator[bytes], n_features: int, path: Path, first_line: int
) -> sp.csr_array:
    """Rows ``f:v f:v ...`` as a sparse array, in blocks of lines.

    Raises
    ------
    UserError
        With file and line, if a line is malformed, an index is out of range or given twice,
        or a value is not finite.
    """
    counts: list[np.ndarray] = [np.zeros(1, np.int64)]
    indices: list[np.ndarray] = []
    values: list[np.ndarray] = []
    line_number = first_line
    while block := [line.strip() + b" " for line in islice(lines, BLOCK)]:
        for offset, line in enumerate(block):
            if not PAIRS.fullmatch(line.lstrip()):
                raise UserError(
                    f"{path}, line {line_number + offset}: "
                    f"'{_shown(line)}' is not a row of pairs f:v"
                )
        count = np.array([line.count(b":") for line in block])
        numbers = _numbers(b"".join(block).replace(b":", b" "), 2 * int(count.sum()))
        if numbers is None or not np.isfinite(numbers).all():
            raise _bad_value(block, path, line_number)
        index = numbers[::2].astype(np.int64)
        if len(index) and index.max() >= n_features:
            row = int(np.searchsorted(np.cumsum(count), int(index.argmax()), side="right"))
            raise UserError(
                f"{path}, line {line_number + row}: feature {index.max()} is out of range, "
                f"there are {n_features} features counted from 0"
            )
        counts.append(count)
        indices.append(index)
        values.append(numbers[1::2].astype(np.float32))
        line_number += len(block)
    start = np.cumsum(np.concatenate(counts))
    kind = np.int32 if start[-1] < 2**31 else np.int64
    rows = sp.csr_array(
        (
            np.concatenate(values or [np.zeros(0, np.float32)]),
            np.concatenate(indices or [np.zeros(0, np.int64)]).astype(kind),
            start.astype(kind),
        ),
        shape=(len(start) - 1, n_features),
    )
    rows.sort_indices()
    _refuse_duplicates(rows, path, first_line)
    return rows


def _refuse_duplicates(rows: sp.csr_array, path: Path, first_line: int) -> None:
    twice = np.flatnonzero(rows.indices[1:] == rows.indices[:-1]) + 1
    starts = set(rows.indptr.tolist())
    for position in twice.tolist():
        if position not in starts:
            row = int(np.searchsorted(rows.indptr, position, side="right")) - 1
            raise UserError(
                f"{path}, line {first_line + row}: feature {rows.indices[position]} is given twice"
            )


def _numbers(text: bytes, expected: int) -> np.ndarray | None:
    """Parse numbers between blanks, or None where one cannot be read."""
    if expected == 0:
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return numbers if len(numbers) == expected else None


def _bad_value(block: list[bytes], path: Path, first: int) -> UserError:
    for number, line in enumerate(block, start=first):
        for pair in line.split():
            value = pair.partition(b":")[2]
            try:
                if np.isfinite(float(value)):
                    continue
            except ValueError:
                pass
            return UserError(f"{path}, line {number}: '{_shown(pair)}' has no finite number")
    return UserError(f"{path}, lines {first} to {first + len(block) - 1}: a number cannot be read")


def _shown(text: bytes) -> str:
    """A short printable piece of a line for an error message."""
    piece = text.strip()[:40].decode("ascii", "backslashreplace")
    return piece + ("…" if len(text.strip()) > 40 else "")


def _ragged(X: sp.csr_array, label_lists: list[list[int]], n_labels: int) -> Raw:
    start = np.cumsum([0, *map(len, label_lists)])
    flat = np.array([label for labels in label_lists for label in labels], dtype=np.int64)
    return Raw(X, start, flat, n_labels)


def idx(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """MNIST's idx files: images as rows of pixels, labels beside them."""
    splits = []
    for role in ("train", "test"):
        images = _idx_array(paths[role])
        labels = _idx_array(paths[f"{role}_labels"])
        if len(images) != len(labels):
            raise UserError(
                f"{paths[role]} has {len(images)} images, "
                f"{paths[f'{role}_labels']} {len(labels)} labels"
            )
        X = images.reshape(len(images), -1).astype(np.float32)
        splits.append(Raw.single(X, labels.astype(np.int64), settings.expected.labels))
    return splits[0], splits[1]


def _idx_array(path: Path) -> np.ndarray:
    with open_content(path) as handle:
        content = handle.read()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise UserError(f"{path} is not an idx file of bytes (it must begin with 00 00 08)")
    n_axes = content[3]
    head = 4 + 4 * n_axes
    if len(content) < head:
        raise UserError(f"{path} is cut off in its header")
    shape = struct.unpack(f">{n_axes}I", content[4:head])
    size = int(np.prod(shape, dtype=np.int64))
    if len(content) - head != size:
        raise UserError(
            f"{path} holds {len(content) - head} bytes, its header says {size}; get the file again"
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)


def digits(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """scikit-learn's bundled 8×8 digits; the last fifth of the rows is the test part."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    cut = len(y) - settings.expected.test
    X = X.astype(np.float32)
    return Raw.single(X[:cut], y[:cut], 10), Raw.single(X[cut:], y[cut:], 10)


READERS: dict[str, Callable[[Paths, Settings], tuple[Raw, Raw]]] = {
    "repository": repository,
    "mulan_arff": mulan_arff,
    "idx": idx,
    "digits": digits,
}
