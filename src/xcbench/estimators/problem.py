"""Convert X, y and parameters of scikit-learn's kind to a problem and checked settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import options
from xcbench.core import statistics
from xcbench.core.dataset import Dataset, Info, LabelSets, Rows, Split
from xcbench.errors import UserError, suggestion
from xcbench.methods import registry
from xcbench.methods.method import Method, with_rate
from xcbench.methods.options import AUTO, MethodOptions
from xcbench.options import Options
from xcbench.system import memory

Features = ArrayLike | sp.sparray | sp.spmatrix
Labels = ArrayLike | sp.sparray | sp.spmatrix | Sequence[Collection[object]]


@contextmanager
def value_errors() -> Iterator[None]:
    """Context that raises mistakes in settings as `ValueError`, as scikit-learn's users expect."""
    try:
        yield
    except UserError as error:
        raise ValueError(str(error)) from None


def rows(X: Any, dtype: str) -> Rows:
    """Prepare features for the solvers: contiguous; sparse ones sorted, without duplicates."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype)
    sparse: Any = sp.csr_array(X).astype(dtype, copy=False)
    if not sparse.has_canonical_format:
        sparse = sparse.copy()
        sparse.sum_duplicates()
    if max(*sparse.shape, sparse.nnz) < 2**31:
        sparse.indices = sparse.indices.astype(np.int32, copy=False)
        sparse.indptr = sparse.indptr.astype(np.int32, copy=False)
    return sparse


def label_sets(y: object) -> tuple[np.ndarray, sp.csr_array] | None:
    """Classes and indicator matrix (N, K) of a target with several labels a row.

    Parameters
    ----------
    y : indicator matrix, dense or sparse; or a sequence of collections of labels, not of strings.
        Any other target has no label sets.
    """
    if sp.issparse(y) or (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1):
        matrix: Any = y
        if not np.isin(matrix.data if sp.issparse(y) else matrix, (0, 1)).all():
            raise ValueError("y of several columns is an indicator: its values must be 0 and 1")
        indicator = sp.csr_array(matrix).astype(bool)
        indicator.eliminate_zeros()
        indicator.sort_indices()
        return np.arange(indicator.shape[1]), indicator
    if not isinstance(y, Sequence) or isinstance(y, str) or not len(y):
        return None
    if not all(isinstance(labels, list | tuple | set | frozenset) for labels in y):
        return None
    if all(isinstance(labels, list) and len(labels) == 1 for labels in y):
        return None  # a column of single labels
    rows = [sorted(set(labels)) for labels in y]
    if any(len(row) < len(labels) for row, labels in zip(rows, y, strict=True)):
        raise ValueError("y has a row with a label twice; an indicator must be an array")
    classes, place = np.unique([label for row in rows for label in row], return_inverse=True)
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    shape = len(rows), len(classes)
    return classes, sp.csr_array((np.ones(len(place), bool), place, start), shape)


def reduced(X: Rows, indicator: sp.csr_array, reduction: str) -> Split:
    """Reduce rows to one class each: the smallest label, or one row for each label.

    Rows without a label are left out.
    """
    counts = np.diff(indicator.indptr)
    if reduction == "one_label":
        some = np.flatnonzero(counts)
        return Split(X[some], indicator.indices[indicator.indptr[:-1][some]].astype(np.int64))
    row = np.repeat(np.arange(len(counts)), counts)
    size = counts[row]
    start = np.concatenate([[0], np.cumsum(size)])
    place = np.arange(start[-1]) + np.repeat(indicator.indptr[row] - start[:-1], size)
    sets = LabelSets(start, indicator.indices[place].astype(np.int64), 1 / size)
    return Split(X[row], indicator.indices.astype(np.int64), sets)


def dataset(train: Split, n_classes: int, info: Info | None = None) -> Dataset:
    """Make a problem that has training rows only.

    Parameters
    ----------
    info : statistics of earlier rows, to be used for these too.
    """
    if info is None:
        test = Split(train.X[:0], train.y[:0])
        with value_errors():
            memory.check_features(
                train.X.shape[1],
                f"X with {train.X.shape[1]:,} features",
                "leave out columns without values, hash the features (scikit-learn has "
                "FeatureHasher), or use a machine with more memory",
            )
        info = statistics.describe("data", "", False, train, test, n_classes)
    info = replace(info, train=len(train))
    counts = np.bincount(train.y, train.weight, n_classes)
    return Dataset(info, train, Split(train.X[:0], train.y[:0]), counts)


@lru_cache(32)
def _schema(method: Method) -> Options:
    """Options of a method with their types; made once, since it takes milliseconds."""
    return OmegaConf.structured(method.schema(name=method.name))


def settings(name: str, values: Mapping[str, object], info: Info) -> tuple[Method, MethodOptions]:
    """Check a method and its settings for a problem; fill in the default rate where none is set.

    Parameters
    ----------
    values : options by their names, nested ones as ``{"tree": {"dimensions": 8}}`` or
        ``{"tree.dimensions": 8}``; None is the method's default.

    Raises
    ------
    UserError
        If they are invalid.
    """
    method: Method = registry.find(name).thing
    node: Any = deepcopy(_schema(method))
    names = [entry for entry in node if entry != "name"]
    choices = ", ".join(names)
    for option, value in values.items():
        if value is None:
            continue
        if option.partition(".")[0] not in names:
            meant = suggestion(option, [*names, "method"])
            raise UserError(f"method {name} has no option {option}{meant}; its options: {choices}")
        try:
            OmegaConf.update(node, option, value.item() if isinstance(value, np.generic) else value)
        except OmegaConfBaseException as error:
            reason = str(error).splitlines()[0]
            raise UserError(
                f"{option}={value!r} is not possible for method {name}: {reason}; "
                f"its options: {choices}"
            ) from None
    if "negatives" in node and values.get("negatives") is None:
        node.negatives = min(node.negatives, info.classes - 1)  # a default is for any problem
    chosen: MethodOptions = OmegaConf.to_object(node)  # type: ignore[assignment]
    options.check(chosen)
    lacks = method.lacks(chosen)
    if lacks:
        raise UserError(lacks)
    registry.check(method, chosen, info)
    if chosen.lr == AUTO and not method.has_rate(chosen):
        if values.get("lr") is None:
            return method, replace(chosen, lr=None)
        raise UserError(
            f"method {name} with these settings has no learning rate; leave lr={AUTO} out"
        )
    return method, chosen if chosen.lr == AUTO else with_rate(method, chosen, info)
