"""What a loop asks of a sampler; all but its draws have a default."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from xcbench.core.dataset import Dataset, Rows

Draw = tuple[np.ndarray | None, np.ndarray | float]


class Sampler(ABC):
    """Contract of a sampler.

    Attributes
    ----------
    version : of one from outside; another one is another identity of its cells.
    """

    version: int = 1

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Classes (B, S), or None for every class, and log-weights, a number or (B, S)."""

    def fitted(self, dataset: Dataset) -> Sampler:
        """The sampler that has seen the data and draws; made once, on the training clock."""
        return self

    @property
    def correction(self) -> Callable[[Rows], np.ndarray] | None:
        """What predictions add to scores that were learnt with it, or nothing."""
        return None

    def state(self) -> dict[str, np.ndarray]:
        """What the correction needs of its fit, for `restored`."""
        return {}

    def restored(self, state: dict[str, np.ndarray]) -> Sampler:
        """The sampler with the correction that it had when `state` was taken."""
        return self

    @property
    def extra(self) -> dict[str, float]:
        """What is known of its fit, for columns of their own."""
        return {}
