"""A random class as rival."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from xcbench.core.models.sparse import SparseModel


class RandomClass:
    """A class with weights, drawn uniformly among those but y (Eq. 2)."""

    by_score = True

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def moved(self, model: SparseModel, classes: np.ndarray) -> None:
        """Do nothing: weights do not matter."""

    def rivals(self, model: SparseModel, X: sp.csr_array, y: np.ndarray) -> np.ndarray:
        """Draw uniformly among the classes with weights, except y."""
        seen = np.flatnonzero(model.seen)
        place = np.searchsorted(seen, y)
        inside = model.seen[y]
        others = len(seen) - inside
        drawn = (self.rng.random(len(y)) * others).astype(np.int64)
        drawn += inside & (drawn >= place)
        return np.where(others > 0, np.append(seen, -1)[np.minimum(drawn, len(seen))], -1)
