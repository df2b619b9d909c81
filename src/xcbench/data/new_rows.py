"""Read rows for prediction, in the format of the training rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import scipy.sparse as sp

from xcbench.core.dataset import Rows
from xcbench.data import dense_text, labelled_lines, labelled_rows, readers
from xcbench.data.files import open_content
from xcbench.data.inputs import Inputs
from xcbench.data.sparse_text import BOM, LARGEST, bad_line, shown, sparse_rows
from xcbench.errors import UserError

HEADER = re.compile(rb"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})")
LABELS = re.compile(rb"\d+(?:,\d+)*+")
DENSE = {"idx": readers.images, "dense_text": dense_text.rows}


def read(
    path: Path, inputs: Inputs, reader: str = "", encoding: str = labelled_lines.ENCODING
) -> Rows:
    """Rows of a file in the format of a cell's reader: ARFF, idx, dense text, or svmlight.

    Rows of any other reader are in the repository's format. Labels and the header may be missing.

    Raises
    ------
    UserError
        With file and line, if a line is malformed or has a feature unknown to the cell.
    """
    if reader in DENSE or reader == "mulan_arff":
        X = DENSE[reader](path) if reader in DENSE else readers.arff(path, inputs.width)[0].X
        if X.shape[1] != inputs.width:
            raise UserError(
                f"{path} has {X.shape[1]} features a row, the cell was trained on {inputs.width}; "
                "give rows with the same features"
            )
        return _some(X, path)
    if inputs.first < 0:
        return _repository(path, inputs)
    return _svmlight(path, inputs, encoding)


def _some(X: Rows, path: Path) -> Rows:
    if not X.shape[0]:
        raise UserError(f"{path} has no rows; give it at least one")
    return X


def _svmlight(path: Path, inputs: Inputs, encoding: str) -> sp.csr_array:
    labelled_rows.check_header(path, inputs)
    parts = [block.X for block in labelled_lines.blocks(path, encoding, unlabelled=True)]
    if not parts:
        raise UserError(f"{path} has no rows; give it at least one")
    X = sp.csr_array(sp.vstack(parts, format="csr"))
    last = inputs.first + inputs.width - 1
    strange = X.indices[(X.indices < inputs.first) | (X.indices > last)]
    if len(strange) and not inputs.hashed:
        raise UserError(
            f"{path} has a feature {strange[0]}; the cell was trained on svmlight files with the "
            f"features {inputs.first} to {last}; give rows with the same features"
        )
    return labelled_rows.at(X, inputs)[0]


def _repository(path: Path, inputs: Inputs) -> Rows:
    with open_content(path) as handle:
        first = handle.readline().removeprefix(BOM)
        header = HEADER.fullmatch(first.strip())
        expected = None
        if header:
            expected = int(header[1])
            if int(header[2]) != inputs.width and not inputs.hashed:
                raise UserError(
                    f"{path}, line 1: the header says {int(header[2])} features, "
                    f"the cell was trained on {inputs.width}; give rows with the same features"
                )
        width = LARGEST if inputs.hashed else inputs.width
        X, _ = sparse_rows(_rows(handle, path, b"" if header else first), width, path)
    if expected not in (None, X.shape[0]):
        raise UserError(
            f"{path} has {X.shape[0]} rows, its header says {expected}; the file is cut off or "
            "its header is wrong"
        )
    return _some(labelled_rows.at(X, inputs)[0], path)


def _rows(handle: IO[bytes], path: Path, first: bytes) -> Iterator[tuple[int, bytes]]:
    """Pairs of each row behind its labels, with the number of the line."""
    if first:
        yield 1, _pairs(first, path, 1)
    for number, line in enumerate(handle, start=2):
        yield number, _pairs(line, path, number)


def _pairs(line: bytes, path: Path, number: int) -> bytes:
    head, _, tail = line.partition(b" ")
    if b":" in head:  # a row without label
        return line
    if head.strip() and not LABELS.fullmatch(head.strip()):
        raise bad_line(
            path,
            number,
            f"{shown(head)} is neither a list of labels l1,l2 nor a pair feature:value",
        )
    return tail
