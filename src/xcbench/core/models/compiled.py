"""The linear model on Numba kernels; needs the extra ``numba``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast
from weakref import ref

import numpy as np
import scipy.sparse as sp
from numba.core.typing import Signature

from xcbench.core import kernels
from xcbench.core.adaptive import Pace, Squares
from xcbench.core.batch import Batch, EngineRows
from xcbench.core.dataset import Rows, Split
from xcbench.core.models import panels
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import Model, Summary
from xcbench.core.models.row_view import RowView, fixed
from xcbench.core.objectives import Objective, Scalar
from xcbench.system import threads

CACHED_BYTES = 1 << 23  # weights up to this size need not be visited class after class,
PAIRS_OF_CLASS = 8  # nor where a class has fewer pairs than this on average
DENSE = 0.5  # share of non-zeros from which a product of dense rows is faster
FEW_CLASSES = 64  # of which a part of a register would be a large part of the work


@dataclass
class Layout:
    """Dense rows and, if they are mostly 0, their sparse copy, for as long as the rows exist."""

    rows: Callable[[], np.ndarray | None]
    sparse: sp.csr_array | None = None


LAYOUTS: list[Layout] = []  # the last few: cells that follow one another have the same rows
KEPT_LAYOUTS = 6  # training, test, validation rows, and parts of the former two


def _record(V: np.ndarray, b: np.ndarray | None) -> kernels.Weights:
    """Weights or their squares, with no number for biases that are not there."""
    return kernels.Weights(V, np.empty(0, V.dtype) if b is None else b)


class CompiledModel(LinearModel):
    """`LinearModel` whose verbs over chosen classes and over all rows are compiled."""

    engine = "numba"

    def __init__(self, n_classes: int, n_features: int, bias: bool, dtype: str) -> None:
        super().__init__(n_classes, n_features, bias, dtype)
        self.room = np.full(n_classes, -1), np.empty(n_classes, np.int64)

    @property
    def record(self) -> kernels.Weights:
        """What a kernel takes."""
        return _record(self.V, self.b)

    def layout(self, X: Rows) -> Rows:
        """As `LinearModel.layout`; rows that are mostly 0 become sparse."""
        if not isinstance(X, np.ndarray):
            return X
        layouts = [layout for layout in LAYOUTS if layout.rows() is not None]
        match = next((layout for layout in layouts if layout.rows() is X), None)
        if match is None:
            mostly_0 = np.count_nonzero(X) < min(DENSE * X.size, np.iinfo(np.int32).max)
            parts = kernels.nonzeros(fixed(X)) if mostly_0 else None
            n, d = X.shape
            match = Layout(ref(X), sp.csr_array(parts, shape=(n, d)) if parts else None)
            layouts = [match, *layouts][:KEPT_LAYOUTS]
        LAYOUTS[:] = layouts
        return X if match.sparse is None else match.sparse

    def take(self, X: Rows, index: np.ndarray) -> RowView:  # type: ignore[override]
        """Rows of a dataset, where they lie."""
        return RowView.of(X, index)

    def at(self, rows: EngineRows, classes: np.ndarray) -> np.ndarray:
        """Scores (B, C) in float64 of chosen classes (B, C)."""
        pairs = kernels.Pairs(classes, self._order(classes), np.empty(classes.shape))
        kernels.scores_at(self.V, rows.record, pairs)
        return self._finished(pairs.numbers, classes)

    def _by_class(self, pairs: int) -> bool:
        """Whether visiting so many pairs class after class is faster.

        It is where weights do not stay in the cache, and a class has many pairs.
        """
        return self.V.nbytes > CACHED_BYTES and pairs > PAIRS_OF_CLASS * self.n_classes

    def _order(self, classes: np.ndarray) -> np.ndarray:
        """Places of the pairs in the order in which they are visited."""
        if self._by_class(classes.size):
            return np.asarray(kernels.by_class(classes, *self.room))
        return np.arange(classes.size)

    def full_batch(self, X: Rows) -> list[tuple[slice, EngineRows]]:
        """As `LinearModel.full_batch`, in the layout of all rows."""
        X = self.layout(X)
        if isinstance(X, np.ndarray):
            return super().full_batch(X)
        return [(block, RowView.of(X, block)) for block in self.parts(X.shape[0])]

    def all(self, rows: EngineRows) -> np.ndarray:
        """As `LinearModel.all`, of the rows of a full batch too."""
        if not isinstance(rows, RowView):
            return super().all(rows)
        by_feature, scores = self._lanes(self.V.shape[1]), self._lanes(len(rows))
        by_feature[:, : self.n_classes] = self.V.T
        kernels.scores_of_all(rows.record, by_feature, scores)
        return self._with_biases(np.ascontiguousarray(scores[:, : self.n_classes]))

    def gradient(self, rows: object, grad: np.ndarray) -> np.ndarray:
        """As `LinearModel.gradient`."""
        if not isinstance(rows, RowView):
            return super().gradient(rows, grad)
        by_feature, of_scores = self._lanes(self.V.shape[1]), self._lanes(len(rows))
        of_scores[:, : self.n_classes] = grad
        kernels.gradient_of_all(rows.record, of_scores, by_feature)
        return by_feature[:, : self.n_classes].T

    def _lanes(self, size: int) -> np.ndarray:
        """Zeros for every class; of few classes in whole registers."""
        lanes = kernels.LANES if self.n_classes < FEW_CLASSES else 1
        classes = -(-self.n_classes // lanes) * lanes
        return np.zeros((size, classes), self.dtype)

    def add(self, rows: EngineRows, classes: np.ndarray, numbers: np.ndarray) -> None:
        """w_c += number · x and b_c += number, for the (B, C) pairs; repeated classes add up."""
        changes = (numbers / self.scale).astype(self.dtype)
        pairs = kernels.Pairs(classes, self._order(classes), changes)
        kernels.scatter(self.record, rows.record, pairs)

    def adapt(
        self,
        rows: EngineRows,
        classes: np.ndarray | None,
        grad: np.ndarray,
        squares: Squares,
        pace: Pace,
    ) -> None:
        """As `LinearModel.adapt`; the gradient of every class at once is a product."""
        self._fold()
        of_squares = _record(squares.V, squares.b)
        pace = Pace(*map(self.dtype.type, pace))
        if classes is None:
            (_, features), gradient, _, of_biases = self._gradient(rows, None, grad)
            if isinstance(features, slice):
                features = np.arange(self.V.shape[1])
            places, gradient = features.astype(np.int64, copy=False), np.ascontiguousarray(gradient)
            kernels.adapt_all(self.record, of_squares, places, gradient, of_biases, pace)
            return
        order = kernels.by_class(classes, *self.room)
        pairs = kernels.Pairs(classes, order, grad.astype(self.dtype))
        room = np.zeros(self.V.shape[1], self.dtype)
        kernels.adapt(self.record, of_squares, rows.record, pairs, room, pace)

    def descend(
        self,
        batch: Batch,
        size: int,
        local: np.ndarray,
        rate: float,
        shrinkage: float,
        objective: Objective,
    ) -> float | None:
        """As `LinearModel.descend`; None where the objective's formula cannot be compiled."""
        scalar = objective.scalar
        if scalar is None or not compiles_scalar(scalar):
            return None
        samples = record_of(batch, scalar, local)
        scale = np.array([self.scale])
        by_class = self._by_class(size * samples.classes.shape[1])
        step = kernels.Step(size, by_class, rate, shrinkage)
        weights, rows = kernels.Scaled(*self.record, scale), batch.rows.record
        total = kernels.descend(weights, rows, samples, step, self.room, scalar)
        self.scale = float(scale[0])
        return total

    def summaries(
        self, models: Sequence[Model], splits: Sequence[Split], depth: int = 1
    ) -> Sequence[Sequence[Summary | None]]:
        """As `LinearModel.summaries`, of sparse rows."""
        alike = all(type(model) is CompiledModel and not model.untrained for model in models)
        if alike and all(map(self._summed_by_panels, splits)):
            return panels.summaries(cast("Sequence[LinearModel]", models), splits, depth)
        return super().summaries(models, splits, depth)

    def summarise(self, split: Split, depth: int = 1) -> Summary:
        """As `LinearModel.summarise`; float32 scores, sums in float64, a panel at a time."""
        if self.dtype != np.float32:
            return super().summarise(split, depth)
        if self._summed_by_panels(split):
            return panels.summaries([self], [split], depth)[0][0]
        running = panels.running(split, 1, depth)

        def absorb(parts: Sequence[slice]) -> None:
            for block, scores in self.passes(split.X, parts):
                kernels.absorb(scores, self.n_classes, 0, block.start, running)

        blocks = list(self.parts(len(split)))
        threads.each(absorb, [blocks[part] for part in panels.shares(len(blocks), len(blocks))])
        return panels.summary(running, 0)

    def _summed_by_panels(self, split: Split) -> bool:
        return self.dtype == np.float32 and not isinstance(self.layout(split.X), np.ndarray)


def record_of(batch: Batch, scalar: Scalar, local: np.ndarray) -> kernels.Samples:
    """Samples as a kernel takes them."""
    assert batch.classes is not None
    log_weight = np.asarray(batch.log_weight if scalar.weighted else 0.0, np.float64)
    drawn = np.array(  # never a view, which would have another type to compile for
        np.broadcast_to(log_weight, (len(batch), batch.classes.shape[1] - 1)), order="C"
    )
    return kernels.Samples(batch.index, batch.classes, drawn, batch.square_norms, local)


def compiles_scalar(scalar: Scalar) -> bool:
    """Whether the formula can be compiled; one from outside may use what Numba does not know."""
    return compiles(scalar.formula, kernels.SIGNATURES[scalar.family])


@cache
def compiles(formula: Callable[..., object], signature: Signature) -> bool:
    """As `compiles_scalar`."""
    try:
        kernels.compiled(formula, signature)
    except Exception:  # of every kind, for whatever is no plain function of numbers
        return False
    return True
