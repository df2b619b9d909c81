"""Readers of file formats: paths to raw training and test rows.

A reader takes the paths by role and the dataset's settings, and returns two `Raw`. Later processing
belongs to the protocol.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data import svmlight
from xcbench.data.dense_text import dense_text
from xcbench.data.derived import triples, words
from xcbench.data.drawings import omniglot
from xcbench.data.files import open_content
from xcbench.data.lists import bydate, citeulike
from xcbench.data.settings import DatasetSettings as Settings
from xcbench.data.sparse_text import BOM, LARGEST, bad_line, shown, sparse_rows
from xcbench.errors import UserError

Paths = dict[str, Path]

LABELS = re.compile(rb"\d{1,18}(?:,\d{1,18})*+")
ARFF_ROW = re.compile(rb"\{\s*+(?:\d++\s++[^\s,{}]++\s*+(?:,\s*+\d++\s++[^\s,{}]++\s*+)*+)?\}")


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

        X, _ = sparse_rows(rows(), n_features, path)
    if X.shape[0] != n_rows:
        raise UserError(
            f"{path} has {X.shape[0]} rows, its header says {n_rows}; "
            "the file is cut off or not this one"
        )
    return Raw(X, np.array(label_start), np.array(labels), n_labels)


def _repository_header(line: bytes, path: Path) -> tuple[int, int, int]:
    if not re.fullmatch(rb"\d+\s+\d+\s+\d+", line.removeprefix(BOM).strip()):
        raise UserError(
            f"{path}, line 1: the header must be three numbers 'N D K', not {shown(line)}; "
            "get a file in the format of the Extreme Classification Repository"
        )
    n_rows, n_features, n_labels = map(int, line.removeprefix(BOM).split())
    if not 1 <= min(n_rows, n_features, n_labels) <= max(n_rows, n_features, n_labels) <= LARGEST:
        raise bad_line(
            path,
            1,
            f"the header {shown(line)} is not possible, "
            f"its numbers of rows, features and labels must lie between 1 and {LARGEST}",
        )
    return n_rows, n_features, n_labels


def _label_list(text: bytes, n_labels: int, path: Path, number: int) -> list[int]:
    text = text.strip()
    if not text:
        return []
    if not LABELS.fullmatch(text):
        raise bad_line(path, number, f"{shown(text)} is not a list of labels l1,l2 counted from 0")
    labels = list(map(int, text.split(b",")))
    if max(labels) >= n_labels:
        raise bad_line(
            path,
            number,
            f"label {max(labels)} is out of range, "
            f"the header says {n_labels} labels counted from 0",
        )
    return labels


def svmlight_files(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Svmlight format, ``l1,l2 f:v f:v ...``, features counted from 0 or 1 (see `svmlight`)."""
    train, test = svmlight.read([paths["train"], paths["test"]])
    return train, test


def user_files(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """Files of the user's own: repository format if they begin with its header, else svmlight.

    Without a test file, all rows are training rows.
    """
    headed = {path: _has_header(path) for path in paths.values()}
    if len(set(headed.values())) > 1:
        this, other = sorted(headed, key=lambda path: not headed[path])
        raise UserError(
            f"{this} begins with a header 'N D K', {other} does not; both must be in the same "
            "format, that of the Extreme Classification Repository or svmlight"
        )
    if any(headed.values()):
        parts = [_repository_split(path) for path in paths.values()]
    else:
        parts = svmlight.read(list(paths.values()))
    train = parts[0]
    return train, parts[1] if len(parts) > 1 else train.take(np.zeros(len(train), bool))


def _has_header(path: Path) -> bool:
    with open_content(path) as handle:
        line = handle.readline(1000).removeprefix(BOM).strip()
    return re.fullmatch(rb"-?\d+\s+-?\d+\s+-?\d+", line) is not None


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
        whole, numbers = sparse_rows(_arff_rows(handle, path, first_line), len(attributes), path)
    is_label = whole.indices >= n_features
    row = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))[is_label]
    strange = np.flatnonzero(whole.data[is_label] != 1)
    if len(strange):
        at = strange[0]
        raise bad_line(
            path,
            numbers[row[at]],
            f"label {whole.indices[is_label][at]} has the value "
            f"{whole.data[is_label][at]:g}, it must be 0 or 1",
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
            raise bad_line(
                path,
                number,
                f"a sparse ARFF row is written {{i v,j v}}, not {shown(line)}",
            )
        yield number, b" ".join(b":".join(pair.split()) for pair in line[1:-1].split(b","))


def idx(paths: Paths, settings: Settings) -> tuple[Raw, Raw]:
    """MNIST's idx files: images as rows of pixels, labels beside them."""
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
    "svmlight": svmlight_files,
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
