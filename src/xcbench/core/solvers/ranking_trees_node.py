"""Rows of a node, and how it parts them: by the ranks of their labels, or by a hyperplane.

NumPy runs these functions as they are; the Numba engine compiles them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xcbench.core.engines import Compiled


class CsrArrays(NamedTuple):
    """The arrays of a CSR matrix: SciPy's checks take longer than the work in a small node."""

    shape: tuple[int, int]
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray

    @classmethod
    def of(cls, matrix: sp.csr_array) -> CsrArrays:
        """Arrays of always the same types, for which kernels are compiled once."""
        start, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        return cls(matrix.shape, start, columns, matrix.data.astype(np.float64))

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """How many values there are."""
        return len(self.data)


def node_rows(matrix: CsrArrays, rows: np.ndarray, engine: str) -> tuple[np.ndarray, CsrArrays]:
    """Columns that some of the rows have, and the rows with these alone."""
    take = functions(engine)[0]
    arrays = matrix.indptr, matrix.indices, matrix.data
    columns, start, place, values = take(*arrays, matrix.shape[1], rows)
    return columns, CsrArrays((len(rows), len(columns)), start, place, values)


@cache
def functions(engine: str) -> tuple[Compiled, ...]:
    """`take`, `alternate` and `products`, compiled for ``numba``."""
    if engine != "numba":
        return take, alternate, products
    from xcbench.core.kernels.compiling import inlined, kernel

    for called in (row_numbers, label_totals):
        inlined(called)
    return kernel(take), kernel(alternate), kernel(products)


def take(
    start: np.ndarray, columns: np.ndarray, values: np.ndarray, n_columns: int, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Some rows of a CSR matrix, without the columns that none of them has.

    Returns
    -------
    present : columns that are left, ascending.
    first, place, taken : arrays of the rows, with columns by their place in ``present``.
    """
    count = start[rows + 1] - start[rows]
    first = np.zeros(len(rows) + 1, np.int32)
    first[1:] = np.cumsum(count)
    where = np.arange(first[-1]) + np.repeat(start[rows] - first[:-1], count)
    chosen = columns[where]
    there = np.zeros(n_columns, np.bool_)
    there[chosen] = True
    present = np.flatnonzero(there)
    number = np.empty(n_columns, np.int32)
    number[present] = np.arange(len(present))
    return present, first, number[chosen], values[where]


def alternate(
    start: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    discount: np.ndarray,
    right: np.ndarray,
    tolerance: float,
) -> tuple[np.ndarray, list[float]]:
    """Order the labels of both parts, and move rows, until the mean gain rises by less.

    Parameters
    ----------
    start, labels, gains : rows of a CSR matrix.
    discount : (K,) of ranks.
    right : (n,) whether a row is in the right part, to begin with.

    Returns
    -------
    right, values : parts at the end, and the mean gain of every round.
    """
    row = row_numbers(start)
    orders, values = np.empty((2, len(discount))), []
    while True:
        value, totals = 0.0, label_totals(labels, gains, right[row], len(discount))
        for side in range(2):
            orders[side][np.argsort(-totals[side], kind="mergesort")] = discount
            value += np.dot(orders[side], totals[side])
        values.append(value / len(right))
        better = np.bincount(row, gains * (orders[1] - orders[0])[labels], len(right))
        right = np.where(better == 0, right, better > 0)
        if len(values) > 1 and values[-1] - values[-2] < tolerance:
            return right, values


def label_totals(
    labels: np.ndarray, gains: np.ndarray, right: np.ndarray, n_labels: int
) -> np.ndarray:
    """Gains (2, K) of every label, summed over the left part and over the right one."""
    return np.bincount(labels + n_labels * right, gains, 2 * n_labels).reshape(2, n_labels)


def products(
    start: np.ndarray, columns: np.ndarray, values: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Inner products (n,) of rows with w."""
    return np.bincount(row_numbers(start), values * w[columns], len(start) - 1)


def row_numbers(start: np.ndarray) -> np.ndarray:
    """Row of every entry of a CSR matrix."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))
