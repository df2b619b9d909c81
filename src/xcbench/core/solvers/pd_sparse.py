"""PD-Sparse (Yen et al. 2016): max-margin with an l1 penalty, sparse in the primal and the dual.

    min_W  1/2 ||W||² + lambda ||W||_1 + C sum_i max(0, 1 + max_{n not in y_i} w_n·x_i
                                                          - min_{p in y_i} w_p·x_i)

With v = X^T alpha its dual is  max_alpha  - 1/2 ||soft(v, lambda)||² - sum_i sum_{n not in y_i}
alpha_in,  where alpha_ip >= 0 >= alpha_in, sum_k alpha_ik = 0 and sum_p alpha_ip <= C. A block is
the alpha of a row: the classes of highest scores join those in use (Frank-Wolfe), and all of these
are corrected at once by a projection.

The loops are plain Python; the Numba engine compiles the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Split
from xcbench.core.models.sparse import ClassRows, SparseModel, sparse_rows
from xcbench.core.solvers import Progress, Solver, Streams


@dataclass
class PDSparse(Solver):
    """Visit rows in a fresh order a pass until the duality gap is small; iterations are visits.

    Attributes
    ----------
    strength, C : lambda and the weight of the losses.
    passes : over the rows, at most.
    tolerance : of the duality gap over the primal objective, at which it ends; looked at after
        every pass.
    """

    strength: float
    C: float
    passes: int
    tolerance: float

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
        problem = Problem(dataset.train.whole_rows(), model.n_classes, self.strength, self.C)
        visited, N = 0, problem.N
        order, (primal, gap) = np.arange(N), problem.gap(model.engine)
        for stop in stops:
            target = round(stop * N)
            while visited < target and gap > self.tolerance:
                if visited % N == 0:
                    order = streams.order.permutation(N)
                    problem.compact()
                count = min(target - visited, N - visited % N)
                problem.visit(order[visited % N :][:count], model.engine)
                visited += count
                if visited % N == 0:
                    primal, gap = problem.gap(model.engine)
            model.source = problem
            share = visited / N
            seen = round(share * len(dataset.train))
            yield Progress(visited, seen, share, primal / N, extra={"duality_gap": gap})


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
    ``after[s]``, … until -1. A row has the classes ``chosen[i, :used[i]]`` in use, its labels
    first, with ``alpha[i, :used[i]]``.
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
        self.after, self.class_of = np.empty(0, np.int64), np.empty(0, np.int64)
        self.value = np.empty(0)
        self.filled = 0

    def visit(self, rows: np.ndarray, engine: str) -> None:
        """Correct the blocks of some rows, one after the other; room is made where it ran out."""
        done, work = 0, (np.zeros(self.K), np.full(self.K, -1))
        longest = int(np.diff(self.X.indptr).max(initial=0))
        while done < len(rows):
            self._make_room(longest * self.chosen.shape[1])
            chain = (self.head, self.after, self.class_of, self.value)
            duals = (self.chosen, self.alpha, self.used)
            x = (self.X.indptr, self.X.indices, self.X.data)
            size = (self.filled, self.select)
            done, self.filled = functions(engine)[0](
                rows, done, x, np.diff(self.Y.indptr), duals, chain, size,
                self.strength, self.C, *work,
            )  # fmt: skip
            if done < len(rows) and self.used[rows[done]] + self.select > self.chosen.shape[1]:
                wider = np.zeros_like(self.chosen)
                self.chosen = np.concatenate([self.chosen, wider], axis=1)
                self.alpha = np.concatenate([self.alpha, np.zeros(wider.shape)], axis=1)

    def _make_room(self, least: int) -> None:
        """Room for so many numbers more, in arrays that double."""
        size = len(self.value)
        if self.filled + least > size:
            more = max(size, least)
            self.after, self.class_of, self.value = (
                np.concatenate([array, np.empty(more, array.dtype)])
                for array in (self.after, self.class_of, self.value)
            )

    def compact(self) -> None:
        """Lay chains out in order, without zeros."""
        v = self.v
        self.filled, some = v.nnz, np.diff(v.indptr) > 0
        self.head = np.where(some, v.indptr[:-1], -1).astype(np.int64)
        self.after = np.arange(1, v.nnz + 1)
        self.after[v.indptr[1:][some] - 1] = -1
        self.class_of, self.value = v.indices.astype(np.int64), v.data.copy()

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
        loss = functions(engine)[1](x, w, y, np.zeros(self.K))
        labels = np.diff(self.Y.indptr)[:, None]
        others = (np.arange(self.alpha.shape[1]) >= labels) & (
            np.arange(self.alpha.shape[1]) < self.used[:, None]
        )
        primal = square + self.strength * float(np.abs(W.data).sum()) + self.C * loss
        return primal, -square - float(self.alpha[others].sum())


@cache
def functions(engine: str) -> tuple[Callable[..., Any], Callable[..., float]]:
    """`visit_rows` and `total_loss`, compiled for ``numba``."""
    if engine != "numba":
        return visit_rows, total_loss
    from xcbench.core.kernels.compiling import inlined, kernel

    for part in (shift, cut, correct):
        inlined(part)
    return kernel(visit_rows), kernel(total_loss)


def visit_rows(
    rows: Any,
    first: int,
    x: Any,
    labels: Any,
    duals: Any,
    chain: Any,
    size: Any,
    strength: float,
    C: float,
    scores: Any,
    place: Any,
) -> tuple[int, int]:
    """Correct the blocks of rows from ``first`` on.

    Parameters
    ----------
    labels : (N,) how many of the first classes in use are labels.
    size : numbers in chains, and classes that join.
    scores, place : room for K numbers; ``place`` is -1 for all classes, in the end too.

    Returns
    -------
    done : the row that lacked room, or how many there are.
    filled : numbers in chains now.
    """
    start, features, values = x
    chosen, alpha, used = duals
    head, after, class_of, value = chain
    filled, select = size
    width = chosen.shape[1]
    seen = np.zeros(width, np.int64)
    stamp = 0
    for r in range(first, len(rows)):
        i = rows[r]
        n, a, b = used[i], start[i], start[i + 1]
        if n + select > width or filled + (n + select) * (b - a) > len(value):
            return r, filled
        scores[:] = 0.0
        curvature = 0.0
        for j in range(a, b):
            curvature += values[j] * values[j]
            s = head[features[j]]
            while s >= 0:
                excess = abs(value[s]) - strength
                if excess > 0:
                    scores[class_of[s]] += values[j] * (excess if value[s] > 0 else -excess)
                s = after[s]
        if curvature == 0.0 or labels[i] == 0:
            continue
        for p in range(n):
            place[chosen[i, p]] = p
        for _ in range(select):  # the highest scores among classes that are not in use
            best, highest = -1, -np.inf
            for k in range(len(scores)):
                if scores[k] > highest and place[k] < 0:
                    best, highest = k, scores[k]
            if best < 0:
                break
            place[best] = n
            chosen[i, n], alpha[i, n] = best, 0.0
            n += 1
        change = correct(chosen[i, :n], alpha[i, :n], labels[i], scores, curvature, C)
        for j in range(a, b):  # v += x change
            stamp += 1
            s = head[features[j]]
            while s >= 0:
                p = place[class_of[s]]
                if p >= 0:
                    value[s] += values[j] * change[p]
                    seen[p] = stamp
                s = after[s]
            for p in range(n):
                if seen[p] != stamp and change[p] != 0.0:
                    class_of[filled], value[filled] = chosen[i, p], values[j] * change[p]
                    after[filled] = head[features[j]]
                    head[features[j]] = filled
                    filled += 1
        kept = labels[i]
        for p in range(n):
            place[chosen[i, p]] = -1
            alpha[i, p] += change[p]
            if p >= labels[i] and alpha[i, p] != 0.0:
                chosen[i, kept], alpha[i, kept] = chosen[i, p], alpha[i, p]
                kept += 1
        used[i] = kept
    return len(rows), filled


def correct(classes: Any, alpha: Any, labels: int, scores: Any, curvature: float, C: float) -> Any:
    """Change of the alpha of a row that is best under the curvature |x|²: a projection.

    Minimises sum_k (scores_k + 1[k no label]) d_k + |x|²/2 d_k² over alpha + d that are feasible.
    """
    target = np.empty(len(classes))
    for p in range(len(classes)):
        k = classes[p]
        if p < labels:
            target[p] = alpha[p] - scores[k] / curvature
        else:  # with the other sign, so that all are to be at least 0
            target[p] = (scores[k] + 1.0) / curvature - alpha[p]
    up, down = target[:labels], target[labels:]
    t = shift(up, down)
    mass = 0.0
    for p in range(labels):
        mass += max(0.0, up[p] - t)
    above, below = t, -t
    if mass > C:
        above, below = cut(up, C), cut(down, C)
    change = np.empty(len(classes))
    for p in range(len(classes)):
        if p < labels:
            change[p] = max(0.0, target[p] - above) - alpha[p]
        else:
            change[p] = -max(0.0, target[p] - below) - alpha[p]
    return change


def shift(up: Any, down: Any) -> float:
    """Find t where sum (up - t)_+ = sum (down + t)_+, one between the breakpoints if all are 0."""
    low, high = np.inf, -np.inf
    for u in up:
        low, high = min(low, u), max(high, u)
    for u in down:
        low, high = min(low, -u), max(high, -u)
    t = 0.5 * (low + high)
    for _ in range(200):
        rest, slope = 0.0, 0.0
        for u in up:
            if u > t:
                rest += u - t
                slope += 1.0
        for u in down:
            if u > -t:
                rest -= u + t
                slope += 1.0
        if rest > 0:
            low = t
        elif rest < 0:
            high = t
        if slope == 0.0 or rest == 0.0:
            break
        step = t + rest / slope  # exact where no breakpoint lies between
        if step == t:
            break
        t = step if low < step < high else 0.5 * (low + high)
    return t


def cut(target: Any, C: float) -> float:
    """Find t where sum (target - t)_+ = C, from below: terms that fall out stay out."""
    t, terms = -np.inf, 0
    while True:
        total, inside = 0.0, 0
        for u in target:
            if u > t:
                total += u
                inside += 1
        if inside == terms:
            return t
        t, terms = (total - C) / inside, inside


def total_loss(x: Any, w: Any, y: Any, scores: Any) -> float:
    """Sum over rows of max(0, 1 + the highest other score - the lowest of a label)."""
    start, features, values = x
    first, classes, weights = w
    own_start, own = y
    total = 0.0
    for i in range(len(start) - 1):
        scores[:] = 0.0
        for j in range(start[i], start[i + 1]):
            for p in range(first[features[j]], first[features[j] + 1]):
                scores[classes[p]] += values[j] * weights[p]
        lowest = np.inf
        for p in range(own_start[i], own_start[i + 1]):
            lowest = min(lowest, scores[own[p]])
            scores[own[p]] = -np.inf
        highest = -np.inf
        for k in range(len(scores)):
            highest = max(highest, scores[k])
        total += max(0.0, 1.0 + highest - lowest)
    return total
