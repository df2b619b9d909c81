"""Optimizers: schedule × preconditioner × weight decay. Only they change weights.

The loop asks for the rate of an epoch and passes it back with the gradients of each minibatch. Each
fit starts with a fresh optimizer, without earlier gradients or counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from xcbench.core.adaptive import Pace, Squares
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import DenseRows, SparseRows

Rows = SparseRows | DenseRows
PERIOD = 2000  # iterations after which the rate of augment and reduce is multiplied by its lr_decay
SMALLEST = 1e-9  # scale below which the squares are multiplied by it


# ---------------------------------------------------------------- schedules
@dataclass(frozen=True)
class Schedule:
    """``lr · lr_decay^e`` in epoch e, counted from 0."""

    lr: float
    lr_decay: float = 1.0
    by_epoch: ClassVar[bool] = True  # all iterations of an epoch have its rate

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, for the loop and for local variables."""
        return self.lr * self.lr_decay**epoch

    def at(self, rate: float, t: int) -> float:
        """Rate of iteration t, counted from 1, in an epoch with that rate."""
        return rate


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

    def rate(self, epoch: int) -> float:
        """The same in every epoch: this schedule counts iterations."""
        return self.lr

    def at(self, rate: float, t: int) -> float:
        """As above."""
        return rate * self.lr_decay ** (t // PERIOD) * t ** (-0.5 + 1e-16)


# ---------------------------------------------------------------- weight decay
@dataclass(frozen=True)
class WeightDecay:
    """lambda/2 ||(w, b)||², taken implicitly: W / (1 + rate · B · lambda/N) never overshoots.

    Attributes
    ----------
    l2 : lambda / N, the share of one sample.
    """

    l2: float = 0.0
    uniform: ClassVar[bool] = True  # all weights have one factor

    def shrinkage(self, rate: float, samples: int) -> float:
        """Factor on all weights and biases in a step."""
        return 1 / (1 + rate * samples * self.l2)

    def in_gradient(self, samples: int) -> float:
        """Factor of the weights that is added to nonzero gradients."""
        return 0.0

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink the weights before a step on B samples and their classes (``None``: all)."""
        if self.l2:
            model.shrink(self.shrinkage(rate, size))

    def after(self, model: LinearModel, batch: np.ndarray | None) -> None:
        """Do nothing after the step."""


@dataclass(frozen=True)
class OnVisited(WeightDecay):
    """`WeightDecay` of only the classes of a step, with one sample a step (Eq. 6 and 7 of U-max).

    Class j shrinks by 1 / (1 + rate · l2 / p_j): on average over steps as much as under
    `WeightDecay`. The step is implicit as there, because 1 / p_j may be as large as K - 1.

    Attributes
    ----------
    visits : (K,) probability p_j that a step visits class j.
    radius : (w_j, b_j) is scaled back to this length where it is longer (Algorithm 1).
    """

    visits: np.ndarray = field(default_factory=lambda: np.ones(1))
    radius: float = np.inf
    uniform: ClassVar[bool] = False

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink the true class and the drawn ones; of every class p is 1."""
        if batch is None:
            super().before(model, rate, batch, size)
        else:
            classes = batch[0]
            model.scale_at(classes, 1 / (1 + rate * self.l2 / self.visits[classes]))

    def after(self, model: LinearModel, batch: np.ndarray | None) -> None:
        """Project them."""
        if self.radius < np.inf:
            classes = np.arange(model.n_classes) if batch is None else batch[0]
            length = np.maximum(model.lengths(classes), self.radius)
            model.scale_at(classes, self.radius / length)


@dataclass(frozen=True)
class InGradient(WeightDecay):
    """lambda · w added to nonzero gradients; rarer with drawn classes or sparse rows.

    Attributes
    ----------
    l2 : lambda / N for the summed gradient of a minibatch, lambda for the whole objective.
    whole : whether the gradient is that of the whole objective.
    """

    whole: bool = False
    uniform: ClassVar[bool] = False

    def in_gradient(self, samples: int) -> float:
        """Its factor."""
        return self.l2 if self.whole else samples * self.l2

    def before(self, model: LinearModel, rate: float, batch: np.ndarray | None, size: int) -> None:
        """Shrink nothing."""


# ---------------------------------------------------------------- preconditioners
@dataclass
class Plain:
    """The gradient as it is."""

    plain: ClassVar[bool] = True

    def begun(self, model: LinearModel) -> Plain:
        """Itself: it has no memory."""
        return self

    def state(self) -> dict[str, np.ndarray]:
        """Its memory, for `restored`."""
        return {}

    def restored(self, state: dict[str, np.ndarray]) -> Plain:
        """With this memory."""
        return self

    def move(
        self,
        model: LinearModel,
        rows: Rows,
        classes: np.ndarray | None,
        grad: np.ndarray,
        rate: float,
        l2: float,
    ) -> None:
        """W -= rate · grad · x of the drawn classes (``None``: all of them)."""
        numbers = -rate * grad
        if classes is None:
            model.add_all(rows, numbers)
        else:
            model.add(rows, classes, numbers)


@dataclass
class RootOfSum(Plain):
    """Adagrad: G <- G + g², g / sqrt(G) (Duchi et al. 2011), as TensorFlow 1 has it.

    G starts at 1e-8, and nothing is added to the root.
    """

    squares: Squares | None = None
    plain: ClassVar[bool] = False
    start, offset, scale = 1e-8, 0.0, 1.0

    def begun(self, model: LinearModel) -> RootOfSum:
        """Without gradients so far."""
        return replace(self, squares=Squares.like(model.V, model.b, self.start))

    def state(self) -> dict[str, np.ndarray]:
        """Squares of the weights' gradients and, where there are biases, of theirs."""
        assert self.squares is not None
        squares = {"squares_W": self.squares.V, "squares_b": self.squares.b}
        return {name: array for name, array in squares.items() if array is not None}

    def restored(self, state: dict[str, np.ndarray]) -> RootOfSum:
        """With these squares."""
        return replace(self, squares=Squares(state["squares_W"], state.get("squares_b")))

    def averaging(self) -> tuple[float, float]:
        """How much of what is stored is kept, and how much of g² is added to it."""
        return 1.0, 1.0

    def move(
        self,
        model: LinearModel,
        rows: Rows,
        classes: np.ndarray | None,
        grad: np.ndarray,
        rate: float,
        l2: float,
    ) -> None:
        """A coordinate without a gradient does not move."""
        assert self.squares is not None
        keep, gain = self.averaging()
        pace = Pace(keep, gain, self.scale, self.offset, rate, l2)
        model.adapt(rows, classes, grad, self.squares, pace)


@dataclass
class RootOfMean(RootOfSum):
    """RMSprop's average under Adagrad's root (augment and reduce, Sec. 4.2).

        s_t = 0.1 g_t² + 0.9 s_{t-1},   s_1 = g_1²,   g_t / (1 + sqrt(s_t))

    A coordinate without a gradient can wait: all averages are held as scale · s, of which 0.9
    goes into the scale.

    Attributes
    ----------
    touched : whether averages decay only when their coordinate has a gradient (published code).
    begins : whether this is the first iteration.
    """

    touched: bool = False
    begins: bool = True
    scale: float = 1.0
    start, offset = 0.0, 1.0

    def begun(self, model: LinearModel) -> RootOfMean:
        """Without gradients so far."""
        squares = Squares.like(model.V, model.b, self.start)
        return replace(self, squares=squares, begins=True, scale=1.0)

    def state(self) -> dict[str, np.ndarray]:
        """Averages as they are scaled."""
        return {**super().state(), "scale": np.array(self.scale)}

    def restored(self, state: dict[str, np.ndarray]) -> RootOfMean:
        """With these averages."""
        squares = Squares(state["squares_W"], state.get("squares_b"))
        return replace(self, squares=squares, begins=False, scale=float(state["scale"]))

    def averaging(self) -> tuple[float, float]:
        """As above."""
        if self.begins:
            self.begins = False
            return 0.0, 1.0
        if self.touched:
            return 0.9, 0.1
        assert self.squares is not None
        self.scale *= 0.9
        if self.scale < SMALLEST:
            self.squares.multiply(self.scale)
            self.scale = 1.0
        return 1.0, 0.1 / self.scale


# ---------------------------------------------------------------- optimizers
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

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
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


def sgd(lr: float, lr_decay: float, l2: float = 0.0) -> Optimizer:
    """W -= rate · gradient of the minibatch's summed objective, l2 = lambda/N included."""
    return Optimizer(Schedule(lr, lr_decay), WeightDecay(l2))


def adagrad(lr: float, lr_decay: float, root: float, l2: float) -> Optimizer:
    """Adagrad on the minibatch's summed gradient; l2 = lambda/N."""
    return Optimizer(RootDecay(lr, lr_decay, root), InGradient(l2), RootOfSum())


def augment_reduce(lr: float, lr_decay: float, l2: float, train: int, touched: bool) -> Optimizer:
    """The step of the augment-and-reduce paper, on the gradient of the whole objective."""
    preconditioner = RootOfMean(touched=touched)
    return Optimizer(Steps(lr, lr_decay), InGradient(l2, whole=True), preconditioner, train)
