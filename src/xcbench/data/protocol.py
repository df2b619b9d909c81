"""Protocols: from raw multi-label rows to one class a row, as in a paper.

The steps are: select rows and labels, split, choose the class of each row, scale features. Label
counts, TF-IDF and largest values are fitted on the training rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import LabelSets, Raw, Rows, Split, square_norms
from xcbench.data.inputs import UNLABELLED, Inputs
from xcbench.data.settings import Protocol
from xcbench.errors import UserError

SVD_PASSES = 7  # power iterations of the randomised algorithm
SVD_OVERSAMPLES = 10  # directions more than are kept


def apply(train: Raw, test: Raw, protocol: Protocol) -> tuple[Split, Split, int, int]:
    """Apply a protocol; gives training rows, test rows, number of classes and dropped test rows."""
    first, second, inputs, dropped = problem(train, test, protocol)
    return first, second, len(inputs.labels), dropped


def training(rows: Raw, protocol: Protocol) -> tuple[Split, Inputs]:
    """As `problem`, for data without test rows."""
    nothing = rows.take(np.zeros(len(rows), bool))
    train, _, inputs, _ = problem(rows, nothing, protocol, alone=True)
    return train, inputs


def problem(
    train: Raw, test: Raw, protocol: Protocol, alone: bool = False
) -> tuple[Split, Split, Inputs, int]:
    """Choose the rows, one label a row, number the classes, scale the features.

    Parameters
    ----------
    alone : whether test rows are optional.

    Returns
    -------
    train, test : the rows of the problem.
    inputs : transformation of further rows, and labels of classes.
    dropped : test rows dropped because their label is no class (pairs, with ``label=each``).

    Raises
    ------
    UserError
        If the training rows have fewer than two classes, no test row remains, scaled features
        overflow, or a label is that of rows without any.
    """
    if protocol.label == "each" and protocol.other_labels == "drop":
        raise UserError(
            "dataset.protocol.other_labels=drop is not possible with label=each, which chooses "
            "every label; leave one of them out"
        )
    width, names, n_labels = train.X.shape[1], train.label_names, train.n_labels
    train, test = _frequent_labels(train, test, protocol.min_rows)
    train, test = (_usable(raw, protocol) for raw in (train, test))
    if protocol.split != "given":
        train, test = _drawn_split(_joined(train, test), protocol)
    if protocol.rows:
        train, test = (raw.take(np.arange(len(raw)) < protocol.rows) for raw in (train, test))
    rank = _ranks(train, test, protocol.label)
    X_train, first = _one_label(train, protocol.label, *rank)
    offered = len(test.labels) if protocol.label == "each" else len(test)
    if protocol.classes == "train_usable":
        test = test.keep_labels(np.isin(test.labels, first))
        test = test.take(test.label_counts > 0)
    X_test, second = _one_label(test, protocol.label, *rank)
    seen = np.concatenate([first, second]) if protocol.classes == "train_and_test" else first
    classes = np.arange(train.n_labels) if protocol.classes == "declared" else np.unique(seen)
    called = _names(classes, names, n_labels)
    if len(np.unique(called)) < len(called):
        raise UserError(
            f"dataset.protocol.unlabelled={protocol.unlabelled} calls rows without a label "
            f"{UNLABELLED}, which is a label of the file; name that otherwise"
        )
    usable = np.isin(second, classes)
    if len(np.unique(first)) < 2:
        raise UserError(
            f"number of classes in the training rows: {len(np.unique(first))}, "
            "at least two are needed; get other data, or change dataset.protocol"
        )
    if not (alone or usable.any()):
        raise UserError(
            "no test row has a label that is a class; get other data, "
            "or change dataset.protocol (split=random draws a test part)"
        )
    X_test, second = X_test[usable], second[usable]
    factors = column_factors(X_train, protocol)
    sets: list[LabelSets | None] = [None, None]
    several = any(raw.label_counts.max(initial=0) > 1 for raw in (train, test))
    if several and protocol.other_labels == "keep":
        trained = np.ones(len(first), bool)
        sets = [
            _label_sets(raw, rows, classes, protocol.label)
            for raw, rows in ((train, trained), (test, usable))
        ]
    X_train, X_test = (scaled(X, factors, protocol) for X in (X_train, X_test))
    axes, centre = np.zeros((X_train.shape[1], 0)), np.zeros(0)
    if protocol.svd:
        axes, centre = principal_axes(X_train, protocol)
        X_train, X_test = (along(X, axes, centre) for X in (X_train, X_test))
    base = -1 if train.first_feature is None else train.first_feature
    return (
        Split(X_train, np.searchsorted(classes, first), sets[0]),
        Split(X_test, np.searchsorted(classes, second), sets[1]),
        Inputs(base, width, factors, axes, called, centre),
        offered - len(second),
    )


def _names(classes: np.ndarray, names: np.ndarray | None, n_labels: int) -> np.ndarray:
    """Labels of the classes; the one that follows those of the files is `UNLABELLED`."""
    if names is None:
        return np.where(classes == n_labels, UNLABELLED, classes)
    return np.append(names, UNLABELLED)[classes]


# ---------------------------------------------------------------- which rows and labels
def _frequent_labels(train: Raw, test: Raw, min_rows: int) -> tuple[Raw, Raw]:
    """Without the labels that fewer rows have, training and test rows together."""
    if min_rows == 1:
        return train, test
    labels, counts = np.unique(np.concatenate([train.labels, test.labels]), return_counts=True)
    frequent = labels[counts >= min_rows]
    train, test = (raw.keep_labels(np.isin(raw.labels, frequent)) for raw in (train, test))
    return train, test


def _usable(raw: Raw, protocol: Protocol) -> Raw:
    """Rows with a label and with features, as far as the protocol asks for them."""
    if protocol.features:
        raw = replace(raw, X=raw.X[:, : protocol.features])
    if protocol.features or protocol.featureless == "drop":
        raw = raw.take(_has_features(raw.X))
    return (
        raw.take(raw.label_counts > 0) if protocol.unlabelled == "drop" else _unlabelled_class(raw)
    )


def _has_features(X: Rows) -> np.ndarray:
    return np.asarray(X.any(axis=1)) if isinstance(X, np.ndarray) else np.diff(X.indptr) > 0


def _unlabelled_class(raw: Raw) -> Raw:
    """Rows without any label get one more label, the largest."""
    bare = raw.label_counts == 0
    labels = np.insert(raw.labels, raw.label_start[:-1][bare], raw.n_labels)
    start = raw.label_start + np.concatenate([[0], np.cumsum(bare)])
    return replace(raw, label_start=start, labels=labels, n_labels=raw.n_labels + 1)


# ---------------------------------------------------------------- which rows train
def _joined(train: Raw, test: Raw) -> Raw:
    X: Rows
    if isinstance(train.X, np.ndarray):
        X = np.concatenate([train.X, test.X])
    else:
        X = sp.csr_array(sp.vstack([train.X, sp.csr_array(test.X)], format="csr"))
    start = np.concatenate([train.label_start, test.label_start[1:] + len(train.labels)])
    labels = np.concatenate([train.labels, test.labels])
    return replace(train, X=X, label_start=start, labels=labels)


def _drawn_split(raw: Raw, protocol: Protocol) -> tuple[Raw, Raw]:
    """A random fraction of all rows, or of the rows of every label; rows keep their order."""
    group = np.zeros(len(raw), np.int64)
    if protocol.split == "per_label" and len(raw):
        smallest = np.minimum.reduceat(raw.labels, raw.label_start[:-1])
        group = np.unique(smallest, return_inverse=True)[1]
    drawn = np.random.default_rng(protocol.split_seed).permutation(len(raw))
    drawn = drawn[np.argsort(group[drawn], kind="stable")]  # group by group, each in random order
    size = np.bincount(group)
    place = np.arange(len(raw)) - np.repeat(np.cumsum(size) - size, size)
    quota = np.floor(protocol.split_train * size + 1e-9)
    trains = np.zeros(len(raw), bool)
    trains[drawn[place < np.repeat(quota, size)]] = True
    return raw.take(trains), raw.take(~trains)


# ---------------------------------------------------------------- the class of a row
def _ranks(train: Raw, test: Raw, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """All labels in ascending order, and the place of each in the rule's order of preference."""
    labels = np.unique(np.concatenate([train.labels, test.labels]))
    rank = np.arange(len(labels))
    if rule == "rarest":
        counts = np.bincount(np.searchsorted(labels, train.labels), minlength=len(labels))
        rank[np.argsort(counts, kind="stable")] = np.arange(len(labels))
    return labels, rank


