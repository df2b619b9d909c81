"""Adaptive step of one coordinate, from the squares of its earlier gradients.

One formula serves arrays and, compiled, single numbers; `xcbench.core.optimizers` sets its
constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Numbers = np.ndarray | float


class Pace(NamedTuple):
    """Constants of one step, shared by all coordinates; see `adapted`."""

    keep: float
    gain: float
    scale: float
    offset: float
    rate: float
    l2: float


@dataclass
class Squares:
    """Accumulated squares of the gradients of weights (K, D) and biases (K,)."""

    V: np.ndarray
    b: np.ndarray | None

    @classmethod
    def like(cls, V: np.ndarray, b: np.ndarray | None, start: float = 0.0) -> Squares:
        """Squares for each weight and bias; zeros take no memory before they are touched."""
        if start:
            return cls(np.full_like(V, start), None if b is None else np.full_like(b, start))
        return cls(np.zeros(V.shape, V.dtype), None if b is None else np.zeros(b.shape, b.dtype))

    def multiply(self, factor: float) -> None:
        """Multiply all of them."""
        for part in (self.V, self.b):
            if part is not None:
                part *= part.dtype.type(factor)


def adapted(w: Numbers, s: Numbers, g: Numbers, pace: Pace) -> tuple[Numbers, Numbers]:
    """Update a weight: s <- keep s + gain g², w <- w - rate g / (offset + sqrt(scale s)).

    Parameters
    ----------
    w, s, g : a weight, its accumulated squares (divided by ``scale``), its gradient, to which
        l2 · w is added.
    """
    g = g + pace.l2 * w
    s = pace.keep * s + pace.gain * g * g
    return w - pace.rate * g / (pace.offset + np.sqrt(pace.scale * s)), s
