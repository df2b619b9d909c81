"""From X and y as scikit-learn's users have them to a problem and checked settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import options
from xcbench.core import statistics
from xcbench.core.dataset import Dataset, Info, Rows, Split
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.methods.method import Method, default_rate
from xcbench.methods.options import MethodOptions


@contextmanager
def value_errors() -> Iterator[None]:
    """A mistake in a setting is a `ValueError`, as scikit-learn's users expect."""
    try:
        yield
    except UserError as error:
        raise ValueError(str(error)) from None


def rows(X: Any, dtype: str) -> Rows:
    """Features as solvers want them: contiguous, sparse ones sorted and without duplicates."""
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


def dataset(train: Split, n_classes: int, info: Info | None = None) -> Dataset:
    """A problem of training rows alone.

    Parameters
    ----------
    info : of earlier rows, whose statistics stand for these too.
    """
    if info is None:
        test = Split(train.X[:0], train.y[:0])
        info = statistics.describe("data", "", False, train, test, n_classes)
    info = replace(info, train=len(train))
    counts = np.bincount(train.y, minlength=n_classes)
    return Dataset(info, train, Split(train.X[:0], train.y[:0]), counts)


@lru_cache(32)
def _schema(method: Method) -> Any:
    """Options of a method with their types; made once, since it takes milliseconds."""
    return OmegaConf.structured(method.schema(name=method.name))


def settings(name: str, given: Mapping[str, Any], info: Info) -> tuple[Method, MethodOptions]:
    """A method and its settings, checked for a problem, with the method's own rate where none is.

    Parameters
    ----------
    given : options by their names, nested ones as ``{"tree": {"dimensions": 8}}`` or
        ``{"tree.dimensions": 8}``; None is the method's default.

    Raises
    ------
    UserError
        If they are impossible.
    """
    method: Method = registry.find(name).thing
    node: Any = deepcopy(_schema(method))
    for option, value in given.items():
        if value is None:
            continue
        try:
            OmegaConf.update(node, option, value.item() if isinstance(value, np.generic) else value)
        except OmegaConfBaseException as error:
            known = ", ".join(entry for entry in node if entry != "name")
            reason = str(error).splitlines()[0]
            raise UserError(
                f"{option}={value!r} is not possible for method {name}: {reason}; "
                f"its options: {known}"
            ) from None
    if "negatives" in node and given.get("negatives") is None:
        node.negatives = min(node.negatives, info.classes - 1)  # a default is for any problem
    chosen: MethodOptions = OmegaConf.to_object(node)  # type: ignore[assignment]
    options.check(chosen)
    lacks = method.lacks(chosen)
    if lacks:
        raise UserError(lacks)
    registry.check(method, chosen, info)
    if chosen.lr is None and method.has_rate(chosen):
        chosen = replace(chosen, lr=default_rate(method, chosen, info))
    return method, chosen
