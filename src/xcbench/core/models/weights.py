"""Weights and biases of all classes, with one factor on all of them."""

from __future__ import annotations

from functools import partial

import numpy as np

from xcbench.core.models.model import BLOCK_SCORES, Model


class ScaledWeights(Model):
    """Weights and biases of K classes.

    Parameters
    ----------
    n_classes, n_features : K and D.
    bias : whether b exists.
    dtype : precision of weights, and of scores in a pass over all classes.

    Notes
    -----
    Weights are stored as ``scale · V``, with one row of V (K, D) a class, so that `shrink` is O(1).
    ``scale`` is in float64 and folded into V before it underflows.
    """

    def __init__(self, n_classes: int, n_features: int, bias: bool, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self.V = np.zeros((n_classes, n_features), self.dtype)
        self.b = np.zeros(n_classes, self.dtype) if bias else None
        self.scale = 1.0

    def weights(self) -> dict[str, np.ndarray]:
        """W (K, D) and, if there are biases, b (K,), with the scale folded into them."""
        self._fold()
        return self._arrays()

    def copies(self) -> dict[str, np.ndarray]:
        """As `Model.copies`; the scale is folded into the copies alone."""
        return {name: self.dtype.type(self.scale) * V for name, V in self._arrays().items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set W and b."""
        self.V, self.b, self.scale = state["W"], state.get("b"), 1.0

    def draw(self, rng: np.random.Generator, start: str) -> None:
        """Weights before training, the same for every method and engine.

        ``zero``: as they are. ``normal``: standard deviation 0.1, biases 0.001 (A&R paper, Sec.
        4.2). ``glorot``: uniform, of variance 2/(K + D), biases 1/K. ``normalised``: zero, with
        biases -log K, so that the sum of e^score over the classes is 1.
        """
        K, D = self.V.shape
        if start == "normalised" and self.b is not None:
            self.b[...] = -np.log(K)
        if start in ("zero", "normalised"):
            return
        of_w, of_b = (0.1, 0.001) if start == "normal" else (np.sqrt(6 / (K + D)), np.sqrt(3 / K))
        drawn = rng.standard_normal if start == "normal" else partial(rng.uniform, -1.0, 1.0)
        for w in self.V:
            w[...] = of_w * drawn(D)
        if self.b is not None:
            self.b[...] = of_b * drawn(K)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.V)

    @property
    def untrained(self) -> bool:
        """Whether every score is 0, as before training."""
        return not self.V.any() and (self.b is None or not self.b.any())

    def shrink(self, factor: float) -> None:
        """Multiply all weights and biases by a factor."""
        self.scale *= factor
        if not 1e-6 < abs(self.scale) < 1e6:
            self._fold()

    def scale_at(self, classes: np.ndarray, factors: np.ndarray) -> None:
        """Multiply weights and biases of distinct classes (C,), each by its own factor."""
        factors = factors.astype(self.dtype)
        self.V[classes] *= factors[:, None]
        if self.b is not None:
            self.b[classes] *= factors

    def lengths(self, classes: np.ndarray) -> np.ndarray:
        """Euclidean norms (C,) of (w_k, b_k), in float64."""
        V = self.V[classes].astype(np.float64)
        square = np.einsum("kj,kj->k", V, V)
        if self.b is not None:
            square += self.b[classes].astype(np.float64) ** 2
        return np.asarray(self.scale * np.sqrt(square))

    def _fold(self) -> None:
        if self.scale != 1.0:
            for array in self._arrays().values():
                array *= self.dtype.type(self.scale)
            self.scale = 1.0

    def _arrays(self) -> dict[str, np.ndarray]:
        """V and, if there are biases, b, without the scale."""
        return {"W": self.V} if self.b is None else {"W": self.V, "b": self.b}

    def square_norm(self) -> float:
        """||W||² + ||b||²."""
        size = max(1, BLOCK_SCORES // max(1, self.V.shape[1]))
        blocks = (self.V[first : first + size] for first in range(0, len(self.V), size))
        total = sum(float(np.einsum("ij,ij->", V, V, dtype=np.float64)) for V in blocks)
        if self.b is not None:
            total += float(np.sum(np.square(self.b, dtype=np.float64)))
        return self.scale**2 * total

    @property
    def nonzeros(self) -> int:
        """Weights and biases that are not 0."""
        return sum(int(np.count_nonzero(array)) for array in self._arrays().values())

    @property
    def nbytes(self) -> int:
        """Bytes of V and b."""
        return sum(array.nbytes for array in self._arrays().values())