def _one_label(
    raw: Raw, rule: str, labels: np.ndarray, rank: np.ndarray
) -> tuple[Rows, np.ndarray]:
    """Rows, and the label of each; every row has at least one label."""
    if rule == "each":
        return raw.X[np.repeat(np.arange(len(raw)), raw.label_counts)], raw.labels
    start = raw.label_start[:-1]
    if rule == "first" or not len(raw):
        return raw.X, raw.labels[start]
    best = np.minimum.reduceat(rank[np.searchsorted(labels, raw.labels)], start)
    return raw.X, labels[np.argsort(rank)[best]]


def _label_sets(raw: Raw, usable: np.ndarray, classes: np.ndarray, rule: str) -> LabelSets:
    """All classes of the rows, or with ``each`` of the (row, label) pairs, that are usable."""
    row = np.repeat(np.arange(len(raw)), raw.label_counts)
    chosen = np.isin(raw.labels, classes)
    place = np.searchsorted(classes, raw.labels[chosen])
    row_count = np.bincount(row[chosen], minlength=len(raw))
    rows = row[usable] if rule == "each" else np.flatnonzero(usable)
    count = row_count[rows]
    start = np.concatenate([[0], np.cumsum(count)])
    first = (np.cumsum(row_count) - row_count)[rows]
    positions = np.arange(start[-1]) + np.repeat(first - start[:-1], count)
    return LabelSets(start, place[positions], 1 / count if rule == "each" else np.ones(len(rows)))


