"""MIDX: the softmax of product-quantised weights as a proposal (Chen et al. 2022, 2025).

Coordinates of a random projection are cut into halves, h = [h1, h2], and the halves of all weights
are quantised by k-means, to c_a and c'_b. With the bias as a third factor,
q_k ∝ exp(h1·c_a + h2·c'_b + b_k), where (a, b) is the cell of k. A draw takes a, then b, then a
class of the cell. Quantisation makes q coarse; it is still the probability of the draw, so that
sums are estimated without bias.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.samplers.proposal import Drawn, Proposal, in_blocks, one_of_few
from xcbench.core.samplers.sketch import Sketch

STEPS = 10  # of k-means
SPREAD = 20.0  # nats below the largest bias, where a smaller one counts as this
FARTHEST = 300.0  # the same of products with codewords: no class is so far that it has q = 0
BLOCK_NUMBERS = 1 << 21  # of a temporary array


@dataclass(frozen=True)
class MIDX(Proposal):
    """Draws of cells and classes, by the codewords of the model that was seen last.

    Attributes
    ----------
    codewords : C of either half, at most K.
    dimensions : coordinates of the random projection.
    X : training rows.
    halves : codewords (C, j) of either half.
    cell : (2, K) codeword of every class in either half.
    order, place : (K,) classes, cell after cell, and the place of every class there.
    ends : (C² + 1,) first place of every cell.
    cumulative : (K + 1,) sums of e^b over the classes in this order, relative to the largest.
    """

    codewords: int
    dimensions: int
    X: Rows | None = None
    sketch: Sketch = Sketch(None)
    halves: tuple[np.ndarray, ...] = ()
    cell: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    place: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    ends: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    cumulative: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def fitted(self, dataset: Dataset) -> MIDX:
        """With the training rows, and the projection of their features."""
        X = dataset.train.X
        return replace(self, X=X, sketch=Sketch.of(X.shape[1], self.dimensions))

    def seen(self, model: LinearModel) -> MIDX:
        """With codewords and cells of all classes, made anew."""
        w = self.sketch.classes(model)
        C, b = min(self.codewords, len(w)), w[:, -1].astype(np.float64)
        parts = np.array_split(w[:, :-1], 2, axis=1)
        halves, (first, second) = zip(*(k_means(part, C) for part in parts), strict=True)
        order = np.lexsort((second, first))
        sizes = relative(b, SPREAD)[order]
        return replace(
            self,
            halves=halves,
            cell=np.stack([first, second]),
            order=order,
            place=np.argsort(order),
            ends=np.searchsorted((C * first + second)[order], np.arange(C**2 + 1)),
            cumulative=np.concatenate([[0.0], np.cumsum(sizes)]),
        )

    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Draws factor by factor; without y, the cell of y has a smaller mass."""
        assert self.X is not None
        X, C = self.X, len(self.halves[0])
        masses = np.diff(self.cumulative[self.ends]).reshape(C, C)

        def draw(rows: np.ndarray, y: np.ndarray) -> Drawn:
            h = np.array_split(self.sketch.rows(X, rows)[:, :-1], 2, axis=1)
            by_a, by_b = (
                relative((part @ c.T).astype(np.float64), FARTHEST)
                for part, c in zip(h, self.halves, strict=True)
            )
            (a_y, b_y), at, row = self.cell[:, y], self.place[y], np.arange(len(y))
            below = self.cumulative[at] - self.cumulative[self.ends[C * a_y + b_y]]
            above = self.cumulative[self.ends[C * a_y + b_y + 1]] - self.cumulative[at + 1]
            near_y = masses[a_y]
            near_y[row, b_y] = below + above
            of_a = by_a * (by_b @ masses.T)
            of_a[row, a_y] = by_a[row, a_y] * (by_b * near_y).sum(axis=1)
            a, log_a = one_of_few(rng, np.repeat(of_a[:, None], negatives, axis=1))
            same = a == a_y[:, None]
            mass = np.where(same[:, :, None], near_y[:, None], masses[a])
            b, log_b = one_of_few(rng, mass * by_b[:, None])
            same &= b == b_y[:, None]
            of_cell = np.take_along_axis(mass, b[:, :, None], axis=2)[:, :, 0]
            first, last = self.ends[C * a + b], self.ends[C * a + b + 1] - 1
            u = of_cell * rng.random(a.shape)
            skips = same & (u >= below[:, None])
            u += self.cumulative[first] + skips * np.diff(self.cumulative)[at][:, None]
            place = np.searchsorted(self.cumulative, u, side="right") - 1
            # Rounding may put u at an end of a piece into the next one.
            first = np.where(skips, at[:, None] + 1, first)
            last = np.where(same & ~skips, at[:, None] - 1, last)
            place = np.clip(np.clip(place, first, last), 0, len(self.order) - 1)
            log_q = log_a + log_b + np.log(np.diff(self.cumulative)[place] / of_cell)
            return self.order[place], log_q

        return in_blocks(draw, rows, y, max(1, BLOCK_NUMBERS // (negatives * C)))


def relative(logs: np.ndarray, spread: float) -> np.ndarray:
    """Exponentials over the largest of the last axis, from so many nats below it."""
    return np.exp(np.maximum(logs - logs.max(axis=-1, keepdims=True), -spread))


def k_means(w: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Codewords (C, j) of weights (K, j), by Lloyd's steps from C of them; the nearest of each."""
    K, ones = len(w), np.ones(len(w), w.dtype)
    c = w[np.random.default_rng(0).permutation(K)[:count]]

    def nearest() -> np.ndarray:
        return np.asarray((w @ c.T - np.square(c).sum(axis=1) / 2).argmax(axis=1))

    for _ in range(STEPS):
        place = nearest()
        members = sp.csr_array((ones, (place, np.arange(K))), shape=(count, K))
        size = np.bincount(place, minlength=count)[:, None]
        c = np.where(size > 0, members @ w / np.maximum(size, 1), c).astype(w.dtype)
    return c, nearest()
