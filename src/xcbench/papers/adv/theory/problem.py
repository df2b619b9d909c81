"""A small planted problem: rows in the plane, classes in a hierarchy, noise distributions."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from xcbench.core.samplers import tree

ROWS, CLASSES = 20, 16
DRAWS = 50  # labels a row, to which the tree is fitted
L2 = 0.1
SHARPNESS = 3.0


def points() -> np.ndarray:
    """Rows (R, 2), on a circle."""
    angle = 2 * np.pi * (np.arange(ROWS) + 0.5) / ROWS
    return np.column_stack([np.cos(angle), np.sin(angle)])


def data() -> np.ndarray:
    """p_D(y|x) (R, K): a softmax of nearness to the class's point, classes unlike in frequency."""
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * (np.arange(CLASSES) + 0.5) / CLASSES
    centres = np.column_stack([np.cos(angle), np.sin(angle)])
    popular = -np.log(1.0 + rng.permutation(CLASSES))
    return np.asarray(softmax(SHARPNESS * points() @ centres.T + popular, axis=1))


def noises(p_data: np.ndarray) -> dict[str, np.ndarray]:
    """p_n(y|x) (R, K): uniform, frequencies, the tree fitted to drawn labels, p_D itself."""
    rng = np.random.default_rng(1)
    x = np.repeat(points(), DRAWS, axis=0)
    chance = np.repeat(p_data.cumsum(axis=1), DRAWS, axis=0)
    y = (rng.random((len(x), 1)) > chance[:, :-1]).sum(axis=1)
    log_p = tree.fit(x, y, CLASSES, tree.Fit(L2)).log_all(points()).astype(float)
    return {
        "uniform": np.full_like(p_data, 1 / CLASSES),
        "frequency": np.broadcast_to(p_data.mean(axis=0), p_data.shape),
        "adversarial tree": softmax(log_p, axis=1),  # its sum is 1 to float32
        "p_D itself": p_data,
    }
