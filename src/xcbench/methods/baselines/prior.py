"""Class frequencies, the baseline for every method."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.model import Model
from xcbench.core.statistics import log_prior
from xcbench.methods import baselines
from xcbench.methods.options import MethodOptions


class Frequencies(Model):
    """The same scores for every row: log frequencies of the classes, or 0 before training."""

    def __init__(self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str):
        self.engine, self.dtype = engine, np.dtype(dtype)
        self.scores = np.zeros(n_classes, self.dtype)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.scores)

    @property
    def untrained(self) -> bool:
        """Whether no class was counted."""
        return not self.scores.any()

    @property
    def nonzeros(self) -> int:
        """One number a class."""
        return int(np.count_nonzero(self.scores))

    @property
    def nbytes(self) -> int:
        """Bytes of these numbers."""
        return self.scores.nbytes

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """The same scores for all rows."""
        for block in self.parts(X.shape[0]):
            yield block, np.tile(self.scores, (block.stop - block.start, 1))

    def square_norm(self) -> float:
        """||b||²."""
        return float(np.sum(np.square(self.scores, dtype=np.float64)))

    def weights(self) -> dict[str, np.ndarray]:
        """As biases b (K,), which they are."""
        return {"b": self.scores}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take over the scores."""
        self.scores = state["b"]


class Prior(baselines.Once):
    """Count the classes of the training rows.

    p(k) = (n_k + 1/K) / (N + 1): one more row, spread evenly, gives classes without rows a finite
    log loss.
    """

    make_model = Frequencies

    def train(self, dataset: Dataset, model: Frequencies, rng: np.random.Generator) -> None:
        """Scores are log p."""
        model.scores[...] = log_prior(dataset.class_counts)


def impossible(settings: MethodOptions) -> str:
    """Refuse models without biases."""
    return "" if settings.bias else "method.bias=false leaves nothing of prior; leave it out"


method = baselines.Baseline(
    "prior",
    MethodOptions,
    solver=lambda settings, info: Prior(),
    impossible=impossible,
    memory=lambda settings, info, itemsize, epochs: 8.0 * info.classes,
    link="softmax",
)
