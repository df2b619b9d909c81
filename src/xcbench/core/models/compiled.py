"""The linear model on Numba kernels; needs the extra ``numba``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any, cast
from weakref import ref

import numba
import numpy as np
import scipy.sparse as sp

from xcbench import threads
from xcbench.core import kernels
from xcbench.core.adaptive import Pace, Squares
from xcbench.core.batch import Batch
from xcbench.core.dataset import Rows, Split
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import Model, Summary
from xcbench.core.objectives import Objective, Scalar

PANEL_BYTES = 1 << 21  # transposed weights held at a time in a pass over all classes
CACHED_BYTES = 1 << 23  # weights up to this size need not be visited class after class,
PAIRS_OF_CLASS = 8  # nor where a class has fewer pairs than this on average
PANEL_CLASSES = (64, 512)
DENSE = 0.5  # share of non-zeros from which a product of dense rows is faster
FEW_CLASSES = 64  # of which a part of a register would be a large part of the work
LINE = 16  # float32 numbers of a cache line
ROWS_OF_THREAD = 256  # below which another thread takes longer to wake than its rows


@dataclass
class Layout:
    """Dense rows and, if they are mostly 0, their sparse copy, for as long as the rows exist."""

    rows: Callable[[], np.ndarray | None]
    sparse: sp.csr_array | None = None


LAYOUTS: list[Layout] = []  # the last few: cells that follow one another have the same rows
KEPT_LAYOUTS = 4  # training, test, validation rows and a part of the training rows


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

    @property
    def record(self) -> kernels.Rows:
        """What a kernel takes."""
        return kernels.Rows(self.begin, self.end, self.features, self.values)


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
            parts = kernels.nonzeros(_fixed(X)) if mostly_0 else None
            match = Layout(ref(X), sp.csr_array(parts, X.shape) if parts else None)
            layouts = [match, *layouts][:KEPT_LAYOUTS]
        LAYOUTS[:] = layouts
        return X if match.sparse is None else match.sparse

    def take(self, X: Rows, index: np.ndarray) -> RowView:  # type: ignore[override]
        """Rows of a dataset, where they lie."""
        return RowView.of(X, index)

    def at(self, rows: Any, classes: np.ndarray) -> np.ndarray:
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

    def full_batch(self, X: Rows) -> list[tuple[slice, Any]]:
        """As `LinearModel.full_batch`, in the layout of all rows."""
        X = self.layout(X)
        if isinstance(X, np.ndarray):
            return super().full_batch(X)
        return [(block, RowView.of(X, block)) for block in self.parts(X.shape[0])]

    def all(self, rows: Any) -> np.ndarray:
        """As `LinearModel.all`, of the rows of a full batch too."""
        if not isinstance(rows, RowView):
            return super().all(rows)
        by_feature, scores = self._lanes(self.V.shape[1]), self._lanes(len(rows))
        by_feature[:, : self.n_classes] = self.V.T
        kernels.scores_of_all(rows.record, by_feature, scores)
        return self._with_biases(np.ascontiguousarray(scores[:, : self.n_classes]))

    def gradient(self, rows: Any, grad: np.ndarray) -> np.ndarray:
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

    def add(self, rows: Any, classes: np.ndarray, numbers: np.ndarray) -> None:
        """w_c += number · x and b_c += number, for the (B, C) pairs; repeated classes add up."""
        changes = (numbers / self.scale).astype(self.dtype)
        pairs = kernels.Pairs(classes, self._order(classes), changes)
        kernels.scatter(self.record, rows.record, pairs)

    def adapt(
        self,
        rows: Any,
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

    def summaries(self, models: Sequence[Model], split: Split) -> Sequence[Summary | None]:
        """As `LinearModel.summaries`, of sparse rows."""
        alike = all(type(model) is CompiledModel and not model.untrained for model in models)
        if len(models) > 1 and alike and self._summed_by_panels(split):
            return _summaries(cast("Sequence[CompiledModel]", models), split)
        return super().summaries(models, split)

    def summarise(self, split: Split) -> Summary:
        """As `LinearModel.summarise`; float32 scores, sums in float64, a panel at a time."""
        if self.dtype != np.float32:
            return super().summarise(split)
        if self._summed_by_panels(split):
            return _summaries([self], split)[0]
        running = _running(split, 1)

        def absorb(parts: Sequence[slice]) -> None:
            for block, scores in self.passes(split.X, parts):
                kernels.absorb_block(scores, block.start, running)

        blocks = list(self.parts(len(split)))
        threads.each(absorb, [blocks[part] for part in _shares(len(blocks))])
        return _summary(running, 0)

    def _summed_by_panels(self, split: Split) -> bool:
        return self.dtype == np.float32 and not isinstance(self.layout(split.X), np.ndarray)


def _summaries(models: Sequence[CompiledModel], split: Split) -> list[Summary]:
    """What `summarise` gives of models of one shape; a sparse row is read once for all."""
    first, n_models = models[0], len(models)
    rows = RowView.of(first.layout(split.X), slice(None))
    weights = (
        _stacked([model.V for model in models]),
        _stacked([model.record.b for model in models]),
    )
    scale = np.array([model.scale for model in models], first.dtype)
    n_classes, n_features = first.V.shape
    most = int(np.clip(PANEL_BYTES // (4 * n_features), *PANEL_CLASSES))
    n_panels = -(-n_classes // most)
    size = min(_whole_lines(-(-n_classes // n_panels)), n_classes)
    room = _aligned(n_features * _whole_lines(n_models * size), first.dtype)
    running = _running(split, n_models)
    for begin in range(0, n_classes, size):
        classes = begin, min(begin + size, n_classes)
        width = _whole_lines(n_models * (classes[1] - begin))
        by_feature = room[: n_features * width].reshape(-1, width)
        panel = kernels.Panel(by_feature, np.empty(width, first.dtype), scale, classes)
        kernels.fill_panel(weights, panel)
        threads.each(partial(_absorb, panel, rows, running), _shares(len(split), ROWS_OF_THREAD))
    return [_summary(running, r) for r in range(n_models)]


def _absorb(panel: kernels.Panel, rows: RowView, running: kernels.Running, part: slice) -> None:
    kernels.absorb_panel(panel, part.start, part.stop, rows.record, running)


def _shares(number: int, least: int = 1) -> list[slice]:
    """Consecutive parts of so many things, one for each thread that gets at least a few."""
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    ends = np.linspace(0, number, max(1, min(most, number // least)) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """All of them (R, ...); a single one is not copied."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def _whole_lines(numbers: int) -> int:
    return -(-numbers // LINE) * LINE


def _running(split: Split, n_models: int) -> kernels.Running:
    """As before the first class."""
    shape = n_models, len(split)
    return kernels.Running(
        np.asarray(split.y),
        np.full(shape, -np.inf, np.float32),
        np.zeros(shape),
        np.zeros(shape, np.int64),
        np.full(shape, np.nan, np.float32),
    )


def _summary(running: kernels.Running, r: int) -> Summary:
    """Of model r: -log softmax_y of every row, and the class of the highest score."""
    _, top, total, best, true_score = running
    return np.log(total[r]) + top[r].astype(np.float64) - true_score[r], best[r]


def record_of(batch: Batch, scalar: Scalar, local: np.ndarray) -> kernels.Samples:
    """Samples as a kernel takes them."""
    assert batch.classes is not None
    log_weight = np.asarray(batch.log_weight if scalar.weighted else 0.0, np.float64)
    drawn = np.broadcast_to(log_weight, (len(batch), batch.classes.shape[1] - 1))
    return kernels.Samples(
        batch.index, batch.classes, np.ascontiguousarray(drawn), batch.square_norms, local
    )


def compiles_scalar(scalar: Scalar) -> bool:
    """Whether the formula can be compiled; one from outside may use what Numba does not know."""
    return compiles(scalar.formula, kernels.SIGNATURES[scalar.family])


@cache
def compiles(formula: Callable[..., Any], signature: Any) -> bool:
    """As `compiles_scalar`."""
    try:
        kernels.compiled(formula, signature)
    except Exception:  # of every kind, for whatever is no plain function of numbers
        return False
    return True
