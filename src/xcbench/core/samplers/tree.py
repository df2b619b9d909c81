"""The adversarial tree: a balanced binary tree of logistic regressions over the classes.

Bamler and Mandt 2020, Section 3. Nodes are numbered as in a heap: 1 is the root, 2v and 2v+1 the
left and the right child of v. Class y is at ``leaf[y]``; leaves without a class are padding, which
no path reaches. At a node, sigma(z·w + b) is the probability of going right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xcbench.core.objectives import sigmoid, softplus
from xcbench.core.samplers.segments import Segments

NODES = 8192  # fitted at a time
CERTAIN = 1000.0  # b of a node with classes on its right side only: the left has probability 0
CONVERGED = 1e-10  # nats that the quadratic approximation of a node's objective still promises
ROUNDING, FALL = 1e-12, 1e-9  # of an objective, relative: no loss, and a fall worth telling
TINY = np.finfo(float).tiny
GAIN = 1e-9  # a discrete step must gain this share of sum |Delta_y|, or rounding could cycle


@dataclass(frozen=True)
class Tree:
    """A fitted tree over K classes and k coordinates.

    Attributes
    ----------
    weights : (2^depth, k + 1) w and b of every node; row 0 is not used.
    leaf : (K,) leaf of every class.
    fell : number of nodes whose objective fell from one round to the next.
    """

    weights: np.ndarray
    leaf: np.ndarray
    fell: int = 0

    @property
    def depth(self) -> int:
        """Decisions from the root to a leaf."""
        return len(self.weights).bit_length() - 1

    @cached_property
    def class_at(self) -> np.ndarray:
        """Class (2^depth,) of every leaf, counted from the first one; -1 for padding."""
        classes = np.full(len(self.weights), -1)
        classes[self.leaf - len(self.weights)] = np.arange(len(self.leaf))
        return classes

    def right(self, z: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Score z·w + b (B, C) of going right at nodes (B, C), for rows z (B, k)."""
        weights = self.weights[node]
        return np.asarray(np.einsum("bk,bck->bc", z, weights[..., :-1]) + weights[..., -1])

    def paths(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Scores zeta (z·w + b) (depth, B) of the decisions that lead to a class each (B,)."""
        scores = np.empty((self.depth, len(y)))
        for level in range(self.depth):
            child = self.leaf[y] >> (self.depth - level - 1)
            score = self.right(z, child[:, None] >> 1)[:, 0]
            scores[level] = np.where(child & 1, score, -score)
        return scores

    def log_p(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log p(y|x) (B,) of a class each (B,): sum over the path of log sigma (Eq. 7)."""
        return -np.sum(softplus(-self.paths(z, y)), axis=0)

    def log_all(self, z: np.ndarray) -> np.ndarray:
        """Log p(y|x) (B, K) of every class, in float32; level after level.

        Products are float64: in float32 their last digits depend on a row's place among the others.
        """
        weights = self.weights
        log_p = np.zeros((len(z), 1), np.float32)  # of the root
        for level in range(self.depth):
            nodes = weights[1 << level : 2 << level]
            score = (z @ nodes[:, :-1].T + nodes[:, -1]).astype(np.float32)
            less = softplus(score)  # log sigma(score) = score - softplus(score)
            log_p = np.stack([log_p - less, log_p + (score - less)], axis=2).reshape(len(z), -1)
        return log_p[:, self.leaf - len(weights)]

    def draw(
        self,
        rng: np.random.Generator,
        z: np.ndarray,
        negatives: int,
        other_than: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Classes (B, m) by ancestral sampling, with replacement, and the log-probability of each.

        Parameters
        ----------
        other_than : (B,) a class of each row to exclude; the others keep their ratios.
        """
        node, log_p = np.ones((len(z), negatives), np.int64), np.zeros((len(z), negatives))
        off, rest = (None, 1.0) if other_than is None else self._off(z, other_than)
        for level in range(self.depth):
            score = self.right(z, node)
            chance = sigmoid(score)
            if off is not None and other_than is not None:
                path = self.leaf[other_than, None] >> (self.depth - level)
                chance = np.where(node == path, off[level][:, None], chance)
            right = rng.random(node.shape) < chance
            log_p -= softplus(np.where(right, -score, score))
            node = 2 * node + right
        return self.class_at[node - len(self.weights)], log_p - np.log(rest)

    def _off(self, z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Chances (depth, B) to go right on the path of y, given that y is not its end; 1 - p(y).

        With pi the chance of the path's next step and s = 1 - p(y | node), which is the sum
        (1 - pi) + pi s' without cancellation, the path is left with chance (1 - pi) / s.
        """
        scores, s = self.paths(z, y), np.zeros(len(y))
        chances = np.empty_like(scores)
        for level in reversed(range(self.depth)):
            leave = sigmoid(-scores[level])
            s = np.maximum(leave + sigmoid(scores[level]) * s, TINY)
            goes_right = (self.leaf[y] >> (self.depth - level - 1)) & 1
            chances[level] = np.where(goes_right, 1 - leave / s, leave / s)
        return chances, s[:, None]


@dataclass(frozen=True)
class Fit:
    """How nodes are fitted.

    Attributes
    ----------
    l2 : lambda_n of lambda_n (||w||² + b²), taken off every node's objective.
    stale : the discrete step of the published code, by the initial eigenvector; else the one of
        the text (Eq. 9), by the current weights.
    by_scores : make the first split by Eq. 9 too, from the eigenvector and b = 0, as in the text.
        Else as in the published code: halves by the class sums minus their mean.
    newton_steps : before each discrete step of the text; 0: as many as the optimum takes.
    """

    l2: float
    stale: bool = False
    by_scores: bool = False
    newton_steps: int = 1


def fit(z: np.ndarray, y: np.ndarray, n_classes: int, how: Fit) -> Tree:
    """Fit a tree, level after level, all nodes of a level at once.

    Parameters
    ----------
    z, y : rows (N, k) and their classes (N,).
    n_classes : K, at least 2; classes without rows have their leaves too.
    """
    depth = max(1, (n_classes - 1).bit_length())
    weights, node = np.zeros((1 << depth, z.shape[1] + 1)), np.ones(n_classes, np.int64)
    fell = 0
    sums = np.stack([np.bincount(y, column, n_classes) for column in z.T], axis=1)
    counts = np.bincount(y, minlength=n_classes)
    for level in range(depth):
        half = 1 << (depth - level - 1)  # leaves of a child
        right, local = np.empty(n_classes, bool), np.empty(n_classes, np.int64)
        for classes, rows in _groups(node, y):
            local[classes] = np.arange(len(classes))
            totals = np.column_stack([sums[classes], counts[classes]])
            split = Split(z[rows], local[y[rows]], node[classes], totals, half, how)
            right[classes], weights[split.nodes], more = split.run()
            fell += more
        node = 2 * node + right
    return Tree(weights, node, fell)


def _groups(node: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Classes and rows of so many nodes at a time, which bounds the memory."""
    by_class, by_row = np.argsort(node, kind="stable"), np.argsort(node[y], kind="stable")
    first = np.unique(node)[::NODES]
    classes = np.split(by_class, np.searchsorted(node[by_class], first[1:]))
    rows = np.split(by_row, np.searchsorted(node[y[by_row]], first[1:]))
    return zip(classes, rows, strict=True)


class Split:
    """Nodes of one level: a weight vector each, and a side for each of their classes.

    Attributes
    ----------
    nodes : (V,) heap numbers of the nodes.
    totals : (K, k+1) sum of (z, 1) over the rows of each class.
    """

    def __init__(
        self,
        z: np.ndarray,
        y: np.ndarray,
        node: np.ndarray,
        totals: np.ndarray,
        half: int,
        how: Fit,
    ) -> None:
        self.z, self.y, self.totals = z, y, totals
        self.half, self.how = half, how
        self.nodes, self.of_class, self.size = np.unique(
            node, return_inverse=True, return_counts=True
        )

    def run(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Sides (K,) of the classes, weights (V, k+1), number of nodes whose objective fell."""
        axis = self.axes()
        along = self.centred(axis)
        has_rows = np.bincount(self.of_class, self.totals[:, -1]) > 0
        weights = np.column_stack([axis, np.zeros(len(axis))]) * has_rows[:, None]
        first = self.delta(weights) if self.how.by_scores else along
        right = self.sides(first, self.clamped(first) if self.how.by_scores else self.size // 2)
        value = np.full(len(self.nodes), -np.inf)
        fell = np.zeros(len(self.nodes), bool)
        open_ = np.flatnonzero((self.size > 1) & has_rows)
        steps = np.zeros(len(self.nodes), int)  # since the last discrete one
        while len(open_):
            weights[open_], reached, moving = self.ascend(open_, right, weights[open_])
            steps[open_] += 1
            # The text's discrete step gains at any weights; the stale one waits for the optimum.
            enough = 0 if self.how.stale else self.how.newton_steps
            ready = ~moving | ((steps[open_] >= enough) & (enough > 0))
            steps[open_[ready]] = 0
            fell[open_] |= ready & (reached < value[open_] - FALL * np.abs(value[open_]))
            value[open_[ready]] = reached[ready]
            delta = along if self.how.stale else self.delta(weights)
            moved = self.sides(delta, self.clamped(delta))
            changed = np.zeros(len(self.nodes), bool)
            changed[open_[ready]] = self.better(moved, right, delta)[open_[ready]]
            right = np.where(changed[self.of_class], moved, right)
            open_ = open_[(changed[open_] | moving) & (self.count(~right) > 0)[open_]]
        one_sided = self.count(~right) == 0
        weights[one_sided] = 0.0
        weights[one_sided, -1] = CERTAIN
        return right, weights, int(fell.sum())

    def count(self, chosen: np.ndarray) -> np.ndarray:
        """Classes (V,) of every node among the chosen ones."""
        return np.bincount(self.of_class[chosen], minlength=len(self.nodes))

    def axes(self) -> np.ndarray:
        """Leading eigenvector (V, k) of the class sums' covariance, largest coefficient > 0."""
        mean = self.mean(self.totals[:, :-1])
        centred = self.totals[:, :-1] - mean[self.of_class]
        segments = Segments(self.of_class, len(self.nodes))
        axis = np.linalg.eigh(segments.second_moment(segments.put(centred)))[1][:, :, -1]
        largest = np.abs(axis).argmax(axis=1)
        return np.asarray(axis * np.sign(axis[np.arange(len(axis)), largest])[:, None])

    def mean(self, numbers: np.ndarray) -> np.ndarray:
        """Mean (V, j) over the classes of a node."""
        sums = [np.bincount(self.of_class, n, len(self.nodes)) for n in numbers.T]
        return np.stack(sums, axis=1) / self.size[:, None]

    def centred(self, axis: np.ndarray) -> np.ndarray:
        """Class sums (K,) along the node's axis, less their mean."""
        along = np.einsum("yk,yk->y", self.totals[:, :-1], axis[self.of_class])
        return np.asarray(along - self.mean(along[:, None])[self.of_class, 0])

    def delta(self, weights: np.ndarray) -> np.ndarray:
        """Delta_y = sum over the rows of y of z·w + b (Eq. 9)."""
        return np.asarray(np.einsum("yk,yk->y", self.totals, weights[self.of_class]))

    def clamped(self, delta: np.ndarray) -> np.ndarray:
        """Left classes (V,): those of negative Delta, as far as either side has leaves.

        Padding has Delta = 0 and fills the rest. If all classes fit on one side, it is the right.
        """
        left = np.clip(self.count(delta < 0), self.size - self.half, self.half)
        return np.where(left == self.size, 0, left)

    def sides(self, delta: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Whether classes go right: all but so many (V,) of the smallest Delta of their node."""
        order = np.lexsort((delta, self.of_class))
        place = np.empty(len(order), np.int64)
        first = np.cumsum(self.size) - self.size
        place[order] = np.arange(len(order)) - np.repeat(first, self.size)
        return np.asarray(place >= left[self.of_class])

    def better(self, moved: np.ndarray, right: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """Nodes (V,) that take their new sides: those that gain, or with stale steps differ."""
        if self.how.stale:
            return self.count(moved != right) > 0
        gain = (moved.astype(float) - right) * delta
        total = np.bincount(self.of_class, gain, len(self.nodes))
        return np.asarray(total > GAIN * np.bincount(self.of_class, np.abs(delta), len(total)))

    def ascend(
        self, chosen: np.ndarray, right: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Newton's step of chosen nodes; gives what `newton` gives."""
        place = np.full(len(self.nodes), -1)
        place[chosen] = np.arange(len(chosen))
        of_row = place[self.of_class[self.y]]
        rows = np.flatnonzero(of_row >= 0)
        segments = Segments(of_row[rows], len(chosen))
        z = segments.put_with_constant(self.z if len(rows) == len(self.z) else self.z[rows])
        sign = segments.put(np.where(right[self.y[rows]], 1.0, -1.0))
        return newton(segments, z, sign, weights, self.how.l2)


def newton(
    segments: Segments, z: np.ndarray, sign: np.ndarray, weights: np.ndarray, l2: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Newton step of many nodes: sum log sigma(zeta (z·w + b)) - l2 (||w||² + b²) (Eq. 8).

    Parameters
    ----------
    segments : which rows belong to which of the V nodes.
    z, sign : rows with a last coordinate 1, and zeta of each, as ``segments.put`` gives them.
    weights : (V, k+1) start.

    Returns
    -------
    Weights, objective (V,) there, and whether the step was worth another one. It is halved until
    it gains.
    """
    value = objective(segments, z, sign, weights, l2)
    score = sign * segments.scores(z, weights)
    gradient = segments.weighted_sum(z, sign * sigmoid(-score)) - 2 * l2 * weights
    curvature = segments.second_moment(z, np.asarray(sigmoid(score) * sigmoid(-score)))
    curvature += 2 * l2 * np.eye(weights.shape[1])
    step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    promised = np.einsum("vk,vk->v", step, gradient) / 2
    while True:
        stepped = objective(segments, z, sign, weights + step, l2)
        worse = stepped < value - ROUNDING * np.abs(value)
        if not worse.any():
            return weights + step, stepped, promised > CONVERGED
        step[worse] /= 2


def objective(
    segments: Segments, z: np.ndarray, sign: np.ndarray, weights: np.ndarray, l2: float
) -> np.ndarray:
    """Objective (V,) of nodes, less the l2 penalty."""
    terms = -np.abs(sign) * softplus(-sign * segments.scores(z, weights))  # sign 0: no row
    return np.asarray(segments.sum(terms) - l2 * np.einsum("vk,vk->v", weights, weights))
