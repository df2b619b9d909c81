"""Contract between a training loop and a sampler; only ``draw`` has no default."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from xcbench.core.dataset import Dataset, Rows
from xcbench.core.models.linear import LinearModel

Draw = tuple[np.ndarray | None, np.ndarray | float]


class Sampler(ABC):
    """Contract of a sampler.

    Attributes
    ----------
    version : version of a plugin; a new one changes the identities of its cells.
    refresh : rows between two looks at the model, and drawn for at a time, in whole minibatches; 0:
        it never looks, and draws are made as far ahead as is fast.
    """

    version: int = 1
    refresh: int = 0

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, rows: np.ndarray, y: np.ndarray, batch_size: int
    ) -> Draw:
        """Classes (B, S), or None for every class, and log-weights, a number or (B, S)."""

    def fitted(self, dataset: Dataset) -> Sampler:
        """The sampler fitted to the data; called once, on the training clock."""
        return self

    def seen(self, model: LinearModel) -> Sampler:
        """The sampler that knows the model as it is now; called before each draw with a refresh.

        The draw follows at once: nothing of the model needs to be copied.
        """
        return self

    @property
    def correction(self) -> Callable[[Rows], np.ndarray] | None:
        """Term that prediction adds to scores learnt with this sampler, or None."""
        return None

    def state(self) -> dict[str, np.ndarray]:
        """State of the correction, for `restored`."""
        return {}

    def restored(self, state: dict[str, np.ndarray]) -> Sampler:
        """The sampler with the correction that it had when `state` was taken."""
        return self

    @property
    def extra(self) -> dict[str, float]:
        """Statistics of its fit, for extra columns."""
        return {}
