"""Multi-class SVMs by sub-gradient steps on batches, each row with one rival class (MEMOIR)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset
from xcbench.core.models.sparse import SparseModel, sparse_rows
from xcbench.core.objectives import Objective
from xcbench.core.oracles import Oracle
from xcbench.core.oracles.exact import Exact
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.penalties import L1, L2

GRAM = 1 << 21  # inner products of rows held at a time


@dataclass
class Margin(Solver):
    """MEMOIR's Algorithms 1 and 2.

    Attributes
    ----------
    objective : function of the scores of the true class and its rival.
    oracle : makes a margin oracle from a random generator.
    penalty : `L2` or `L1`.
    lr, slowdown : the rate of step t, from first_step on, is lr / (1 + slowdown · t).
    batch_size : samples in a batch, drawn with replacement.
    mean_step : whether a step is the mean over the batch, or the sum.
    current : whether a sample uses weights updated by earlier samples of its batch, or the weights
        before the batch. An inexact oracle searches the weights before the batch in both cases; the
        hinge uses the present ones.
    balanced : whether a batch draws classes uniformly and then a row of each, or rows uniformly.
    cosine, average : as in `xcbench.core.models.sparse.SparseModel`.
    epochs : passes that a fixed number of steps makes, or None for the budget's.
    """

    objective: Objective
    oracle: Callable[[np.random.Generator], Oracle]
    penalty: L1 | L2
    lr: float
    slowdown: float
    batch_size: int
    mean_step: bool
    current: bool
    balanced: bool
    cosine: bool
    average: bool
    epochs: float | None = None
    first_step: int = 0

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> SparseModel:
        """Sparse weights, all 0."""
        return SparseModel(engine, n_classes, n_features, dtype, self.cosine, self.average)

    @property
    def on_few_rows(self) -> Margin:
        """The same with batches of four rows: a full batch would take its time with any data."""
        return replace(self, batch_size=min(self.batch_size, 4))

    def fit(
        self, dataset: Dataset, model: SparseModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Visit batches until the last stop."""
        oracle, X, y = self.oracle(streams.classes), dataset.train.X, dataset.train.y
        draw = self._draws(dataset, streams.order)
        steps = observations = since = 0
        total = 0.0
        yield Progress(0, 0, 0.0)
        for stop in stops:
            while observations < round(stop * len(y)):
                index = draw()
                rows = sparse_rows(X, index, model.dtype)
                total += self._step(model, oracle, rows, y[index], steps, streams.classes)
                steps += 1
                observations += self.batch_size
                since += self.batch_size
            mean = total / since if since else float("nan")
            yield Progress(steps, observations, observations / len(y), mean)
            total, since = 0.0, 0

    def _draws(self, dataset: Dataset, rng: np.random.Generator) -> Callable[[], np.ndarray]:
        """What draws the rows of a batch."""
        N, counts = len(dataset.train), np.bincount(dataset.train.y)
        if not self.balanced:
            return lambda: rng.integers(0, N, self.batch_size)
        by_class = np.argsort(dataset.train.y, kind="stable")
        first, some = np.cumsum(counts) - counts, np.flatnonzero(counts)

        def draw() -> np.ndarray:
            k = some[rng.integers(0, len(some), self.batch_size)]
            return by_class[first[k] + rng.integers(0, counts[k])]

        return draw

    def _step(
        self,
        model: SparseModel,
        oracle: Oracle,
        X: sp.csr_array,
        y: np.ndarray,
        step: int,
        rng: np.random.Generator,
    ) -> float:
        """Move the weights by one batch; gives the sum of its values."""
        eta = self.lr / (1 + self.slowdown * (self.first_step + step))
        share = eta / len(y) if self.mean_step else eta
        if self.current:
            self.penalty.before(model, eta)
            pairs, value, grad = self._one_by_one(model, oracle, X, y, share, rng)
        else:
            pairs, value, grad = self._together(model, oracle, X, y, rng)
            self.penalty.before(model, eta)
        classes, place = np.unique(pairs, return_inverse=True)
        row = np.repeat(np.arange(len(y)), 2)
        numbers = (-share * grad).ravel().astype(model.dtype)
        combined = sp.coo_array((numbers, (place.ravel(), row)), (len(classes), len(y))).tocsr()
        combined.eliminate_zeros()
        threshold = self.penalty.threshold(eta, model.n_classes, len(classes))
        model.move(classes, combined @ X, threshold, self.penalty.limit)
        self.penalty.after(model)
        model.end_step()
        oracle.moved(model, classes)
        return float(value.sum())

    def _together(
        self,
        model: SparseModel,
        oracle: Oracle,
        X: sp.csr_array,
        y: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs (B, 2) of y and its rival, values, gradients: with the weights before the batch.

        A rival whose score is not positive gives way to a class without weights, if there is one.
        A sample for which no rival is found is its own, and moves nothing.
        """
        rivals = oracle.rivals(model, X, y)
        missing, rivals = rivals < 0, np.where(rivals < 0, y, rivals)
        scores = model.at(X, np.column_stack([y, rivals]))
        doubtful = missing | (scores[:, 1] <= 0) | (not oracle.by_score)
        unseen = np.flatnonzero(~model.seen)
        place = rng.integers(0, max(1, len(unseen)), len(y))
        if len(unseen):
            fresh = unseen[place]
            fresh = np.where(fresh == y, unseen[(place + 1) % len(unseen)], fresh)
            better = doubtful & (fresh != y)
            rivals = np.where(better, fresh, rivals)
            scores[better, 1] = 0.0
        value, grad, _ = self.objective(scores, 0.0, np.zeros(len(y)), 0.0, np.zeros(len(y)))
        return np.column_stack([y, rivals]), value, grad

    def _one_by_one(
        self,
        model: SparseModel,
        oracle: Oracle,
        X: sp.csr_array,
        y: np.ndarray,
        share: float,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `_together`, with the weights as the samples before in the batch left them.

        Their part in a score is a sum over inner products of rows, so that W moves once a batch.
        """
        B, K, none = len(y), model.n_classes, np.zeros(1)
        exact, had_weights = isinstance(oracle, Exact), model.seen
        rivals = y if exact else oracle.rivals(model, X, y)
        fresh = _Fresh(rng.permutation(np.flatnonzero(~model.seen)))
        pairs, grads, values = np.column_stack([y, y]), np.zeros((B, 2)), np.zeros(B)
        size = max(1, GRAM // max(B, K))
        for first in range(0, B, size):
            block = slice(first, first + size)
            gram = (X[block] @ X[: block.stop].T).toarray()
            for i, scores in enumerate(_before(model, oracle, X[block], y[block], rivals[block])):
                i += first
                moves = -share * grads[:i] * gram[i - first, :i, None]
                scores += np.bincount(pairs[:i].ravel(), moves.ravel(), K)
                true_score, scores[y[i]] = scores[y[i]], -np.inf
                if not exact and rivals[i] < 0:
                    scores[had_weights] = -np.inf
                answered = not exact and rivals[i] >= 0
                rival = int(rivals[i] if answered else scores.argmax())
                if scores[rival] <= 0:
                    rival = fresh.other(y[i], rival)
                if scores[rival] == -np.inf:
                    rival, scores[y[i]] = y[i], true_score
                pair = np.array([[true_score, scores[rival]]])
                value, grad, _ = self.objective(pair, 0.0, none, 0.0, none)
                pairs[i, 1], values[i], grads[i] = rival, value[0], grad[0]
                if grads[i].any():
                    fresh.moved(pairs[i])
        return pairs, values, grads


class _Fresh:
    """Classes without weights, in random order."""

    def __init__(self, classes: np.ndarray) -> None:
        self.left = dict.fromkeys(classes.tolist())

    def other(self, y: int, rival: int) -> int:
        """One of them other than y; where there is none, the rival."""
        return next((k for k in itertools.islice(self.left, 2) if k != y), rival)

    def moved(self, classes: np.ndarray) -> None:
        """Note that classes got weights."""
        for k in classes.tolist():
            self.left.pop(k, None)


def _before(
    model: SparseModel, oracle: Oracle, X: sp.csr_array, y: np.ndarray, rivals: np.ndarray
) -> np.ndarray:
    """Scores (B, K) before a batch: of every class, or of y and its rival and else 0."""
    if isinstance(oracle, Exact):
        return model.scale * oracle.index(model).scores(X).astype(np.float64)
    scores = np.zeros((len(y), model.n_classes))
    pairs = np.column_stack([y, np.where(rivals < 0, y, rivals)])
    np.put_along_axis(scores, pairs, model.at(X, pairs), axis=1)
    return scores
