"""Contract of a proposal q(k|x) over the classes other than the true one, and how one is drawn.

A sum over these classes is estimated without bias by draws of weight 1 / (m q), whatever q is, as
long as it is the probability of the draw and above 0. Those that look at the model are near
e^{f_k}, so that the estimate varies less.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.models.linear import LinearModel

Drawn = tuple[np.ndarray, np.ndarray]


class Proposal(ABC):
    """Contract of a proposal; what needs the model has a `seen`."""

    @abstractmethod
    def fitted(self, dataset: Dataset) -> Self:
        """The distribution that knows the data; on the training clock."""

    @abstractmethod
    def others(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, negatives: int
    ) -> Drawn:
        """Classes (B, m) other than y for training rows, with replacement, and log q of each."""

    def seen(self, model: LinearModel) -> Self:
        """The distribution that knows the model."""
        return self

    @property
    def extra(self) -> dict[str, float]:
        """Statistics of the fit, for extra columns."""
        return {}


def in_blocks(
    draw: Callable[[np.ndarray, np.ndarray], Drawn], rows: np.ndarray, y: np.ndarray, size: int
) -> Drawn:
    """Draw for so many rows at a time, which bounds the memory."""
    parts = [slice(first, first + size) for first in range(0, len(rows), size)]
    drawn, log_q = zip(*(draw(rows[part], y[part]) for part in parts), strict=True)
    return np.concatenate(drawn), np.concatenate(log_q)


def categorical(rng: np.random.Generator, weights: np.ndarray, negatives: int) -> Drawn:
    """Columns (B, m) drawn with replacement as likely as weights (B, K) say; log q of each."""
    cumulative = np.cumsum(weights, axis=1)
    total = cumulative[:, -1:]
    places = total * rng.random((len(weights), negatives))
    place = [np.searchsorted(*row, side="right") for row in zip(cumulative, places, strict=True)]
    drawn = np.minimum(place, weights.shape[1] - 1)  # where weights are not finite any more
    return drawn, np.log(np.take_along_axis(weights, drawn, axis=1) / total)


def one_of_few(rng: np.random.Generator, weights: np.ndarray) -> Drawn:
    """As `categorical`: a place (...) each of the last axis of weights (..., few)."""
    cumulative = np.cumsum(weights, axis=-1)
    total = cumulative[..., -1]
    below = cumulative <= (total * rng.random(total.shape))[..., None]
    drawn = np.minimum(below.sum(axis=-1), weights.shape[-1] - 1)
    return drawn, np.log(np.take_along_axis(weights, drawn[..., None], axis=-1)[..., 0] / total)
