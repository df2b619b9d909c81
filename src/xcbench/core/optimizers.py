"""Steps: the only mutators of weights.

The loop asks for the rate of an epoch and hands it back with the slopes of each minibatch. A step
that remembers gradients or counts iterations begins anew with every fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from xcbench.core.adaptive import Pace, Squares
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import DenseRows, SparseRows

PERIOD = 2000  # iterations after which the adaptive step's rate is multiplied by its decay
SMALLEST = 1e-9  # scale below which the squares are multiplied by it


class Step(Protocol):
    """Contract of a step."""

    def begun(self, model: LinearModel) -> Self:
        """The step before its first iteration on a model."""
        ...

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
        ...

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """Move the weights against the sum over a minibatch of slope (B, C) times x.

        Parameters
        ----------
        classes : (B, C) of the slopes, the true class first; None for every class.
        rate : of the epoch.
        """
        ...


@dataclass(frozen=True)
class SGD:
    """W -= rate · gradient of the minibatch's summed objective, ridge included.

    Attributes
    ----------
    lr, decay : the rate in epoch e is ``lr · decay^e``.
    ridge : lambda / N, the share of one observation in lambda/2 ||(w, b)||²; its step is taken
        implicitly, W / (1 + rate · B · ridge), which never overshoots.
    """

    lr: float
    decay: float
    ridge: float = 0.0

    def begun(self, model: LinearModel) -> Self:
        """Itself: it remembers nothing."""
        return self

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
        return self.lr * self.decay**epoch

    def shrinkage(self, rate: float, observations: int) -> float:
        """Factor of all weights and biases in the ridge's share of a step."""
        return 1 / (1 + rate * observations * self.ridge)

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """Move the drawn classes (``None``: all of them) of every observation."""
        if self.ridge:
            model.shrink(self.shrinkage(rate, len(rows)))
        move(model, rows, classes, -rate * slope)


@dataclass(frozen=True, kw_only=True)
class VisitedRidge(SGD):
    """`SGD` whose ridge acts on the classes of a step alone, one observation a step (Eq. 6 and 7).

    Class j shrinks by 1 / (1 + rate · ridge / p_j): on average over the steps as much as under
    `SGD`. Implicit as there: 1 / p_j may be as large as K - 1, and a plain step would overshoot.

    Attributes
    ----------
    visits : (K,) probability p_j that a step visits class j.
    radius : (w_j, b_j) is scaled back to this length where it is longer (Algorithm 1).
    """

    visits: np.ndarray
    radius: float = np.inf

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """Shrink, move and project the true class and the drawn ones."""
        if classes is None:  # p = 1 for every class
            visited = np.arange(model.n_classes)
            super().apply(model, rows, classes, slope, rate)
        else:
            visited = classes[0]
            model.scale_at(visited, 1 / (1 + rate * self.ridge / self.visits[visited]))
            move(model, rows, classes, -rate * slope)
        if self.radius < np.inf:
            length = np.maximum(model.lengths(visited), self.radius)
            model.scale_at(visited, self.radius / length)


@dataclass
class AugmentReduce:
    """The step of the augment-and-reduce paper: RMSprop's average under Adagrad's root (Sec. 4.2).

    With g the gradient of the whole objective as a minibatch estimates it, N/B times its sum,

        s_t = 0.1 g_t² + 0.9 s_{t-1},   s_1 = g_1²,
        w_t = w_{t-1} - rho_t g_t / (1 + sqrt(s_t)),
        rho_t = lr · decay^floor(t / 2000) · t^(-1/2 + 1e-16),

    each coordinate by itself, t the iteration. A coordinate without a gradient does not move, so
    that its average can wait: all averages are held as scale · s, of which 0.9 goes into the scale.

    Attributes
    ----------
    lr, decay : as above.
    ridge : lambda; it acts on the coordinates with a gradient (as in the code published with the
        paper), in full: with drawn classes or sparse rows, less often than a prior on all of them.
    train : N, training rows.
    touched : whether averages decay only when their coordinate has a gradient (published code).
    t : iterations so far.
    """

    lr: float
    decay: float
    ridge: float
    train: int
    touched: bool
    squares: Squares | None = None
    t: int = 0
    scale: float = 1.0

    def begun(self, model: LinearModel) -> Self:
        """Without gradients so far."""
        return replace(self, squares=Squares.like(model.V, model.b), t=0, scale=1.0)

    def rate(self, epoch: int) -> float:
        """The same in every epoch: the schedule counts iterations."""
        return self.lr

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """One iteration."""
        assert self.squares is not None
        self.t += 1
        keep, gain = self._averaging()
        rho = rate * self.decay ** (self.t // PERIOD) * self.t ** (-0.5 + 1e-16)
        pace = Pace(keep, gain, self.scale, 1.0, rho, self.ridge)
        model.adapt(rows, classes, self.train / len(rows) * slope, self.squares, pace)

    def _averaging(self) -> tuple[float, float]:
        """How much of a stored average is kept, and how much of g² is added to it."""
        if self.t == 1:
            return 0.0, 1.0
        if self.touched:
            return 0.9, 0.1
        assert self.squares is not None
        self.scale *= 0.9
        if self.scale < SMALLEST:
            self.squares.multiply(self.scale)
            self.scale = 1.0
        return 1.0, 0.1 / self.scale


@dataclass
class Adagrad:
    """Adagrad: G <- G + g², w <- w - rate g / sqrt(G) (Duchi et al. 2011), as TensorFlow 1 has it.

    With g the minibatch's summed gradient. G starts at 1e-8 and nothing is added to the root.

    Attributes
    ----------
    lr, decay : as in `SGD`.
    root : a of the factor sqrt(a / (t + a)) of the rate, t the iterations so far; 0: none.
    ridge : lambda / N; it acts on the coordinates with a gradient.
    """

    lr: float
    decay: float
    root: float
    ridge: float
    squares: Squares | None = None
    t: int = 0

    def begun(self, model: LinearModel) -> Self:
        """Without gradients so far."""
        return replace(self, squares=Squares.like(model.V, model.b, 1e-8), t=0)

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0, without the root."""
        return self.lr * self.decay**epoch

    def apply(
        self,
        model: LinearModel,
        rows: SparseRows | DenseRows,
        classes: np.ndarray | None,
        slope: np.ndarray,
        rate: float,
    ) -> None:
        """One iteration."""
        assert self.squares is not None
        if self.root:
            rate *= (self.root / (self.t + self.root)) ** 0.5
        self.t += 1
        pace = Pace(1.0, 1.0, 1.0, 0.0, rate, len(rows) * self.ridge)
        model.adapt(rows, classes, slope, self.squares, pace)


def move(
    model: LinearModel,
    rows: SparseRows | DenseRows,
    classes: np.ndarray | None,
    numbers: np.ndarray,
) -> None:
    """Add numbers · x to the drawn classes, or to all of them (``None``)."""
    if classes is None:
        model.add_all(rows, numbers)
    else:
        model.add(rows, classes, numbers)
