"""Gaussian classes in the plane: class k of K is centred on a circle around 0, at 2 pi k / K.

Each class lies in its own direction from 0, so scores w_k·x without biases can separate them.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.dataset import Raw
from xcbench.data.settings import BlobsSettings

VERSION = 1


def make(spec: BlobsSettings) -> tuple[Raw, Raw]:
    """Training and test rows, equally many of every class up to rounding, in random order."""
    rng = np.random.default_rng(spec.seed)
    angle = 2 * np.pi * np.arange(spec.classes) / spec.classes
    centre = spec.radius * np.column_stack([np.cos(angle), np.sin(angle)])
    parts = []
    for size in (spec.train, spec.test):
        y = rng.permutation(np.arange(size) % spec.classes)
        X = centre[y] + spec.spread * rng.normal(size=(size, 2))
        parts.append(Raw.single(X.astype(np.float32), y, spec.classes))
    return parts[0], parts[1]
