"""SimpleLSH: random hyperplanes after a map to the sphere, ranked by Hamming distance."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.sparse import SparseModel

FAR = np.uint8(255)


class SimpleLSH:
    """Classes whose code is nearest to the row's (Neyshabur and Srebro 2015; MEMOIR, Sec. 3).

    Of a vector of length at most 1, P(z) = [z; sqrt(1 - |z|²)] has length 1; bit j of its code is 1
    where a_j·P(z) > 0, with a_j ~ N(0, I). Rows are scaled to length 1, weights by 1 / max_k |w_k|,
    which leaves the order of inner products alone. Then the bits of x and w are equal with the
    probability 1 - arccos(x·w) / pi; Eq. 9 of MEMOIR prints cos in the place of arccos.

    Parameters
    ----------
    bits : of a code, at most 64.
    """

    by_score = False

    def __init__(self, bits: int, rng: np.random.Generator) -> None:
        self.bits, self.rng = bits, rng
        self.planes: np.ndarray | None = None

    def _begin(self, model: SparseModel) -> np.ndarray:
        """Draw the planes (D, bits), and the coefficients (bits,) of the last coordinate."""
        if self.planes is None:
            K, D = model.V.shape
            self.planes = self.rng.standard_normal((D, self.bits), np.float32)
            self.last = self.rng.standard_normal(self.bits)
            self.projected, self.lengths = np.zeros((K, self.bits)), np.zeros(K)
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
        longest = self.lengths.max()
        if longest == 0:
            return packed(np.broadcast_to(self.last, self.projected.shape))
        height = np.sqrt(np.maximum(0.0, 1 - (self.lengths / longest) ** 2))
        return packed(self.projected / longest + height[:, None] * self.last)

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """The nearest code but y's; the lower number among equals."""
        of_rows, of_classes = self.codes_of_rows(model, X), self.codes_of_classes(model)
        without, found = ~model.seen, np.empty(len(y), np.int64)
        for block in model.parts(len(y)):
            distance = np.bitwise_count(of_rows[block, None] ^ of_classes)
            distance[:, without] = FAR
            distance[np.arange(len(distance)), y[block]] = FAR
            best = distance.argmin(axis=1)
            found[block] = np.where(distance[np.arange(len(best)), best] == FAR, -1, best)
        return found


def packed(projections: np.ndarray) -> np.ndarray:
    """Signs (N, bits) as bits of one number (N,) each."""
    place = np.left_shift(np.uint64(1), np.arange(projections.shape[1], dtype=np.uint64))
    return np.asarray(((projections > 0) * place).sum(axis=1, dtype=np.uint64))
