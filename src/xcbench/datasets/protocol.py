"""Protocols: from raw multi-label rows to one class a row, as a paper prescribes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.config import Protocol
from xcbench.datasets.value import Raw, Rows, Split, square_norms
from xcbench.errors import UserError


def apply(train: Raw, test: Raw, protocol: Protocol) -> tuple[Split, Split, int]:
    """Pick one label a row, number the classes, scale the features.

    Rows without any label are dropped.

    Returns
    -------
    train, test : the rows of the problem.
    K : number of classes.

    Raises
    ------
    UserError
        If the training rows have fewer than two classes, no test row is left, or the scaled
        features overflow.
    """
    (X_train, first), (X_test, second) = (_one_label(raw, protocol.label) for raw in (train, test))
    seen = first if protocol.classes == "train" else np.concatenate([first, second])
    classes = np.unique(seen)
    known = np.isin(second, classes)
    X_test, second = X_test[known], second[known]
    if len(np.unique(first)) < 2:
        raise UserError(
            f"the classes in the training rows are {len(np.unique(first))}, "
            "at least two are needed; get other data"
        )
    if not len(second):
        raise UserError("no test row has a label that is a class; get other data")
    return (
        Split(_scaled(X_train, protocol), np.searchsorted(classes, first)),
        Split(_scaled(X_test, protocol), np.searchsorted(classes, second)),
        len(classes),
    )


def _one_label(raw: Raw, rule: str) -> tuple[Rows, np.ndarray]:
    """Rows that have a label, and the label the rule picks."""
    start, stop = raw.label_start[:-1], raw.label_start[1:]
    labelled = stop > start
    if not labelled.any():
        return raw.X[labelled], np.zeros(0, np.int64)
    if rule == "first":
        label = raw.labels[start[labelled]]
    else:
        label = np.minimum.reduceat(raw.labels, start[labelled])
    return raw.X[labelled], label


def _scaled(X: Rows, protocol: Protocol) -> Rows:
    """Divide by the constant, then normalise rows; rows of zeros stay zero."""
    scale = np.full(X.shape[0], 1 / protocol.divide_by)
    if protocol.row_norm == "l2":
        norm = np.sqrt(square_norms(X))
        scale = np.divide(1.0, norm, out=np.ones_like(norm), where=norm > 0)
    values = X if isinstance(X, np.ndarray) else X.data
    factor = scale[:, None] if isinstance(X, np.ndarray) else np.repeat(scale, np.diff(X.indptr))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ascontiguousarray(values * factor, dtype=np.float32)
    if not np.isfinite(scaled).all():
        raise UserError(
            f"features divided by dataset.protocol.divide_by={protocol.divide_by:g} "
            "overflow float32; choose a larger one"
        )
    if isinstance(X, np.ndarray):
        return scaled
    return sp.csr_array((scaled, X.indices, X.indptr), X.shape)
