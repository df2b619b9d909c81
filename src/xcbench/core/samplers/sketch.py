"""A random projection of rows and weights that keeps inner products in the mean.

Every feature is added to one of d coordinates, with a random sign (a count sketch, Charikar, Chen
and Farach-Colton 2002), so that K rows of weights cost K D additions, not K D d. The bias is one
more coordinate, and is not projected. It counts from the lowest one: a softmax is the same with any
constant in its scores, a kernel is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Rows
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import take

BLOCK_NUMBERS = 1 << 22  # weights projected at a time: SciPy copies them


@dataclass(frozen=True)
class Sketch:
    """Coordinates (x A, 1) of rows and (w A, b - min b) of classes.

    Attributes
    ----------
    A : (D, d), with one entry 1 or -1 a row; None where D is at most d, and nothing is projected.
    """

    A: sp.csr_array | None

    @classmethod
    def of(cls, n_features: int, dimensions: int) -> Sketch:
        """The same for every seed of a cell."""
        if n_features <= dimensions:
            return cls(None)
        rng, start = np.random.default_rng(0), np.arange(n_features + 1)
        signs = rng.choice(np.array([-1.0, 1.0], np.float32), n_features)
        place = rng.integers(0, dimensions, n_features)
        return cls(sp.csr_array((signs, place, start), shape=(n_features, dimensions)))

    def rows(self, X: Rows, index: np.ndarray) -> np.ndarray:
        """Coordinates (B, d + 1) of rows of a dataset, in float32."""
        x = take(X, index, np.dtype(np.float32)).matrix()
        z = x if self.A is None else x @ self.A
        dense = z if isinstance(z, np.ndarray) else z.toarray()
        return np.column_stack([dense, np.ones(len(dense), np.float32)])

    def classes(self, model: LinearModel) -> np.ndarray:
        """Coordinates (K, d + 1) of a model's classes, in float32."""
        V, W = model.V, model.V
        if self.A is not None:
            size = max(1, BLOCK_NUMBERS // V.shape[1])
            W = np.concatenate([V[i : i + size] @ self.A for i in range(0, len(V), size)])
        return np.column_stack([W, biases(model)]).astype(np.float32) * np.float32(model.scale)


def biases(model: LinearModel) -> np.ndarray:
    """Biases (K,) of a model above the lowest of them, before `LinearModel.scale`."""
    return np.zeros(len(model.V)) if model.b is None else model.b - model.b.min()
