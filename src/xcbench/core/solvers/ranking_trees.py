"""Trees whose nodes part the rows so that either part ranks its labels well.

FastXML (Prabhu and Varma 2014) alternates between the best order of the labels in either part and
the best part for every row. An l1-regularised logistic regression then finds the parts again from
features. PfastXML (Jain et al. 2016) weights labels by their inverse propensity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import local

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset
from xcbench.core.models.forest import Forest, ReRankedForest, Tree, of_unit_length
from xcbench.core.models.sparse import sparse_rows
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.ranking_trees_node import CsrArrays, functions, node_rows
from xcbench.core.statistics import inverse_propensity

Plane = tuple[np.ndarray, np.ndarray, float]  # features, their weights, bias
L1_LOGISTIC = 6  # LIBLINEAR's number


class Seeds(local):
    """A generator for each thread, seeded anew for every node, as to make one takes longer."""

    def __init__(self) -> None:
        self.generator = np.random.RandomState(0)


SEEDS = Seeds()


@dataclass
class RankingTrees(Solver):
    """Grow trees one after the other, all on all rows; iterations are trees, an epoch all of them.

    Attributes
    ----------
    trees, leaf : how many there are; rows in a leaf at most, where they can be parted.
    labels : of a leaf that are kept, those of the highest numbers.
    C : weight of the logistic losses against ||w||_1; each part of a node weighs the same.
    bias : whether hyperplanes have a bias, which is penalised as a weight is.
    """

    trees: int
    leaf: int
    labels: int
    C: float
    bias: bool
    min_epochs = 0.0

    @property
    def epochs(self) -> float:
        """All trees."""
        return 1.0

    @property
    def on_few_rows(self) -> RankingTrees:
        """The same with leaves of one row."""
        return replace(self, leaf=1)

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> Forest:
        """A forest without trees."""
        return Forest(engine, (n_classes, n_features), dtype)

    def fit(
        self, dataset: Dataset, model: Forest, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Grow the trees."""
        yield Progress(0, 0, 0.0)
        split = dataset.train.original_rows()
        X = CsrArrays.of(sparse_rows(split.X, slice(None), np.dtype(np.float64)))
        labels, gains = self.weighted(split.labels(model.n_classes))
        ranked = CsrArrays.of(gains)
        for stop in stops:
            while len(model.trees) < round(stop * self.trees):
                model.trees.append(self.grow(X, labels, ranked, model, streams.classes))
            share = len(model.trees) / self.trees
            left = f"{len(model.trees)} of {self.trees} trees" if share < 1 else None
            seen = round(share * len(dataset.train))
            yield Progress(len(model.trees), seen, share, 0.0, message=left)

    def weighted(self, Y: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
        """What leaves average (N, K), and what an order of the labels gains by each: nDCG's."""
        highest = np.cumsum(discounts(Y.shape[1]))
        count = np.diff(Y.indptr)
        return Y, sp.csr_array(sp.diags_array(1 / highest[np.maximum(count, 1) - 1]) @ Y)

    def grow(
        self,
        X: CsrArrays,
        labels: sp.csr_array,
        gains: CsrArrays,
        model: Forest,
        rng: np.random.Generator,
    ) -> Tree:
        """A tree on all rows."""
        planes: list[Plane] = []
        children: list[list[int]] = []
        leaves: list[np.ndarray] = []
        waiting = [(np.arange(X.shape[0]), -1, 0)]
        while waiting:
            rows, parent, side = waiting.pop()
            parted = self.part(rows, X, gains, model, rng) if len(rows) > self.leaf else None
            if parted is None:
                place = -1 - len(leaves)
                leaves.append(rows)
            else:
                plane, right = parted
                place = len(planes)
                planes.append(plane)
                children.append([-1, -1])
                waiting += [(rows[~right], place, 0), (rows[right], place, 1)]
            if parent >= 0:
                children[parent][side] = place
        return Tree(
            stacked(planes, X.shape[1], model.dtype),
            np.array([b for _, _, b in planes], model.dtype),
            np.array(children, np.int64).reshape(-1, 2),
            largest(means(leaves, labels), self.labels).astype(model.dtype),
        )

    def part(
        self,
        rows: np.ndarray,
        X: CsrArrays,
        gains: CsrArrays,
        model: Forest,
        rng: np.random.Generator,
    ) -> tuple[Plane, np.ndarray] | None:
        """Part the rows of a node; None where they stay together."""
        right = rng.random(len(rows)) < 0.5
        right, _ = part_by_ranking(node_rows(gains, rows, model.engine)[1], right, model.engine)
        if right.all() or not right.any():
            return None
        features, x = node_rows(X, rows, model.engine)
        kept, weights, bias = sparse_logistic(x, right, self.C, self.bias, rng)
        w, b = weights.astype(model.dtype), float(model.dtype.type(bias))
        plane = np.zeros(len(features))
        plane[kept] = w
        right = functions(model.engine)[2](x.indptr, x.indices, x.data, plane) + b >= 0
        if right.all() or not right.any():
            return None
        return (features[kept], w, b), right


@dataclass
class PropensityTrees(RankingTrees):
    """PfastreXML: labels weigh their inverse propensity, and mean rows of labels rank again.

    Gains are not divided by the highest possible one, as in the published code.

    Attributes
    ----------
    alpha, gamma : of the second ranking (`ReRankedForest`).
    a, b : of the propensities.
    """

    alpha: float
    gamma: float
    a: float
    b: float

    def make_model(
        self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str
    ) -> ReRankedForest:
        """A forest without trees."""
        shape = n_classes, n_features
        return ReRankedForest(engine, shape, dtype, self.alpha, self.gamma)

    def fit(
        self, dataset: Dataset, model: Forest, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Take the mean row of every label, then grow the trees."""
        assert isinstance(model, ReRankedForest)
        split = dataset.train.original_rows()
        members = split.labels(model.n_classes).T.tocsr()
        rows = np.split(members.indices, members.indptr[1:-1])
        X = sparse_rows(split.X, slice(None), np.dtype(np.float64))
        model.means = means(rows, of_unit_length(X))
        yield from super().fit(dataset, model, streams, stops)

    def weighted(self, Y: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
        """Inverse propensities, for leaves and gains alike."""
        weights = inverse_propensity(Y.sum(axis=0), Y.shape[0], self.a, self.b)
        Y = sp.csr_array(Y @ sp.diags_array(weights))
        return Y, Y


def discounts(n: int) -> np.ndarray:
    """1 / log2(1 + r) of ranks r = 1..n."""
    return 1 / np.log2(np.arange(n) + 2)


def part_by_ranking(
    gains: CsrArrays | sp.csr_array,
    right: np.ndarray,
    engine: str = "numpy",
    tolerance: float = 1e-6,
) -> tuple[np.ndarray, list[float]]:
    """Alternate: order the labels of either part by their summed gains, and move rows.

    Parameters
    ----------
    gains : (n, K) of the labels of every row.
    right : (n,) whether a row is in the right part, to begin with.
    tolerance : at which gain of a round it ends.

    Returns
    -------
    right : (n,) at the end.
    values : mean discounted gain of rows under the order of their part, a round; it never falls.
    """
    arrays = gains.indptr, gains.indices, gains.data
    parted: tuple[np.ndarray, list[float]]
    parted = functions(engine)[1](*arrays, discounts(gains.shape[1]), right, tolerance)
    return parted


def sparse_logistic(
    X: CsrArrays | sp.csr_array, right: np.ndarray, C: float, bias: bool, rng: np.random.Generator
) -> Plane:
    """Minimise ||w||_1 + C sum_i (n / n_side) log(1 + exp(-s_i (x_i·w + b))), by LIBLINEAR.

    Stops as FastXML's code does: after ten Newton steps, or at 1 % of the first violation.
    LIBLINEAR multiplies its tolerance by the share of the smaller side.
    """
    from sklearn.svm import _liblinear  # LogisticRegression's checks take longer than this

    if not X.nnz:
        return np.empty(0, np.int64), np.empty(0), 0.0
    sides = np.bincount(right, minlength=2)
    SEEDS.generator.seed(rng.integers(2**31))
    _liblinear.set_verbosity_wrap(0)
    fit, _ = _liblinear.train_wrap(
        X,
        right.astype(np.float64),
        True,  # sparse
        L1_LOGISTIC,
        0.01 * len(right) / min(sides),
        1.0 if bias else -1.0,
        C,
        len(right) / sides,
        10,
        SEEDS.generator.randint(2**31 - 1),
        0.1,  # epsilon of regression: not used
        np.ones(len(right)),
    )
    w = fit[0, : X.shape[1]]
    kept = np.flatnonzero(w)
    return kept, w[kept], float(fit[0, -1]) if bias else 0.0


def stacked(planes: list[Plane], n_features: int, dtype: np.dtype) -> sp.csr_array:
    """Hyperplanes (nodes, D)."""
    start = np.cumsum([0, *(len(features) for features, _, _ in planes)])
    features = np.concatenate([np.empty(0, np.int32), *(features for features, _, _ in planes)])
    w = np.concatenate([np.empty(0, dtype), *(w for _, w, _ in planes)])
    return sp.csr_array((w, features.astype(np.int32), start), (len(planes), n_features))


def means(groups: list[np.ndarray], Y: sp.csr_array) -> sp.csr_array:
    """Mean row of Y of every group of rows."""
    sizes = np.array([len(rows) for rows in groups])
    start = np.concatenate([[0], np.cumsum(sizes)])
    member = (np.repeat(1 / np.maximum(sizes, 1), sizes), np.concatenate(groups), start)
    return sp.csr_array(sp.csr_array(member, (len(groups), Y.shape[0])) @ Y)


def largest(rows: sp.csr_array, most: int) -> sp.csr_array:
    """Each row with its largest values alone, ``most`` of them."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -rows.data, row))
    rank = np.arange(len(order)) - rows.indptr[row[order]]
    kept = order[rank < most]
    return sp.csr_array((rows.data[kept], (row[kept], rows.indices[kept])), rows.shape)
