"""Solvers: each a generator that owns its loop and nothing else.

``fit(dataset, model, streams, stops)`` moves the model and yields a `Progress` at the start, then
whenever it has visited as many samples as the next stop says. No clock, no evaluation,
no stopping rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xcbench.core import models
from xcbench.core.dataset import Dataset
from xcbench.core.models.model import Model


@dataclass(frozen=True)
class Progress:
    """Where a solver stands at a checkpoint.

    Attributes
    ----------
    iteration, observations : steps done, and samples visited.
    epoch : passes over the training rows, as the method counts them.
    objective : mean of the training objective per sample since the last checkpoint, in nats.
    extra : further numbers for columns of their own.
    message : something the reader of a table should know.
    earlier : steps since the last checkpoint that a library took without handing the model over;
        they become rows of the curve without times, losses and errors.
    """

    iteration: int
    observations: int
    epoch: float
    objective: float = float("nan")
    extra: dict[str, float] = field(default_factory=dict)
    message: str | None = None
    earlier: list[Progress] = field(default_factory=list)


@dataclass(frozen=True)
class Streams:
    """Independent random streams of a cell; order of rows and start are the same for all methods.

    Attributes
    ----------
    order, classes, weights, noise : of rows; drawn; before training; of latent variables.
    """

    order: np.random.Generator
    classes: np.random.Generator
    weights: np.random.Generator
    noise: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> Streams:
        """Streams of a seed (0 is a seed like any other)."""
        return cls(*map(np.random.default_rng, np.random.SeedSequence(seed).spawn(4)))


class Solver(ABC):
    """Contract of a solver.

    Attributes
    ----------
    precision : of the weights it insists on, or None.
    interruptible : whether it yields at the stops; if not, at its start and its end alone.
    compiles : whether there is something to compile before the training clock runs.
    """

    precision: str | None = None
    interruptible: bool = True
    compiles: bool = True

    @property
    def is_bound(self) -> bool:
        """Whether ``-objective`` is a lower bound of the log-likelihood."""
        return False

    @property
    def epochs(self) -> float | None:
        """Passes over the rows that it insists on, or None."""
        return None

    @property
    def on_few_rows(self) -> Solver:
        """What compiles the same, on rows fewer than a batch of its own size."""
        return self

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> Model:
        """Model, untrained, that it moves: dense weights, unless it has a kind of its own."""
        return models.make(engine, n_classes, n_features, bias, self.precision or dtype)

    @abstractmethod
    def fit(
        self, dataset: Dataset, model: Any, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Train.

        Parameters
        ----------
        stops : ascending epochs at which to yield. Each is taken when the one before was reached:
            how far apart looks at the clock are depends on how long training takes. A stop that
            is reached already yields again, and nothing is trained for it.
        """
