"""The linear model with Numba's kernels under its verbs; needs the extra ``numba``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from xcbench.core import kernels
from xcbench.core.adaptive import Pace, Squares
from xcbench.core.dataset import Rows, Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import Odds, Pairs, ScoredOdds
from xcbench.core.rows import DenseRows, SparseRows, take

PANEL_BYTES = 1 << 21  # transposed weights held at a time in a pass over all classes
CACHED_BYTES = 1 << 23  # weights up to this size need not be visited class after class
PANEL_CLASSES = (64, 512)
LINE = 16  # float32 numbers of a cache line

FAMILIES = (  # with the signature of their formulas
    (Odds, kernels.ODDS),
    (ScoredOdds, kernels.SCORED_ODDS),
    (Pairs, kernels.PAIRS),
)


@dataclass(slots=True)
class RowView:
    """Rows ``index`` of X without a copy: ``values[begin[i]:end[i]]`` at those ``features``."""

    X: Rows
    index: np.ndarray | slice
    begin: np.ndarray
    end: np.ndarray
    features: np.ndarray | None
    values: np.ndarray

    @classmethod
    def of(cls, X: Rows, index: np.ndarray | slice) -> RowView:
        """View of rows of a dataset."""
        if isinstance(X, np.ndarray):
            begin = np.arange(len(X))[index] * X.shape[1]
            return cls(X, index, begin, begin + X.shape[1], None, _fixed(X.reshape(-1)))
        begin, end = X.indptr[:-1][index], X.indptr[1:][index]
        # Unsigned numbers spare the test for negative ones in every access.
        kind = f"u{X.indices.dtype.itemsize}"
        return cls(
            X,
            index,
            begin.astype(np.int64),
            end.astype(np.int64),
            _fixed(X.indices).view(kind),
            _fixed(X.data),
        )

    def __len__(self) -> int:
        return len(self.begin)

    def part(self, first: int, last: int) -> RowView:
        """Rows first..last-1."""
        index = np.arange(len(self))[self.index] if isinstance(self.index, slice) else self.index
        part = slice(first, last)
        return RowView(
            self.X, index[part], self.begin[part], self.end[part], self.features, self.values
        )

    def copied(self, dtype: np.dtype) -> SparseRows | DenseRows:
        """The rows themselves, for a product with all classes."""
        return take(self.X, self.index, dtype)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What a kernel takes."""
        return self.begin, self.end, self.features, self.values


def _fixed(array: np.ndarray) -> np.ndarray:
    """Plain read-only view, so that memory maps and arrays are one type for the compiler."""
    plain = np.asarray(array).view(np.ndarray)
    plain.flags.writeable = False
    return plain


