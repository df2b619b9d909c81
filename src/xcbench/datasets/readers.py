"""Readers of file formats: paths to raw training and test rows.

A reader takes the paths by role and the dataset's settings, and returns two `Raw`. What a paper
does with the rows afterwards is a protocol, not a reader.
"""

from __future__ import annotations

import math
import re
import struct
import warnings
from array import array
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

LABELS = re.compile(rb"\d{1,18}(?:,\d{1,18})*+")
PAIR = re.compile(rb"\d+:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
PAIRS = re.compile(rb"(?:\d++:[-+.\deE]++\s++)*+")  # quick; the count of numbers tells the rest
ARFF_ROW = re.compile(rb"\{\s*+(?:\d++\s++[^\s,{}]++\s*+(?:,\s*+\d++\s++[^\s,{}]++\s*+)*+)?\}")
BOM = b"\xef\xbb\xbf"
BLOCK = 2000
LARGEST = 2**31 - 1


def repository(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Format of the Extreme Classification Repository.

    A header ``N D K``, then N lines ``l1,l2 f:v f:v ...``, labels and features counted from 0.
    """
    return _repository_split(paths["train"]), _repository_split(paths["test"])


def _repository_split(path: Path) -> Raw:
    labels, label_start = array("q"), array("q", [0])
    with open_content(path) as handle:
        n_rows, n_features, n_labels = _repository_header(handle.readline(1000), path)

        def rows() -> Iterator[tuple[int, bytes]]:
            for number, line in enumerate(handle, start=2):
                if number > n_rows + 1:
                    if line.strip():
                        raise UserError(
                            f"{path}, line {number}: the header says {n_rows} rows, here is one "
                            "more; get the file again"
                        )
                    continue
                head, _, tail = line.partition(b" ")
                if b":" in head:  # a row without label
                    head, tail = b"", line
                labels.extend(_label_list(head, n_labels, path, number))
                label_start.append(len(labels))
                yield number, tail

        X, _ = _sparse_rows(rows(), n_features, path)
    if X.shape[0] != n_rows:
        raise UserError(
            f"{path} has {X.shape[0]} rows, its header says {n_rows}; "
            "the file is cut off or not this one"
        )
    return Raw(X, np.array(label_start), np.array(labels), n_labels)


def _repository_header(line: bytes, path: Path) -> tuple[int, int, int]:
    if not re.fullmatch(rb"\d+\s+\d+\s+\d+", line.removeprefix(BOM).strip()):
        raise UserError(
            f"{path}, line 1: the header must be three numbers 'N D K', not {_shown(line)}; "
            "get a file in the format of the Extreme Classification Repository"
        )
    n_rows, n_features, n_labels = map(int, line.removeprefix(BOM).split())
    if not 1 <= min(n_rows, n_features, n_labels) <= max(n_rows, n_features, n_labels) <= LARGEST:
        raise UserError(
            f"{path}, line 1: the header {_shown(line)} is not possible, "
            f"its numbers of rows, features and labels must lie between 1 and {LARGEST}"
        )
    return n_rows, n_features, n_labels


def _label_list(text: bytes, n_labels: int, path: Path, number: int) -> list[int]:
    text = text.strip()
    if not text:
        return []
    if not LABELS.fullmatch(text):
        raise UserError(
            f"{path}, line {number}: {_shown(text)} is not a list of labels l1,l2 counted from 0"
        )
    labels = [int(part) for part in text.split(b",")]
    if max(labels) >= n_labels:
        raise UserError(
            f"{path}, line {number}: label {max(labels)} is out of range, "
            f"the header says {n_labels} labels counted from 0"
        )
    return labels


def mulan_arff(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Mulan's sparse ARFF: attributes are the features, then the labels; lines ``{i 1,j 1}``.

    The order of an ARFF row means nothing: its labels are taken in ascending order.
    """
    n_features = settings.expected.features
    if n_features < 1:
        raise UserError(
            f"dataset.expected.features={n_features}: for reader mulan_arff it must say how many "
            "attributes are features, the others are labels"
        )
    (train, ours), (test, theirs) = (
        _arff_split(paths[role], n_features) for role in ("train", "test")
    )
    if ours != theirs:
        raise UserError(
            f"{paths['train']} and {paths['test']} declare different attributes; get both again"
        )
    return train, test


def _arff_split(path: Path, n_features: int) -> tuple[Raw, list[bytes]]:
    """Rows of a file, and the names of its attributes."""
    with open_content(path) as handle:
        attributes, first_line = _arff_header(handle, path)
        whole, numbers = _sparse_rows(_arff_rows(handle, path, first_line), len(attributes), path)
    is_label = whole.indices >= n_features
    row = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))[is_label]
    strange = np.flatnonzero(whole.data[is_label] != 1)
    if len(strange):
        at = strange[0]
        raise UserError(
            f"{path}, line {numbers[row[at]]}: label {whole.indices[is_label][at]} has the value "
            f"{whole.data[is_label][at]:g}, it must be 0 or 1"
        )
    start = np.searchsorted(row, np.arange(whole.shape[0] + 1))
    labels = whole.indices[is_label] - n_features
    X = sp.csr_array(whole[:, :n_features])
    return Raw(X, start, labels, len(attributes) - n_features), attributes


def _arff_header(handle: IO[bytes], path: Path) -> tuple[list[bytes], int]:
    """Names of the attributes, and number of the first line behind ``@data``."""
    attributes = []
    for number, line in enumerate(handle, start=1):
        words = line.removeprefix(BOM).split(maxsplit=2)
        keyword = words[0].lower() if words else b""
        if keyword == b"@attribute":
            attributes.append(b"".join(words[1:2]))
        elif keyword == b"@data":
            return attributes, number + 1
    raise UserError(f"{path} has no @data line; it is not an ARFF file, or cut off; get it again")


