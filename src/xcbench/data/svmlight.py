"""svmlight format: lines ``label f:v f:v ... # remark``, also with several labels ``l1,l2``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Raw
from xcbench.data.files import open_content
from xcbench.data.sparse_text import BOM, LARGEST, shown, sparse_rows
from xcbench.errors import UserError

LABELS = re.compile(rb"[-+]?\d{1,18}(?:,[-+]?\d{1,18})*+")


def read(paths: list[Path]) -> list[Raw]:
    """Read files that belong together. Features count from 0 if any file has a feature 0, else from
    1. Labels are whole numbers, numbered in ascending order.

    Raises
    ------
    UserError
        With file and line, if a line is malformed.
    """  # noqa: D205
    parts = [rows(path) for path in paths]
    used = [X.indices for X, _, _ in parts if X.nnz]
    first = min(1, min((int(indices.min()) for indices in used), default=0))
    n_features = max(1, max((int(indices.max()) for indices in used), default=0) + 1 - first)
    names = np.unique(np.concatenate([labels for _, _, labels in parts]))
    return [
        Raw(
            sp.csr_array((X.data, X.indices - first, X.indptr), (X.shape[0], n_features)),
            start,
            np.searchsorted(names, labels),
            max(1, len(names)),
            names,
            first,
        )
        for X, start, labels in parts
    ]


def rows(path: Path, unlabelled: bool = False) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Features, numbered as in the file, and label lists as in `Raw`.

    Parameters
    ----------
    unlabelled : whether an unlabelled line may begin with a feature; else it must begin with a
        blank.
    """
    labels, label_start = array("q"), array("q", [0])

    def parsed(handle: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(handle, start=1):
            text = (line.removeprefix(BOM) if number == 1 else line).partition(b"#")[0]
            if not text.strip():
                continue
            head, *rest = text.split(maxsplit=1)
            if (unlabelled or text[:1].isspace()) and b":" in head:  # a row without label
                head, rest = b"", [text]
            elif not LABELS.fullmatch(head):
                raise UserError(
                    f"{path}, line {number}: {shown(text)} does not begin with a label, or labels "
                    "l1,l2, in whole numbers; a line is 'label feature:value ...' (svmlight), and "
                    "only a first line 'N D K' announces the format of the Extreme Classification "
                    "Repository"
                )
            else:
                labels.extend(map(int, head.split(b",")))
            label_start.append(len(labels))
            yield number, rest[0] if rest else b""

    with open_content(path) as handle:
        X, _ = sparse_rows(parsed(handle), LARGEST, path)
    if not X.shape[0]:
        raise UserError(f"{path} has no rows; get the file again")
    return X, np.array(label_start), np.array(labels, np.int64)
