"""All labelled rows of files that belong together, for every command that reads a user's files."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.hashing import hashed
from xcbench.data.inputs import Inputs
from xcbench.data.labelled_lines import ENCODING, Header, blocks
from xcbench.errors import UserError
from xcbench.system import memory

REMEDY = (
    "hash the features with features=1048576 (of a dataset dataset.features=1048576), number them "
    "without gaps, or use a machine with more memory"
)
INTEGER = re.compile(r"[-+]?[0-9]{1,18}")


def read(paths: Sequence[Path], encoding: str = ENCODING, features: int | None = None) -> list[Raw]:
    """All rows of files that belong together.

    In svmlight files, labels are numbered in ascending order, whole numbers as numbers. Features
    count from 0 if any file has a feature 0, else from 1.

    Parameters
    ----------
    features : number of places to which features are hashed; None for no hashing.

    Raises
    ------
    UserError
        If a file is malformed, or the features need more memory than there is.
    """
    if features:
        memory.check_features(features, f"features={features}", "choose fewer")
    headers = [Header.if_any(path) for path in paths]
    if not any(headers):
        return _numbered(paths, encoding, features)
    if not all(headers):
        this, other = sorted(zip(headers, paths, strict=True), key=lambda pair: pair[0] is None)
        raise UserError(
            f"{this[1]} begins with a header 'N D K', {other[1]} does not; both must be in the "
            "same format, that of the Extreme Classification Repository or svmlight"
        )
    return [
        _counted(path, header, features)
        for path, header in zip(paths, headers, strict=True)
        if header
    ]


def at(X: sp.csr_array, inputs: Inputs) -> tuple[sp.csr_array, int]:
    """Rows at the features of the training rows, and the number of values left out."""
    first, width = max(inputs.first, 0), inputs.width
    if inputs.hashed:
        return hashed(X, width), 0
    inside = (X.indices >= first) & (X.indices < first + width)
    start = np.concatenate([[0], np.cumsum(inside)])[X.indptr].astype(X.indptr.dtype)
    values, features = X.data[inside], X.indices[inside] - first
    return sp.csr_array((values, features, start), (X.shape[0], width)), int((~inside).sum())


def check_header(path: Path, inputs: Inputs) -> None:
    """Refuse rows that a header counts otherwise than the training rows.

    Raises
    ------
    UserError
        If the file has a header that does not fit.
    """
    header = Header.if_any(path)
    if header and inputs.first > 0:
        raise UserError(
            f"{path}, line 1: a header 'N D K' says that features count from 0, those of the "
            "training rows count from 1; give svmlight rows"
        )
    if header and inputs.first < 0 and header.features != inputs.width and not inputs.hashed:
        raise UserError(
            f"{path}, line 1: the header says {header.features} features, the training rows have "
            f"{inputs.width}; give rows with the same features"
        )


# ---------------------------------------------------------------- all rows of a file
@dataclass(frozen=True)
class _File:
    """Rows of a file with label codes as in `Raw`, and where its largest feature stands."""

    X: sp.csr_array
    start: np.ndarray
    labels: np.ndarray
    line: int

    @classmethod
    def read(cls, path: Path, encoding: str, code: Callable[[str], int]) -> _File:
        """Read all blocks; ``code`` gives the code of a label."""
        parts, codes, counts = [], array("q"), array("q", [0])
        largest, line = -1, 1
        for block in blocks(path, encoding):
            parts.append(block.X)
            for labels in block.labels:
                distinct = dict.fromkeys(map(code, labels))  # a label of a row may come twice
                codes.extend(distinct)
                counts.append(len(distinct))
            if block.X.indices.max(initial=-1) > largest:
                place = int(block.X.indices.argmax())
                largest = int(block.X.indices[place])
                line = block.lines[np.searchsorted(block.X.indptr, place, side="right") - 1]
        if not parts:
            raise UserError(f"{path} has no rows; get the file again")
        X = parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts, format="csr"))
        return cls(X, np.cumsum(counts), np.array(codes, np.int64), int(line))


def _counted(path: Path, header: Header, features: int | None) -> Raw:
    """Rows of a file in the repository's format."""
    if not features:
        where = f"{path}, line 1: a row of {header.features} features"
        memory.check_features(header.features, where, REMEDY)
    part = _File.read(path, ENCODING, int)
    X = hashed(part.X, features) if features else part.X
    return Raw(X, part.start, part.labels, header.labels)


def _numbered(paths: Sequence[Path], encoding: str, features: int | None) -> list[Raw]:
    """Rows of svmlight files."""
    codes: dict[str, int] = {}  # of labels, in the order in which they come
    parts = [
        _File.read(path, encoding, lambda label: codes.setdefault(label, len(codes)))
        for path in paths
    ]
    names, place = _names(list(codes))
    smallest = min((int(part.X.indices.min()) for part in parts if part.X.nnz), default=0)
    first, width = min(1, smallest), 1
    for path, part in zip(paths, parts, strict=True):
        largest = int(part.X.indices.max(initial=0))
        width = max(width, largest + 1 - first)
        if not features:
            where = f"{path}, line {part.line}: feature {largest}"
            memory.check_features(largest + 1 - first, where, REMEDY)
    return [
        Raw(
            hashed(X, features)
            if features
            else sp.csr_array((X.data, X.indices - first, X.indptr), (X.shape[0], width)),
            part.start,
            place[part.labels],
            max(1, len(names)),
            names,
            first,
        )
        for part in parts
        for X in [part.X]
    ]


def _names(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels in ascending order, and the place of each word among them."""
    texts: np.ndarray = np.array(words, np.str_)
    if all(INTEGER.fullmatch(word) for word in words):
        texts = texts.astype(np.int64)
    return np.unique(texts, return_inverse=True)
