"""Readers of file formats: paths to raw training and test rows.

A reader takes the paths by role and the dataset's settings, and returns two `Raw`. Later processing
belongs to the protocol.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data import labelled_rows
from xcbench.data.dense_text import dense_text
from xcbench.data.derived import triples, words
from xcbench.data.drawings import omniglot
from xcbench.data.files import open_content
from xcbench.data.labelled_lines import Header
from xcbench.data.lists import bydate, citeulike
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.data.sparse_text import BOM, LARGEST, bad_line, shown, sparse_rows
from xcbench.errors import UserError

Paths = dict[str, Path]

ARFF_ROW = re.compile(rb"\{\s*+(?:\d++\s++[^\s,{}]++\s*+(?:,\s*+\d++\s++[^\s,{}]++\s*+)*+)?\}")


def repository(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Format of the Extreme Classification Repository.

    A header ``N D K``, then N lines ``l1,l2 f:v f:v ...``, labels and features counted from 0.
    """
    files = [paths["train"], paths["test"]]
    for path in files:
        Header.of(path)  # there must be one
    train, test = labelled_rows.read(files)
    return train, test


def user_files(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Files as `labelled_rows` reads them; without a test file, all rows are training rows."""
    train, *rest = labelled_rows.read(list(paths.values()), settings.encoding, settings.features)
    return train, rest[0] if rest else train.take(np.zeros(len(train), bool))


def mulan_arff(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Mulan's sparse ARFF: attributes are the features, then the labels; lines ``{i 1,j 1}``.

    The order within an ARFF row has no meaning, so labels are taken in ascending order.
    """
    n_features = settings.expected.features
    if n_features < 1:
        raise UserError(
            f"dataset.expected.features={n_features}: for reader mulan_arff it must say how many "
            "attributes are features, the others are labels"
        )
    (train, ours), (test, theirs) = (arff(paths[role], n_features) for role in ("train", "test"))
    if ours != theirs:
        raise UserError(
            f"{paths['train']} and {paths['test']} declare different attributes; get both again"
        )
    return train, test


def arff(path: Path, n_features: int) -> tuple[Raw, list[bytes]]:
    """Rows of an ARFF file, with labels after the features, and names of its attributes."""
    with open_content(path) as handle:
        attributes, first_line = _arff_header(handle, path)
        table, numbers = sparse_rows(_arff_rows(handle, path, first_line), len(attributes), path)
    is_label = table.indices >= n_features
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))[is_label]
    strange = np.flatnonzero(table.data[is_label] != 1)
    if len(strange):
        at = strange[0]
        raise bad_line(
            path,
            numbers[row[at]],
            f"label {table.indices[is_label][at]} has the value "
            f"{table.data[is_label][at]:g}, it must be 0 or 1",
        )
    start = np.searchsorted(row, np.arange(table.shape[0] + 1))
    labels = table.indices[is_label] - n_features
    X = sp.csr_array(table[:, :n_features])
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
            raise bad_line(
                path,
                number,
                f"a sparse ARFF row is written {{i v,j v}}, not {shown(line)}",
            )
        yield number, b" ".join(b":".join(pair.split()) for pair in line[1:-1].split(b","))


def idx(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """MNIST's idx files: images as rows of pixels, and labels."""
    rows = {role: images(paths[role]) for role in ("train", "test")}
    labels = {role: _idx_array(paths[f"{role}_labels"], range(1, 2)) for role in rows}
    n_labels = settings.expected.labels or 1 + max(int(y.max(initial=0)) for y in labels.values())
    splits = []
    for role, y in labels.items():
        path, X = paths[f"{role}_labels"], rows[role]
        if len(X) != len(y):
            raise UserError(
                f"{paths[role]} has {len(X)} images, {path} {len(y)} labels; get both again"
            )
        if y.max(initial=0) >= n_labels:
            raise UserError(
                f"{path}: label {y.max()} of image {y.argmax()} is out of range, "
                f"dataset.expected.labels says {n_labels} labels counted from 0; get both again"
            )
        splits.append(Raw.single(X, y.astype(np.int64), n_labels))
    return splits[0], splits[1]


def images(path: Path) -> np.ndarray:
    """Images of an idx file as rows of pixels."""
    pixels = _idx_array(path, range(2, 5))
    return pixels.reshape(len(pixels), math.prod(pixels.shape[1:])).astype(np.float32)


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
    if len(content) - head != math.prod(shape) or math.prod(shape[1:]) > LARGEST:
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
    "dense_text": dense_text,
    "digits": digits,
    "bydate": bydate,
    "omniglot": omniglot,
    "citeulike": citeulike,
    "svmlight": user_files,
    "words": words,
    "triples": triples,
    "own": user_files,
}

ROLES = {
    "repository": ("train", "test"),
    "mulan_arff": ("train", "test"),
    "idx": ("train", "train_labels", "test", "test_labels"),
    "dense_text": ("train", "train_labels", "test", "test_labels"),
    "bydate": ("train", "train_labels", "test", "test_labels"),
    "omniglot": ("train",),
    "citeulike": ("train", "train_labels"),
    "svmlight": ("train", "test"),
    "words": ("train", "train_labels", "test", "test_labels"),
    "triples": ("train", "test"),
    "own": ("train",),
}
