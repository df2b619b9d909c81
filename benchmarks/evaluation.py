"""Mean log loss and top-1 error over all rows, without an array of N x K scores.

The peer is SciPy's product of sparse rows with dense weights, in blocks, and a log-sum-exp in
NumPy; the fastest of its block sizes counts.
"""

from __future__ import annotations

import numpy as np

from benchmarks.shapes import eurlex, shape
from benchmarks.table import Row
from benchmarks.timing import interleaved
from xcbench.core import models
from xcbench.core.dataset import Split

BLOCKS = (256, 1024, 4096)


def scipy(W: np.ndarray, split: Split, size: int) -> tuple[float, float]:
    """Mean log loss and error; the weights are laid out as the product wants them."""
    transposed = np.ascontiguousarray(W.T)
    loss, wrong = 0.0, 0
    for first in range(0, len(split), size):
        y = split.y[first : first + size]
        scores = split.X[first : first + size] @ transposed
        row = np.arange(len(y))
        true, top = scores[row, y], scores.max(axis=1)
        wrong += int((scores.argmax(axis=1) != y).sum())
        scores -= top[:, None]
        np.exp(scores, out=scores)
        loss += float((np.log(scores.sum(axis=1, dtype=np.float64)) + top - true).sum())
    return loss / len(split), wrong / len(split)


def run() -> list[Row]:
    """Seconds an evaluation."""
    dataset = eurlex()
    model = models.make("numba", dataset.info.classes, dataset.info.features, False, "float32")
    model.V[:] = np.random.default_rng(0).normal(size=model.V.shape)

    def ours() -> tuple[float, float]:
        loss, best = model.summarise(dataset.train)
        return float(loss.mean()), float((best != dataset.train.y).mean())

    candidates = {"ours": ours}
    for size in BLOCKS:
        candidates[f"SciPy CSR@dense, blocks of {size}"] = lambda size=size: scipy(  # type: ignore[misc]
            model.V, dataset.train, size
        )
    for label, candidate in candidates.items():
        np.testing.assert_allclose(candidate(), ours(), rtol=1e-5, err_msg=label)
    timings = interleaved(candidates)
    best = min((name for name in timings if name != "ours"), key=lambda name: timings[name])
    return [
        Row(
            f"vs {name}, s",
            shape(dataset),
            timings["ours"],
            seconds,
            2.0 if name == best else 0.0,
        )
        for name, seconds in timings.items()
        if name != "ours"
    ]
