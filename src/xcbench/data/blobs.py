"""Gaussian classes in the plane: class k of K is centred on a circle around 0, at 2 pi k / K.

All rows of a class lie on its own side of 0, so scores w_k·x without biases can tell them apart.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.dataset import Raw
from xcbench.data.settings import BlobsSettings

VERSION = 1


def make(spec: BlobsSettings) -> tuple[Raw, Raw]:
    """Training and test rows, as many of every class as can be, in random order."""
    rng = np.random.default_rng(spec.seed)
    angle = 2 * np.pi * np.arange(spec.classes) / spec.classes
    centre = spec.radius * np.column_stack([np.cos(angle), np.sin(angle)])
    parts = []
    for size in (spec.train, spec.test):
        y = rng.permutation(np.arange(size) % spec.classes)
        X = centre[y] + spec.spread * rng.normal(size=(size, 2))
        parts.append(Raw.single(X.astype(np.float32), y, spec.classes))
    return parts[0], parts[1]
