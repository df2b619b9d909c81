"""Learning rates by epoch and iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

PERIOD = 2000  # iterations after which the rate of augment and reduce is multiplied by its lr_decay


@dataclass(frozen=True)
class Schedule:
    """``lr · lr_decay^e`` in epoch e, counted from 0."""

    lr: float
    lr_decay: float = 1.0
    by_epoch: ClassVar[bool] = True  # the loop asks once for many iterations

    def over(self, epochs: float) -> Schedule:
        """The schedule of a training of so many epochs."""
        return self

    def rate(self, epoch: float) -> float:
        """Learning rate after so many passes over the rows, for the loop and local variables."""
        return self.lr * self.lr_decay ** int(epoch)

    def at(self, rate: float, t: int) -> float:
        """Rate of iteration t, counted from 1, in an epoch with that rate."""
        return rate


@dataclass(frozen=True)
class Linear(Schedule):
    """``lr (1 - e/E)`` after e of E epochs, whole or not."""

    epochs: float = math.inf

    def over(self, epochs: float) -> Linear:
        """With E epochs."""
        return replace(self, epochs=epochs)

    def rate(self, epoch: float) -> float:
        """As above."""
        return self.lr * max(0.0, 1.0 - epoch / self.epochs)


@dataclass(frozen=True)
class RootDecay(Schedule):
    """`Schedule` times sqrt(a / (t - 1 + a)) in iteration t; a = 0: none."""

    root: float = 0.0
    by_epoch: ClassVar[bool] = False

    def at(self, rate: float, t: int) -> float:
        """Rate with the root."""
        return rate * (self.root / (t - 1 + self.root)) ** 0.5 if self.root else rate


@dataclass(frozen=True)
class Steps(Schedule):
    """``lr · lr_decay^floor(t / 2000) · t^(-1/2 + 1e-16)`` (augment and reduce, Sec. 4.2)."""

    by_epoch: ClassVar[bool] = False

    def rate(self, epoch: float) -> float:
        """The same in every epoch: this schedule counts iterations."""
        return self.lr

    def at(self, rate: float, t: int) -> float:
        """As above."""
        return rate * self.lr_decay ** (t // PERIOD) * t ** (-0.5 + 1e-16)