# ---------------------------------------------------------------- the values of the features
def column_factors(X: Rows, protocol: Protocol) -> np.ndarray:
    """Factor of every feature, fitted on the training rows."""
    factors = np.full(X.shape[1], 1 / protocol.divide_by)
    if protocol.tfidf:
        rows_with = np.count_nonzero(X, axis=0) if isinstance(X, np.ndarray) else _counts(X)
        factors *= np.log((1 + X.shape[0]) / (1 + rows_with)) + 1
    if protocol.column_scale == "max":
        largest = X.max(axis=0) if isinstance(X, np.ndarray) else X.max(axis=0).toarray().ravel()
        np.divide(1.0, largest, out=factors, where=largest > 0, dtype=np.float64)
    return factors


def _counts(X: sp.csr_array) -> np.ndarray:
    return np.bincount(X.indices, minlength=X.shape[1])


def scaled(X: Rows, factors: np.ndarray, protocol: Protocol) -> Rows:
    """Multiply the columns, normalise rows (rows of zeros stay zero), append the constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        X = _with_values(
            X, X * factors if isinstance(X, np.ndarray) else X.data * factors[X.indices]
        )
        if protocol.row_norm == "l2":
            X = _unit_rows(X)
        values = X if isinstance(X, np.ndarray) else X.data
        values = np.ascontiguousarray(values, dtype=np.float32)
    if not np.isfinite(values).all():
        raise UserError(
            f"features divided by dataset.protocol.divide_by={protocol.divide_by:g} "
            "overflow float32; choose a larger one"
        )
    X = _with_values(X, values)
    return _with_constant(X, protocol.constant) if protocol.constant else X


def principal_axes(train: Rows, protocol: Protocol) -> tuple[np.ndarray, np.ndarray]:
    """Leading right singular vectors (D, size) of the training rows, and the mean's coordinates.

    The latter, (size,), are empty unless the mean is subtracted.
    """
    k = min(protocol.svd, *train.shape)
    if protocol.svd_centred:
        mean = np.asarray(train.mean(axis=0), np.float64).ravel()
        axes = centred_axes(train, mean, k)
        return axes, mean @ axes
    from sklearn.utils.extmath import randomized_svd  # imported where it is needed: it takes time

    axes = randomized_svd(train, k, n_iter=SVD_PASSES, random_state=0)[2].T
    return np.asarray(axes), np.zeros(0)


def centred_axes(X: Rows, mean: np.ndarray, k: int) -> np.ndarray:
    """Leading right singular vectors (D, k) of X - 1 mean', without making that matrix.

    Uses a randomised range finder with power iterations (Halko, Martinsson and Tropp 2011), which
    scikit-learn has for matrices without centring only.
    """
    width = min(k + SVD_OVERSAMPLES, *X.shape)
    along_features = np.random.default_rng(0).standard_normal((X.shape[1], width))
    for _ in range(1 + SVD_PASSES):
        along_rows = np.linalg.qr(X @ along_features - mean @ along_features)[0]
        along_features = X.T @ along_rows - np.outer(mean, along_rows.sum(axis=0))
    squares, turn = np.linalg.eigh(along_features.T @ along_features)
    lengths = np.sqrt(np.maximum(squares[::-1][:k], np.finfo(float).tiny))
    return np.asarray(along_features @ turn[:, ::-1][:, :k] / lengths)


def check_inputs(inputs: Inputs, protocol: Protocol) -> None:
    """Check that stored inputs are such as this protocol makes.

    Raises
    ------
    ValueError
        If they are not.
    """
    kept = min(protocol.features or inputs.width, inputs.width)
    rows, axes = inputs.axes.shape
    fits = {
        "factors": len(inputs.factors) == kept,
        "axes": rows == kept + bool(protocol.constant)
        and bool(axes) == bool(protocol.svd)
        and axes <= protocol.svd,
        "centre": bool(inputs.centre.size) == bool(axes and protocol.svd_centred),
    }
    for name, fit in fits.items():
        if not fit:
            raise ValueError(f"{name} of the inputs are not those of the protocol")


def applied(X: Rows, inputs: Inputs, protocol: Protocol) -> Rows:
    """Transform further rows as the training rows were transformed."""
    X = scaled(X[:, : len(inputs.factors)], inputs.factors, protocol)
    return along(X, inputs.axes, inputs.centre) if inputs.axes.size else X


def along(X: Rows, axes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Coordinates of rows along axes (D, size), dense, from a centre if there is one."""
    coordinates = X @ axes
    return np.ascontiguousarray(coordinates - centre if centre.size else coordinates, np.float32)


def _with_values(X: Rows, values: np.ndarray) -> Rows:
    """Rows with other values in the same places."""
    if isinstance(X, np.ndarray):
        return values
    return sp.csr_array((values, X.indices, X.indptr), X.shape)


def _unit_rows(X: Rows) -> Rows:
    norm = np.sqrt(square_norms(X))
    scale = np.divide(1.0, norm, out=np.ones_like(norm), where=norm > 0)
    if isinstance(X, np.ndarray):
        return X * scale[:, None]
    return _with_values(X, X.data * np.repeat(scale, np.diff(X.indptr)))


def _with_constant(X: Rows, value: float) -> Rows:
    last = np.full((X.shape[0], 1), value, np.float32)
    if isinstance(X, np.ndarray):
        return np.hstack([X, last])
    return sp.csr_array(sp.hstack([X, sp.csr_array(last)], format="csr"))
