"""Solvers: generators that contain the training loop only.

``fit(dataset, model, streams, stops)`` updates the model. It yields a `Progress` at the start and
at each stop, a number of visited samples. A solver has no clock, no evaluation and no stopping
rule.
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
    """State of a solver at a checkpoint.

    Attributes
    ----------
    iteration, observations : steps done, and samples visited.
    epoch : passes over the training rows, as the method counts them.
    objective : mean of the training objective per sample since the last checkpoint, in nats.
    extra : values of extra columns.
    message : a remark for the reader of a table.
    earlier : iterations of a library since the last checkpoint, at which it did not give its model;
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
    """Independent random streams of a cell; methods share row order and initial weights.

    Attributes
    ----------
    order, classes, weights, noise : streams for the row order, drawn classes, initial weights and
        latent variables.
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
    precision : required precision of the weights, or None.
    interruptible : whether it yields at every stop, or only at its start and end.
    compiles : whether it has code to compile before the training clock runs.
    min_epochs : epochs before which patience does not end a training: a pass, unless a part of it
        is a model of all classes and rows, as the first trees of a forest are.
    """

    precision: str | None = None
    interruptible: bool = True
    compiles: bool = True
    min_epochs: float = 1.0

    @property
    def is_bound(self) -> bool:
        """Whether ``-objective`` is a lower bound of the log-likelihood."""
        return False

    @property
    def epochs(self) -> float | None:
        """Required number of passes over the rows, or None."""
        return None

    def over(self, epochs: float) -> Solver:
        """Solver of a training of so many epochs; itself where its rate does not depend on them."""
        return self

    @property
    def on_few_rows(self) -> Solver:
        """Solver that compiles the same code on fewer rows than a batch."""
        return self

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> Model:
        """Untrained model for this solver: dense weights by default."""
        return models.make(engine, n_classes, n_features, bias, self.precision or dtype)

    @abstractmethod
    def fit(
        self, dataset: Dataset, model: Any, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Train.

        Parameters
        ----------
        stops : ascending epochs at which to yield. The next stop is read only when the last one is
            reached, because its distance depends on the training time so far. A stop that has been
            passed yields at once, without training.
        """
