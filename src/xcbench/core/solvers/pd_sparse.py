"""PD-Sparse (Yen et al. 2016): max-margin with an l1 penalty, sparse in the primal and the dual.

    min_W  1/2 ||W||² + lambda ||W||_1 + C sum_i max(0, 1 + max_{n not in y_i} w_n·x_i
                                                          - min_{p in y_i} w_p·x_i)

With v = X^T alpha its dual is

    max_alpha  - 1/2 ||soft(v, lambda)||² - sum_i sum_{n not in y_i} alpha_in

where alpha_ip >= 0 >= alpha_in, sum_k alpha_ik = 0 and sum_p alpha_ip <= C.

A block is the alpha of a row. The classes of highest scores join those in use (Frank-Wolfe). All of
these are corrected at once, by a projection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Split
from xcbench.core.models.sparse import ClassRows, SparseModel, sparse_rows
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.pd_sparse_rows import functions


@dataclass
class PDSparse(Solver):
    """Visit rows in a fresh order a pass until the duality gap is small; iterations are visits.

    Attributes
    ----------
    strength, C : lambda and the weight of the losses.
    passes : over the rows, at most.
    tolerance : of the duality gap over the primal objective, at which it ends. It is looked at
        after every pass.
    search_share : of a row's features that the search for classes samples, each as likely as it is
        large (the paper's importance sampling). With 1 it takes all, and nothing is drawn.
    """

    strength: float
    C: float
    passes: int
    tolerance: float
    search_share: float = 1.0

    @property
    def epochs(self) -> float:
        """Passes over the rows, as the settings say."""
        return float(self.passes)

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> DualModel:
        """Sparse weights, predicted with by the inner product."""
        return DualModel(engine, n_classes, n_features, dtype)

    def fit(
        self, dataset: Dataset, model: DualModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Maximise the dual, a row after the other."""
        yield Progress(0, 0, 0.0)
        problem = Problem(dataset.train.original_rows(), model.n_classes, self.strength, self.C)
        problem.search_share = self.search_share
        visited, N = 0, problem.N
        order, (primal, gap) = np.arange(N), problem.gap(model.engine)
        for stop in stops:
            target, before, total = round(stop * N), visited, 0.0
            while visited < target and gap > self.tolerance:
                if visited % N == 0:
                    order = streams.order.permutation(N)
                    problem.compact()
                count = min(target - visited, N - visited % N)
                rows = order[visited % N :][:count]
                problem.visit(rows, model.engine, streams.classes)
                visited += count
                total += count * primal  # as it was looked at last: the same wherever a pass stops
                if visited % N == 0:
                    primal, gap = problem.gap(model.engine)
            model.source = problem
            share = visited / N
            seen = round(share * len(dataset.train))
            mean = total / max(visited - before, 1) / N
            yield Progress(visited, seen, share, mean, extra={"duality_gap": gap})


class DualModel(SparseModel):
    """Weights that are made of the dual variables when they are looked at, and kept until then.

    Attributes
    ----------
    source : what they are to be made of, once the dual has moved.
    """

    source: Problem | None = None

    @property
    def V(self) -> ClassRows:
        """The rows of all classes."""
        if self.source is not None:
            source, self.source = self.source, None
            self.replace(source.W)
        return self.rows

    @V.setter
    def V(self, rows: ClassRows) -> None:
        self.rows = rows

    def square_norm(self) -> float:
        """||W||²."""
        self.V  # noqa: B018
        return super().square_norm()


class Problem:
    """Rows, their labels, dual variables, and v = X^T alpha feature by feature.

    A feature f has a chain of numbers: ``value[s]`` of ``class_of[s]`` for s = ``head[f]``,
    ``after[s]``, … until -1. ``table`` finds the s of a feature and a class. A row has the classes
    ``chosen[i, :used[i]]`` in use, its labels first, with ``alpha[i, :used[i]]``.
    """

    def __init__(self, split: Split, n_classes: int, strength: float, C: float) -> None:
        self.X = sparse_rows(split.X, slice(None), np.dtype(np.float64))
        self.Y = split.labels(n_classes)
        self.strength, self.C, self.K = strength, C, n_classes
        self.N, self.D = self.X.shape
        labels = np.diff(self.Y.indptr)
        self.select = max(1, round(float(labels.mean())))  # classes that join in a visit
        self.used = labels.astype(np.int64)
        self.chosen = np.zeros((self.N, int(labels.max()) + 2 * self.select), np.int64)
        self.alpha: np.ndarray = np.zeros(self.chosen.shape)
        self.chosen[np.arange(self.chosen.shape[1]) < labels[:, None]] = self.Y.indices
        self.head = np.full(self.D, -1)
        self.after, self.class_of, self.feature_of = np.empty((3, 0), np.int64)
        self.value = np.empty(0)
        self.table = np.empty(0, np.int64)
        self.filled = 0
        self.search_share = 1.0

    def visit(self, rows: np.ndarray, engine: str, rng: np.random.Generator) -> None:
        """Correct the blocks of some rows, one after the other; room is made where it ran out."""
        visit_rows, fill_table, _ = functions(engine)
        done, work = 0, (np.zeros(self.K), np.full(self.K, -1))
        lengths = np.diff(self.X.indptr)
        draws = np.zeros(len(rows), np.int64)
        if self.search_share < 1:
            draws = np.maximum(1, np.round(self.search_share * lengths[rows]).astype(np.int64))
        visits = (rows, rng.random(draws.sum()), np.concatenate([[0], np.cumsum(draws)]))
        while done < len(rows):
            self._make_room(int(lengths.max(initial=0)) * self.chosen.shape[1])
            chain = (self.head, self.after, self.class_of, self.feature_of, self.value)
            if not len(self.table):
                self.table = np.full(1 << int(2 * len(self.value)).bit_length(), -1)
                fill_table(self.filled, self.class_of, self.feature_of, self.table)
            duals = (self.chosen, self.alpha, self.used)
            x = (self.X.indptr, self.X.indices, self.X.data, np.diff(self.Y.indptr))
            done, self.filled = visit_rows(
                (done, self.filled),
                visits,
                x,
                duals,
                (chain, self.table),
                (self.select, self.strength, self.C),
                work,
            )
            if done < len(rows) and self.used[rows[done]] + self.select > self.chosen.shape[1]:
                wider = np.zeros_like(self.chosen)
                self.chosen = np.concatenate([self.chosen, wider], axis=1)
                self.alpha = np.concatenate([self.alpha, np.zeros(wider.shape)], axis=1)

    def _make_room(self, least: int) -> None:
        """Room for so many numbers more, in arrays that double."""
        size = len(self.value)
        if self.filled + least > size:
            more = max(size, least)
            self.after, self.class_of, self.feature_of, self.value = (
                np.concatenate([array, np.empty(more, array.dtype)])
                for array in (self.after, self.class_of, self.feature_of, self.value)
            )
            self.table = self.table[:0]

    def compact(self) -> None:
        """Lay chains out in order, without zeros."""
        v = self.v
        self.filled, some = v.nnz, np.diff(v.indptr) > 0
        self.head = np.where(some, v.indptr[:-1], -1).astype(np.int64)
        self.after = np.arange(1, v.nnz + 1)
        self.after[v.indptr[1:][some] - 1] = -1
        self.class_of, self.value = v.indices.astype(np.int64), v.data.copy()
        self.feature_of = np.repeat(np.arange(self.D), np.diff(v.indptr))
        self.table = self.table[:0]

    @property
    def v(self) -> sp.csr_array:
        """X^T alpha (D, K)."""
        used = np.arange(self.alpha.shape[1]) < self.used[:, None]
        row = np.repeat(np.arange(self.N), self.used)
        alpha = sp.csr_array((self.alpha[used], (row, self.chosen[used])), (self.N, self.K))
        v = sp.csr_array(self.X.T @ alpha)
        v.eliminate_zeros()
        v.sort_indices()
        return v

    @property
    def W(self) -> sp.csr_array:
        """Weights (K, D), soft(v, lambda)."""
        W = sp.csr_array(self.v.T)
        W.data = np.copysign(np.maximum(np.abs(W.data) - self.strength, 0.0), W.data)
        W.eliminate_zeros()
        W.sort_indices()
        return W

    def gap(self, engine: str) -> tuple[float, float]:
        """Primal objective, and the duality gap as a share of it."""
        primal, dual = self.objectives(engine)
        return primal, (primal - dual) / max(primal, 1e-300)

    def objectives(self, engine: str) -> tuple[float, float]:
        """Primal objective of these weights, and dual objective: a bound of the optimum below."""
        W = self.W
        square = float(np.sum(W.data**2)) / 2
        by_feature = sp.csr_array(W.T)
        x = (self.X.indptr, self.X.indices, self.X.data)
        w = (by_feature.indptr, by_feature.indices, by_feature.data)
        y = (self.Y.indptr, self.Y.indices)
        loss = functions(engine)[2](x, w, y, np.zeros(self.K))
        labels = np.diff(self.Y.indptr)[:, None]
        others = (np.arange(self.alpha.shape[1]) >= labels) & (
            np.arange(self.alpha.shape[1]) < self.used[:, None]
        )
        primal = square + self.strength * float(np.abs(W.data).sum()) + self.C * loss
        return primal, -square - float(self.alpha[others].sum())