def _arff_rows(handle: IO[bytes], path: Path, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Rows ``{i 1,j 1}`` as ``i:1 j:1``, each with the number of its line."""
    for number, line in enumerate(handle, start=first_line):
        line = line.strip()
        if not line or line.startswith(b"%"):
            continue
        if not ARFF_ROW.fullmatch(line):
            raise UserError(
                f"{path}, line {number}: a sparse ARFF row stands in braces {{i v,j v}}, "
                f"this is {_shown(line)}"
            )
        yield number, b" ".join(b":".join(pair.split()) for pair in line[1:-1].split(b","))


def _sparse_rows(
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
        With file and line, if a line is malformed, an index is out of range or given twice,
        or a value is not finite in float32.
    """
    lines = array("q")
    counts: list[np.ndarray] = [np.zeros(1, np.int64)]
    indices: list[np.ndarray] = [np.zeros(0, np.int32)]
    values: list[np.ndarray] = [np.zeros(0, np.float32)]
    while block := list(islice(rows, BLOCK)):
        texts = [text.strip() + b" " for _, text in block]
        count = np.array([text.count(b":") for text in texts])
        numbers = None
        if all(PAIRS.fullmatch(text.lstrip()) for text in texts):
            numbers = _numbers(b"".join(texts).replace(b":", b" "), 2 * int(count.sum()))
        if numbers is None or not (numbers[::2] < n_features).all():
            raise _complaint(block, n_features, path)
        with np.errstate(over="ignore"):
            value = numbers[1::2].astype(np.float32)
        if not np.isfinite(value).all():
            raise _complaint(block, n_features, path)
        lines.extend(number for number, _ in block)
        counts.append(count)
        indices.append(numbers[::2].astype(np.int32))
        values.append(value)
    start = np.cumsum(np.concatenate(counts))
    start = start.astype(np.int32 if start[-1] <= LARGEST else np.int64)
    X = sp.csr_array(
        (np.concatenate(values), np.concatenate(indices), start),
        shape=(len(start) - 1, n_features),
    )
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
        raise UserError(f"{path}, line {lines[row]}: feature {X.indices[position]} is given twice")


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


def _complaint(block: list[tuple[int, bytes]], n_features: int, path: Path) -> UserError:
    """What is wrong with the first bad pair of a block."""
    for number, text in block:
        for pair in text.split():
            where = f"{path}, line {number}"
            feature, _, value = pair.partition(b":")
            if not PAIR.fullmatch(pair):
                return UserError(
                    f"{where}: {_shown(pair)} is not a pair feature:value with a finite number"
                )
            if not float(feature) < n_features:
                return UserError(
                    f"{where}: feature {_shown(feature)} is out of range, "
                    f"there are {n_features} features counted from 0"
                )
            with np.errstate(over="ignore"):
                if not np.isfinite(np.float32(float(value))):
                    return UserError(f"{where}: {_shown(pair)} is too large a number for float32")
    return UserError(
        f"{path}, lines {block[0][0]} to {block[-1][0]}: a number cannot be read; mend the file"
    )


def _shown(text: bytes) -> str:
    """A short printable piece of a line for an error message, in quotes."""
    text = text.strip()
    return repr(text[:40])[1:] + ("…" if len(text) > 40 else "")


def idx(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """MNIST's idx files: images as rows of pixels, labels beside them."""
    images = {role: _idx_array(paths[role], range(2, 5)) for role in ("train", "test")}
    labels = {role: _idx_array(paths[f"{role}_labels"], range(1, 2)) for role in images}
    n_labels = settings.expected.labels or 1 + max(int(y.max(initial=0)) for y in labels.values())
    splits = []
    for role, y in labels.items():
        path, X = paths[f"{role}_labels"], images[role]
        if len(X) != len(y):
            raise UserError(
                f"{paths[role]} has {len(X)} images, {path} {len(y)} labels; get both again"
            )
        if y.max(initial=0) >= n_labels:
            raise UserError(
                f"{path}: label {y.max()} of image {y.argmax()} is out of range, "
                f"dataset.expected.labels says {n_labels} labels counted from 0"
            )
        flat = X.reshape(len(X), math.prod(X.shape[1:])).astype(np.float32)
        splits.append(Raw.single(flat, y.astype(np.int64), n_labels))
    return splits[0], splits[1]


def _idx_array(path: Path, axes: range) -> np.ndarray:
    with open_content(path) as handle:
        content = handle.read()
    if len(content) < 4 or content[:3] != b"\0\0\x08" or content[3] not in axes:
        raise UserError(
            f"{path} is not an idx file of bytes with {axes[0]} axes or more: it begins with "
            f"{content[:4].hex(' ') or 'nothing'}, not with 00 00 08 {axes[0]:02}; get it again"
        )
    head = 4 + 4 * content[3]
    if len(content) < head:
        raise UserError(f"{path} is cut off in its header; get the file again")
    shape = struct.unpack(f">{content[3]}I", content[4:head])
    if len(content) - head != math.prod(shape):
        raise UserError(
            f"{path} holds {len(content) - head} bytes, its header says {math.prod(shape)}; "
            "get the file again"
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

ROLES = {
    "repository": ("train", "test"),
    "mulan_arff": ("train", "test"),
    "idx": ("train", "train_labels", "test", "test_labels"),
}
