"""Sums over groups of rows, for many small groups at once.

The rows of a group are cut into pieces of equal length, the last one padded with zeros. Sums over
pieces are products of small matrices; these are then summed by group.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

LENGTHS = (8, 256)  # of a piece
BLOCK_NUMBERS = 1 << 21  # numbers of a temporary array


class Segments:
    """Groups of rows.

    Parameters
    ----------
    group : (N,) group of every row, of 0..n_groups-1.
    n_groups : V; a group may be empty.
    """

    def __init__(self, group: np.ndarray, n_groups: int) -> None:
        count = np.bincount(group, minlength=n_groups)
        typical = 1 << max(1, len(group) // n_groups).bit_length()
        self.length = int(np.clip(typical // 2, *LENGTHS))
        pieces = np.maximum(1, -(-count // self.length))
        start = np.concatenate([[0], np.cumsum(pieces)])
        self.owner = np.repeat(np.arange(n_groups), pieces)
        ones = np.ones(len(self.owner))
        self._together = sp.csr_array((ones, np.arange(len(ones)), start))
        order = np.argsort(group, kind="stable")
        first = start[:-1] * self.length - (np.cumsum(count) - count)
        self.place = np.empty(len(group), np.int64)
        self.place[order] = np.arange(len(group)) + np.repeat(first, count)

    def put(self, rows: np.ndarray) -> np.ndarray:
        """Rows (N,) or (N, j) as pieces (P, length) or (P, length, j), in float64."""
        placed = np.zeros((len(self.owner) * self.length, *rows.shape[1:]))
        placed[self.place] = rows
        return placed.reshape(len(self.owner), self.length, *rows.shape[1:])

    def put_with_constant(self, rows: np.ndarray) -> np.ndarray:
        """Rows (N, j) with a last coordinate 1, as `put` has them, without a copy in between."""
        placed = np.zeros((len(self.owner) * self.length, rows.shape[1] + 1))
        placed[self.place, :-1] = rows
        placed[self.place, -1] = 1.0
        return placed.reshape(len(self.owner), self.length, -1)

    def sum(self, terms: np.ndarray) -> np.ndarray:
        """Sum (V,) over the terms (P, length) of a group."""
        return np.asarray(self._together @ terms.sum(axis=1))

    def scores(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Products (P, length) of rows z with their group's weights (V, j)."""
        return np.asarray(np.matmul(z, weights[self.owner][:, :, None])[:, :, 0])

    def weighted_sum(self, z: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """Sum (V, j) over rows of factor · z."""
        return np.asarray(self._together @ np.matmul(factor[:, None, :], z)[:, 0])

    def second_moment(self, z: np.ndarray, factor: np.ndarray | None = None) -> np.ndarray:
        """Sum (V, j, j) over rows of factor · z z^T."""
        pieces = np.empty((len(z), z.shape[2], z.shape[2]))
        size = max(1, BLOCK_NUMBERS // (self.length * z.shape[2]))
        for first in range(0, len(z), size):
            part = slice(first, first + size)
            left = z[part] if factor is None else z[part] * factor[part, :, None]
            np.matmul(left.transpose(0, 2, 1), z[part], out=pieces[part])
        sums = self._together @ pieces.reshape(len(z), -1)
        return np.asarray(sums.reshape(-1, *pieces.shape[1:]))
