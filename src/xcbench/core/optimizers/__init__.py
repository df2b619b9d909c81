"""Optimizers: schedule × preconditioner × weight decay. Only they change weights.

The loop asks for the rate of an epoch and passes it back with the gradients of each minibatch. Each
fit starts with a fresh optimizer, without earlier gradients or counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from xcbench.core.models.linear import LinearModel
from xcbench.core.optimizers.preconditioners import Plain, RootOfMean, RootOfSum, Rows
from xcbench.core.optimizers.schedules import Linear, RootDecay, Schedule, Steps
from xcbench.core.optimizers.weight_decay import InGradient, OnVisited, WeightDecay

__all__ = [
    "InGradient",
    "Linear",
    "OnVisited",
    "Optimizer",
    "Plain",
    "Resumed",
    "RootDecay",
    "RootOfMean",
    "RootOfSum",
    "Schedule",
    "Steps",
    "WeightDecay",
    "adagrad",
    "augment_reduce",
    "sgd",
]


@dataclass
class Optimizer:
    """A schedule, a preconditioner and a weight decay.

    Attributes
    ----------
    train : N, if the gradient is N/B times a minibatch's sum; 0 if it is the sum.
    t : iterations so far.
    """

    schedule: Schedule
    weight_decay: WeightDecay
    preconditioner: Plain = field(default_factory=Plain)
    train: int = 0
    t: int = 0

    def over(self, epochs: float) -> Optimizer:
        """The optimizer of a training of so many epochs."""
        schedule = self.schedule.over(epochs)
        return self if schedule is self.schedule else replace(self, schedule=schedule)

    def begun(self, model: LinearModel) -> Optimizer:
        """The optimizer before its first iteration on a model."""
        return replace(self, preconditioner=self.preconditioner.begun(model), t=0)

    @property
    def is_plain(self) -> bool:
        """Whether a step is W <- shrinkage · W - rate · gradient, at the rate of its epoch."""
        parts = self.schedule.by_epoch, self.weight_decay.uniform, self.preconditioner.plain
        return all(parts) and not self.train

    def state(self) -> dict[str, np.ndarray]:
        """Its memory and counts, for `resumed`."""
        return {**self.preconditioner.state(), "t": np.array(self.t)}

    def resumed(self, state: dict[str, np.ndarray]) -> Resumed:
        """The optimizer that continues from this state in its next fit."""
        preconditioner = self.preconditioner.restored(state)
        parts = self.schedule, self.weight_decay, preconditioner
        return Resumed(*parts, self.train, int(state["t"]))

    def rate(self, epoch: float) -> float:
        """Learning rate after so many passes over the rows."""
        return self.schedule.rate(epoch)

    def apply(
        self,
        model: LinearModel,
        rows: Rows,
        classes: np.ndarray | None,
        grad: np.ndarray,
        rate: float,
    ) -> None:
        """Move the weights against the sum over a minibatch of grad (B, C) times x.

        Parameters
        ----------
        classes : (B, C) of the gradients, the true class first; None for every class.
        rate : of the epoch.
        """
        self.t += 1
        size, rate = len(rows), self.schedule.at(rate, self.t)
        if self.train:
            grad = self.train / size * grad
        self.weight_decay.before(model, rate, classes, size)
        l2 = self.weight_decay.in_gradient(size)
        self.preconditioner.move(model, rows, classes, grad, rate, l2)
        self.weight_decay.after(model, classes)


class Resumed(Optimizer):
    """An optimizer that continues an earlier fit."""

    def begun(self, model: LinearModel) -> Optimizer:
        """Itself."""
        return self


def sgd(lr: float, lr_decay: float, l2: float = 0.0, linear: bool = False) -> Optimizer:
    """W -= rate · gradient of the minibatch's summed objective, l2 = lambda/N included.

    The rate falls by lr_decay an epoch, or in a straight line to 0 (`Linear`).
    """
    return Optimizer(Linear(lr) if linear else Schedule(lr, lr_decay), WeightDecay(l2))


def adagrad(lr: float, lr_decay: float, root: float, l2: float) -> Optimizer:
    """Adagrad on the minibatch's summed gradient; l2 = lambda/N."""
    return Optimizer(RootDecay(lr, lr_decay, root), InGradient(l2), RootOfSum())


def augment_reduce(lr: float, lr_decay: float, l2: float, train: int, touched: bool) -> Optimizer:
    """The step of the augment-and-reduce paper, on the gradient of the whole objective."""
    preconditioner = RootOfMean(touched=touched)
    return Optimizer(Steps(lr, lr_decay), InGradient(l2, once=True), preconditioner, train)