def _aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Uninitialised array that begins with a cache line."""
    room = np.empty(size * dtype.itemsize + 64, np.uint8)
    first = -room.ctypes.data % 64
    return room[first : first + size * dtype.itemsize].view(dtype)


class CompiledModel(LinearModel):
    """`LinearModel` whose verbs over chosen classes and over all rows are compiled."""

    engine = "numba"

    def __init__(self, n_classes: int, n_features: int, bias: bool, dtype: str) -> None:
        super().__init__(n_classes, n_features, bias, dtype)
        self.room = np.full(n_classes, -1), np.empty(n_classes, np.int64)

    @property
    def biases(self) -> np.ndarray:
        """The biases b, or no number."""
        return np.empty(0, self.dtype) if self.b is None else self.b

    def take(self, X: Rows, index: np.ndarray) -> RowView:  # type: ignore[override]
        """Rows of a dataset, where they lie."""
        return RowView.of(X, index)

    def at(self, rows: Any, classes: np.ndarray) -> np.ndarray:
        """Scores (B, C) in float64 of chosen classes (B, C)."""
        scores = np.empty(classes.shape)
        large = self.V.nbytes > CACHED_BYTES
        order = kernels.by_class(classes, *self.room) if large else np.arange(classes.size)
        kernels.scores_at(self.V, *rows.arrays, classes, order, scores)
        return self._finished(scores, classes)

    def add(self, rows: Any, classes: np.ndarray, numbers: np.ndarray) -> None:
        """w_c += number · x and b_c += number, for the (B, C) pairs; repeated classes add up."""
        changes = (numbers / self.scale).astype(self.dtype)
        order = kernels.by_class(classes, *self.room)
        kernels.scatter(self.V, self.biases, *rows.arrays, classes, order, changes)

    def adapt(
        self,
        rows: Any,
        classes: np.ndarray | None,
        slope: np.ndarray,
        squares: Squares,
        pace: Pace,
    ) -> None:
        """As `LinearModel.adapt`; the gradient of every class at once is a product."""
        self._fold()
        of_b = self.biases if squares.b is None else squares.b
        moved, numbers = (self.V, self.biases, squares.V, of_b), np.array(pace, self.dtype)
        if classes is None:
            (_, features), gradient, _, of_biases = self._gradient(rows, None, slope)
            if isinstance(features, slice):
                features = np.arange(self.V.shape[1])
            places = features.astype(np.int64, copy=False)
            kernels.adapt_all(*moved, places, np.ascontiguousarray(gradient), of_biases, numbers)
            return
        order = kernels.by_class(classes, *self.room)
        changes, room = slope.astype(self.dtype), np.zeros(self.V.shape[1], self.dtype)
        kernels.adapt(*moved, *rows.arrays, classes, order, changes, room, numbers)

    def summarise(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """As `LinearModel.summarise`; float32 scores, sums in float64, a panel at a time."""
        if self.dtype != np.float32:
            return super().summarise(split)
        n_rows = len(split)
        top, total = np.full(n_rows, -np.inf, np.float32), np.zeros(n_rows)
        best, true_score = np.zeros(n_rows, np.int64), np.full(n_rows, np.nan, np.float32)
        running = np.asarray(split.y), top, total, best, true_score
        if isinstance(split.X, np.ndarray):
            for block, scores in self.passes(split.X):
                kernels.absorb_block(scores, block.start, *running)
        else:
            rows, scale = RowView.of(split.X, slice(None)), self.dtype.type(self.scale)
            n_features = self.V.shape[1]
            size = int(np.clip(PANEL_BYTES // (4 * n_features), *PANEL_CLASSES))
            size = min(size, self.n_classes) // LINE * LINE or self.n_classes
            room = _aligned(n_features * size, self.dtype)
            for first in range(0, self.n_classes, size):
                shape = n_features, min(size, self.n_classes - first)
                panel = room[: shape[0] * shape[1]].reshape(shape)
                kernels.absorb_panel(
                    self.V, self.biases, scale, first, panel, *rows.arrays, *running
                )
        return np.log(total) + top.astype(np.float64) - true_score, best


def compiles(objective: Odds | ScoredOdds | Pairs) -> bool:
    """Whether its formula can be compiled; one from outside may use what Numba does not know."""
    (signature,) = (s for family, s in FAMILIES if isinstance(objective, family))
    return _compiles(objective.formula, signature)


@cache
def _compiles(formula: Callable[..., Any], signature: Any) -> bool:
    try:
        kernels.compiled(formula, signature)
    except Exception:  # of every kind, for whatever is no plain function of numbers
        return False
    return True


def _formula(objective: Odds | ScoredOdds | Pairs, family: type, signature: Any) -> Any:
    """The objective's formula where it is of the family, else one that is never called."""
    return objective.formula if type(objective) is family else kernels.STAND_INS[signature]


def descend(
    model: CompiledModel,
    rows: RowView,
    index: np.ndarray,
    classes: np.ndarray,
    log_weight: np.ndarray | float,
    local: np.ndarray,
    square_norm: np.ndarray,
    rate: float,
    shrinkage: float,
    objective: Odds | ScoredOdds | Pairs,
) -> float:
    """Update by one observation after the other; gives the sum of their values.

    Parameters
    ----------
    rows, index, classes, log_weight, square_norm : B observations as in a minibatch's chunk.
    local : state of every observation, moved in place.
    shrinkage : the ridge's factor of all weights, an update.
    objective : of one of the three families.
    """
    if isinstance(objective, Odds) and not objective.weighted:
        log_weight = 0.0
    scale = np.array([model.scale])
    drawn = classes.shape[0], classes.shape[1] - 1
    total = kernels.descend(
        model.V,
        model.biases,
        scale,
        *rows.arrays,
        index,
        classes,
        np.ascontiguousarray(np.broadcast_to(np.asarray(log_weight, np.float64), drawn)),
        local,
        square_norm,
        rate,
        shrinkage,
        0.0 if isinstance(objective, Pairs) else objective.parameter,
        isinstance(objective, Pairs),
        isinstance(objective, Pairs) and objective.shifted,
        isinstance(objective, ScoredOdds),
        *(kernels.compiled(_formula(objective, *family), family[1]) for family in FAMILIES),
    )
    model.scale = float(scale[0])
    return total
