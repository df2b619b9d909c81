"""SimpleLSH: random hyperplanes after a map to the sphere, ranked by Hamming distance."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.sparse import SparseModel

FAR = np.uint8(255)


class SimpleLSH:
    """Classes whose code is nearest to the row's (Neyshabur and Srebro 2015; MEMOIR, Sec. 3).

    A vector z of length at most 1 is mapped to P(z) = [z; sqrt(1 - |z|²)], of length 1. Bit j of
    its code is 1 if a_j·P(z) > 0, with a_j ~ N(0, I). Rows are scaled to length 1. Then a bit of x
    equals that of w with probability 1 - arccos(x·w) / pi; Eq. 9 of MEMOIR prints cos for arccos.
    All distances are computed, and ties are broken at random.

    Parameters
    ----------
    bits : bits of a code, at most 64.
    scaled : whether weights are divided by the largest length, which preserves the order of inner
        products (Neyshabur and Srebro). MEMOIR does not divide, so short weights have nearly the
        same code.
    """

    by_score = False

    def __init__(self, bits: int, rng: np.random.Generator, scaled: bool = False) -> None:
        self.bits, self.rng, self.scaled = bits, rng, scaled
        self.planes: np.ndarray | None = None

    def _begin(self, model: SparseModel) -> np.ndarray:
        """Draw the planes (D, bits), and the coefficients (bits,) of the last coordinate."""
        if self.planes is None:
            K, D = model.V.shape
            self.planes = self.rng.standard_normal((D, self.bits), np.float32)
            self.last = self.rng.standard_normal(self.bits)
            self.projected, self.lengths = np.zeros((K, self.bits)), np.zeros(K)
            self.folds = model.folds
        return self.planes

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Project the weights that changed."""
        planes = self._begin(model)
        V = model.V.take(classes)
        self.projected[classes] = V @ planes
        self.lengths[classes] = np.sqrt(np.asarray(V.multiply(V).sum(axis=1, dtype=np.float64)))

    def codes_of_rows(self, model: SparseModel, X: sp.csr_array) -> np.ndarray:
        """Codes (B,) of rows, whatever their length."""
        return packed(np.asarray(X @ self._begin(model)))

    def codes_of_classes(self, model: SparseModel) -> np.ndarray:
        """Codes (K,) of the weights."""
        self._begin(model)
        if self.folds != model.folds:  # the weights that did not change are in other units
            self.moved(model, np.arange(model.n_classes))
            self.folds = model.folds
        unit = 1 / (self.lengths.max() or 1.0) if self.scaled else model.scale
        height = np.sqrt(np.maximum(0.0, 1 - (unit * self.lengths) ** 2))
        return packed(unit * self.projected + height[:, None] * self.last)

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """Nearest codes other than y's, ties broken at random."""
        of_rows, of_classes = self.codes_of_rows(model, X), self.codes_of_classes(model)
        without, rivals = ~model.seen, np.empty(len(y), np.int64)
        for block in model.parts(len(y)):
            distance = np.bitwise_count(of_rows[block, None] ^ of_classes)
            distance[:, without] = FAR
            distance[np.arange(len(distance)), y[block]] = FAR
            nearest = distance.min(axis=1)
            row, equal = np.nonzero(distance == nearest[:, None])
            many = np.bincount(row, minlength=len(distance))
            place = np.cumsum(many) - many + (self.rng.random(len(many)) * many).astype(np.int64)
            rivals[block] = np.where(nearest == FAR, -1, equal[place])
        return rivals


def packed(projections: np.ndarray) -> np.ndarray:
    """Signs (N, bits) as bits of one number (N,) each."""
    place = np.left_shift(np.uint64(1), np.arange(projections.shape[1], dtype=np.uint64))
    return np.asarray(((projections > 0) * place).sum(axis=1, dtype=np.uint64))
