"""Random Fourier features of the directions of h and w: the proposal of RF-softmax.

Rawat et al. 2019. For vectors u, v of length 1, e^{nu u·v} ∝ e^{-nu |u - v|²/2}, the mean of
phi(u)·phi(v). The frequencies of phi are the same for rows and classes: with others for each, the
kernel would be noise. A linear model's weights have lengths, which this proposal does not see.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.samplers.kernel import FeatureMap

TINY = np.finfo(np.float32).tiny  # a vector without length has the direction 0


@dataclass(frozen=True)
class Fourier(FeatureMap):
    """phi(u) = [cos(omega_j·u), sin(omega_j·u)]_j / sqrt(R), omega_j ~ N(0, nu I).

    An estimate below the smallest value of the kernel, e^{-2 nu}, counts as that value. A draw
    costs O(R log K); tree and classes hold 3 K R numbers.

    Attributes
    ----------
    count : R.
    nu : inverse temperature.
    frequencies : (d, R) omega, the same for every seed of a cell.
    """

    count: int
    nu: float
    frequencies: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    leaf: int = 4

    @property
    def least(self) -> float:
        """The kernel of opposite directions."""
        return float(np.exp(-2.0 * self.nu))

    def fitted(self, width: int) -> Fourier:
        """With its frequencies."""
        normal = np.random.default_rng(0).standard_normal((width, self.count), np.float32)
        return replace(self, frequencies=np.float32(np.sqrt(self.nu)) * normal)

    def coordinates(self, z: np.ndarray) -> np.ndarray:
        """The features themselves."""
        length = np.linalg.norm(z, axis=1, keepdims=True)
        angle = (z / np.maximum(length, TINY)) @ self.frequencies
        return np.hstack([np.cos(angle), np.sin(angle)]) / np.float32(np.sqrt(self.count))

    def features(self, v: np.ndarray) -> np.ndarray:
        """The coordinates."""
        return v

    def kernel(self, products: np.ndarray) -> np.ndarray:
        """The inner products."""
        return products
