"""Minibatch SGD for every sampled method and for exact softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.batch import Batch
from xcbench.core.dataset import Dataset, square_norms
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import Numbers, Objective
from xcbench.core.optimizers import Optimizer
from xcbench.core.prior import Prior, begin
from xcbench.core.rows import take
from xcbench.core.samplers import Sampler
from xcbench.core.solvers import Progress, Solver, Streams

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
CHUNK = 4096  # samples whose rows and classes are fetched at a time


@dataclass
class Minibatch(Solver):
    """SGD on minibatches of n samples with S drawn classes each: scores, objective, step.

    Attributes
    ----------
    batch_size : samples in a minibatch.
    order : ``shuffled``, ``file`` or ``iid``.
    passes : passes over the rows that count as one epoch.
    init : of the weights, as in `LinearModel.draw`; or ``prior``, see `xcbench.core.prior`.
    prior : where training starts from it.
    """

    objective: Objective
    sampler: Sampler
    optimizer: Optimizer
    batch_size: int
    order: str
    passes: int
    init: str = "zero"
    prior: Prior | None = field(default=None, init=False, compare=False)

    @property
    def is_bound(self) -> bool:
        """As the objective says."""
        return self.objective.is_bound

    def over(self, epochs: float) -> Minibatch:
        """With the optimizer of so many epochs."""
        optimizer = self.optimizer.over(epochs)
        return self if optimizer is self.optimizer else replace(self, optimizer=optimizer)

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Visit minibatches until the last stop."""
        self.begin(dataset, model, streams.weights)
        local = self.local(dataset)

        def move(batch: Batch, epoch: float) -> float:
            return self._run(model, batch, local, self.optimizer.rate(epoch))

        yield Progress(0, 0, 0.0, extra=self.sampler.extra)
        for (iteration, observations, epoch), mean in self.visits(
            dataset, model, streams, stops, move
        ):
            yield Progress(iteration, observations, epoch, float(mean))

    def begin(self, dataset: Dataset, model: LinearModel, rng: np.random.Generator) -> None:
        """Make sampler, optimizer and model ready."""
        self.sampler = self.sampler.fitted(dataset)
        self.optimizer = self.optimizer.begun(model)
        model.correction = self.sampler.correction
        self.prior = begin(model, dataset, rng, self.init)

    def local(self, dataset: Dataset) -> np.ndarray:
        """Local state (N, ...) before training."""
        if self.prior:
            return self.objective.settled(self.prior, dataset.train.y)
        start = self.objective.start
        return np.full((len(dataset.train), *np.shape(start)), start)

    def visits(
        self,
        dataset: Dataset,
        model: LinearModel,
        streams: Streams,
        stops: Iterable[float],
        move: Callable[[Batch, float], Numbers],
    ) -> Iterator[tuple[tuple[int, int, float], Numbers]]:
        """Yield at stops: iterations, samples and epochs so far, mean value since the last stop.

        Parameters
        ----------
        move : function that updates the weights with minibatches, after so many passes. It returns
            the sum of their values, or one sum for each of several models.
        """
        per_epoch = self.passes * len(dataset.train)
        targets = (round(stop * per_epoch) for stop in stops)
        iteration = observations = since = 0
        value_sum: Numbers = 0.0
        target = next(targets)
        for chunk in self._chunks(dataset, model, streams):
            epoch, first = observations / per_epoch, 0
            while first < len(chunk):
                missing = -(-(target - observations) // self.batch_size) * self.batch_size
                last = min(len(chunk), first + max(0, missing))
                value_sum += move(chunk.part(first, last), epoch)
                iteration += -(-(last - first) // self.batch_size)
                observations += last - first
                since += last - first
                first = last
                while observations >= target:  # of several stops in a minibatch, each yields
                    mean = value_sum / since if since else math.nan
                    yield (iteration, observations, observations / per_epoch), mean
                    since, value_sum, following = 0, 0.0, next(targets, None)
                    if following is None:
                        return
                    target = following

    def _run(self, model: LinearModel, chunk: Batch, local: np.ndarray, rate: float) -> float:
        """Update by one minibatch after the other; gives the sum of their values."""
        total = 0.0
        for first in range(0, len(chunk), self.batch_size):
            part = chunk.part(first, min(first + self.batch_size, len(chunk)))
            total += self._update(model, part, local, rate)
        return total

    def _update(self, model: LinearModel, batch: Batch, local: np.ndarray, rate: float) -> float:
        if batch.classes is None:
            scores = swapped(model.all(batch.rows).astype(np.float64), batch.y)
        else:
            scores = model.at(batch.rows, batch.classes)
        value, grad, local[batch.index] = self._evaluate(scores, batch, local[batch.index], rate)
        if batch.classes is None:
            grad = swapped(grad, batch.y)
        self._move(model, batch, grad, rate)
        return float(value.sum())

    def _evaluate(self, scores: np.ndarray, batch: Batch, local: np.ndarray, rate: float) -> Triple:
        """Value, grad, new local state."""
        return self.objective(scores, batch.log_weight, local, rate, batch.square_norms)

    def _move(self, model: LinearModel, batch: Batch, grad: np.ndarray, rate: float) -> None:
        """Step of the weights."""
        self.optimizer.apply(model, batch.rows, batch.classes, grad, rate)

    def _chunks(self, dataset: Dataset, model: LinearModel, streams: Streams) -> Iterator[Batch]:
        """Endless passes over the rows, a chunk at a time; a chunk lies in one pass.

        A sampler that looks at the model does so before each.
        """
        X, y = dataset.train.X, dataset.train.y
        square_norm = square_norms(X) + (model.b is not None)
        rows_of_X = model.layout(X)
        size = max(1, (self.sampler.refresh or CHUNK) // self.batch_size) * self.batch_size
        while True:
            order = self._order(streams.order, len(y))
            for first in range(0, len(y), size):
                index = order[first : first + size]
                if self.sampler.refresh:
                    self.sampler = self.sampler.seen(model)
                drawn, log_weight = self.sampler.draw(
                    streams.classes, index, y[index], self.batch_size
                )
                yield Batch(
                    rows=take(X, index, model.dtype)
                    if drawn is None
                    else model.take(rows_of_X, index),
                    index=index,
                    square_norms=square_norm[index],
                    y=y[index],
                    classes=None if drawn is None else np.column_stack([y[index], drawn]),
                    log_weight=log_weight,
                    noise=self.objective.sample(streams.noise, len(index)),
                )

    def _order(self, rng: np.random.Generator, n_rows: int) -> np.ndarray:
        if self.order == "shuffled":
            return rng.permutation(n_rows)
        if self.order == "iid":
            return rng.integers(0, n_rows, n_rows)
        return np.arange(n_rows)


@dataclass
class Descent(Minibatch):
    """`Minibatch` that delegates plain steps on drawn classes to the model; same updates."""

    def _run(self, model: LinearModel, chunk: Batch, local: np.ndarray, rate: float) -> float:
        """As `Minibatch`; the last minibatch of a pass may be a shorter one."""
        if chunk.classes is None or not self.optimizer.is_plain:
            return super()._run(model, chunk, local, rate)
        total = 0.0
        for part, size in minibatches(chunk, self.batch_size):
            shrinkage = self.optimizer.weight_decay.shrinkage(rate, size)
            value = model.descend(part, size, local, rate, shrinkage, self.objective)
            total += super()._run(model, part, local, rate) if value is None else value
        return total


def minibatches(batch: Batch, size: int) -> Iterator[tuple[Batch, int]]:
    """Minibatches of this size and a shorter last one, each with its size."""
    even = len(batch) // size * size
    if even:
        yield batch.part(0, even), size
    if even < len(batch):
        yield batch.part(even, len(batch)), len(batch) - even


def swapped(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Exchange column 0 with the column of the true class, in place; its own inverse."""
    row = np.arange(len(y))
    scores[row, y], scores[:, 0] = scores[:, 0].copy(), scores[row, y].copy()
    return scores
