"""What a gradient is divided by: nothing, or the root of a sum or mean of its squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from xcbench.core.adaptive import Pace, Squares
from xcbench.core.models.linear import LinearModel
from xcbench.core.rows import DenseRows, SparseRows

Rows = SparseRows | DenseRows
SMALLEST = 1e-9  # scale below which the squares are multiplied by it


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
