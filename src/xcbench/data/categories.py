"""Samples of a categorical variable without features, for estimating its probabilities.

Value k has the probability p(k) ∝ u_k², with u_k uniform on [0, 1] (Titsias 2016, Sec. 4.1). The
rows have no features, so a linear model has its biases alone.
"""

from __future__ import annotations

import numpy as np

from xcbench.core.dataset import Raw
from xcbench.data.settings import CategoriesSettings

VERSION = 1


def make(spec: CategoriesSettings) -> tuple[Raw, Raw]:
    """Training and test samples; a value need not occur."""
    rng = np.random.default_rng(spec.seed)
    weight = rng.random(spec.classes) ** 2
    law = weight / weight.sum()
    train, test = (
        Raw.single(
            np.empty((size, 0), np.float32), rng.choice(spec.classes, size, p=law), spec.classes
        )
        for size in (spec.train, spec.test)
    )
    return train, test
