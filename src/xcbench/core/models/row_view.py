"""Rows of a dataset as kernels take them, without a copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core import kernels
from xcbench.core.dataset import Rows


@dataclass(slots=True)
class RowView:
    """Rows ``index`` of X without a copy: ``values[begin[i]:end[i]]`` at those ``features``."""

    X: Rows
    index: np.ndarray | slice
    begin: np.ndarray
    end: np.ndarray
    features: np.ndarray | None
    values: np.ndarray

    @classmethod
    def of(cls, X: Rows, index: np.ndarray | slice) -> RowView:
        """View of rows of a dataset."""
        if isinstance(X, np.ndarray):
            begin = np.arange(len(X))[index] * X.shape[1]
            return cls(X, index, begin, begin + X.shape[1], None, fixed(X.reshape(-1)))
        begin, end = X.indptr[:-1][index], X.indptr[1:][index]
        # Unsigned numbers spare the test for negative ones in every access.
        kind = f"u{X.indices.dtype.itemsize}"
        return cls(
            X,
            index,
            begin.astype(np.int64),
            end.astype(np.int64),
            fixed(X.indices).view(kind),
            fixed(X.data),
        )

    def __len__(self) -> int:
        return len(self.begin)

    def part(self, first: int, last: int) -> RowView:
        """Rows first..last-1."""
        index = np.arange(len(self))[self.index] if isinstance(self.index, slice) else self.index
        part = slice(first, last)
        return RowView(
            self.X, index[part], self.begin[part], self.end[part], self.features, self.values
        )

    @property
    def record(self) -> kernels.Rows:
        """What a kernel takes."""
        return kernels.Rows(self.begin, self.end, self.features, self.values)


def fixed(array: np.ndarray) -> np.ndarray:
    """Plain read-only view, so that memory maps and arrays are one type for the compiler."""
    plain = np.asarray(array).view(np.ndarray)
    plain.flags.writeable = False
    return plain
