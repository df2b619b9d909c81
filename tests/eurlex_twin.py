"""Files in the exact form of EURLex-4K: header, names, rows, features, labels; made-up numbers."""

from __future__ import annotations

import numpy as np

SHAPE = {"eurlex_train.txt": 15539, "eurlex_test.txt": 3809}
FEATURES, LABELS = 5000, 3993


def written() -> dict[str, bytes]:
    """The two files by name, as the Extreme Classification Repository publishes them."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, LABELS + 1)
    share /= share.sum()
    of_label = rng.integers(0, FEATURES, (LABELS, 10))  # the features that tell a label

    def row() -> str:
        labels = np.unique(rng.choice(LABELS, rng.integers(1, 9), p=share))
        features = np.unique([*of_label[labels].ravel()[:20], *rng.integers(0, FEATURES, 3)])
        values = rng.random(len(features)) + 0.01
        pairs = (f"{j}:{value:.6f}" for j, value in zip(features, values, strict=True))
        return f"{','.join(map(str, labels))} {' '.join(pairs)}"

    return {
        name: "\n".join([f"{n} {FEATURES} {LABELS}", *(row() for _ in range(n)), ""]).encode()
        for name, n in SHAPE.items()
    }
