"""Implicit SGD, n samples and m classes a step (Fagan and Iyengar 2018, appendix F.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
import scipy.sparse as sp

from xcbench.core.dataset import Dataset
from xcbench.core.models.linear import LinearModel
from xcbench.core.objectives import softplus
from xcbench.core.optimizers import Optimizer
from xcbench.core.prior import begin
from xcbench.core.rows import gram
from xcbench.core.samplers import outside
from xcbench.core.solvers import Progress, Solver, Streams

NEWTON_STEPS = 30
CONVERGED = 1e-8  # the next change of a quadratic iteration is below rounding
TOLERANCE = 1e-7  # the gradient falls to this share of what it is at the old point
ITERATIONS = 500
RANK = 1e-10  # axes with less than this share of the largest one's squared length do not count


def log_ratio(T: np.ndarray, rate: float) -> np.ndarray:
    """Solve q + c (e^q - 1) = T for q, c the rate.

    With T = log d - u~, the minimiser of 2c (u + d e^{-u}) + (u - u~)² is u = u~ + c (e^q - 1). P =
    c e^q is the principal Lambert W of c d e^{c - u~}, computed without exponentials of c or T. The
    left side is convex and increasing. So Newton's method converges from above, starting at the
    bounds that follow from e^q - 1 >= q, q >= 0 and e^q > 0.
    """
    beyond = np.where(T > 0, np.log1p(np.maximum(T, 0.0) / rate), T + rate)
    q = np.minimum(T / (1.0 + rate), beyond)
    for _ in range(NEWTON_STEPS):
        change = (q + rate * np.expm1(q) - T) / (1.0 + rate * np.exp(q))
        q = q - change
        if np.abs(change).max() <= CONVERGED:
            break
    return q


def shares(
    scores: np.ndarray, log_weight: np.ndarray, true: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute log d_i (n,) and the share (n, C) of every class; the true class's term is 1."""
    weighted = scores + log_weight
    top = weighted.max(axis=1, keepdims=True)
    odds = np.exp(weighted - top)
    total = odds.sum(axis=1, keepdims=True)
    log_d = (top + np.log(total))[:, 0] - scores[np.arange(len(true)), true]
    return log_d, odds / total


@dataclass(frozen=True)
class ProximalStep:
    """One proximal step, u minimised out (the paper's Eq. 21), over coordinates A (C, r).

    Let w_k = w~_k / (1 + rho_k) + V a_k, with rho_k the penalty's share. The step minimises sum_i
    (1 + P_i)² + sum_k (1 + rho_k) |a_k|², halved and shifted. The part of w_k outside the span of
    the rows shrinks; the rest of the penalty is in the second term.

    Attributes
    ----------
    scores : (n, C) of the classes of the step, at A = 0.
    log_weight : (C,) how many classes each stands for: 1 for labels of the minibatch.
    true : (n,) column of the true class.
    basis : (n, r) coordinates b_i of the rows, x_i = V b_i.
    u : (n,) before the step.
    rate : c = eta / p_j.
    damping : (C,) 1 + rho_k.
    """

    scores: np.ndarray
    log_weight: np.ndarray
    true: np.ndarray
    basis: np.ndarray
    u: np.ndarray
    rate: float
    damping: np.ndarray

    def terms(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rise u - u~ = P - c (n,) at the minimum over u, P (n,), shares of the classes (n, C)."""
        log_d, share = shares(self.scores + self.basis @ A.T, self.log_weight, self.true)
        q = log_ratio(log_d - self.u, self.rate)
        return self.rate * np.expm1(q), self.rate * np.exp(q), share

    def value_and_gradient(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Half of sum_i (1 + P_i)² - (1 + c)² + sum_k (1 + rho_k) |a_k|², and its gradient."""
        A = flat.reshape(len(self.damping), -1)
        rise, P, grad = self.terms(A)
        grad[np.arange(len(self.true)), self.true] -= 1.0
        grad *= P[:, None]  # P is the derivative of half of (1 + P)² in log d
        value = float((rise * (1.0 + self.rate + rise / 2)).sum())
        value += float(np.einsum("k,kr,kr->", self.damping, A, A)) / 2
        return value, (grad.T @ self.basis + self.damping[:, None] * A).ravel()

    def start(self) -> np.ndarray:
        """Smallest sum_k |a_k|_1 at which no exponent is positive (linear programme, Eq. 22).

        The solution is A = 0 if no exponent is positive there. It takes longer than the step as n
        or C grows.
        """
        n, C = self.scores.shape
        r = self.basis.shape[1]
        exponents = self.scores - self.scores[np.arange(n), self.true][:, None] - self.u[:, None]
        if not np.any(exponents > 0.0):
            return np.zeros((C, r))

        def products(classes: np.ndarray) -> sp.csr_array:
            """Rows that give b_i · a_k for the classes (n·C,) k of all pairs."""
            columns = classes[:, None] * r + np.arange(r)
            data, begin = np.repeat(self.basis, C, axis=0), np.arange(n * C + 1) * r
            return sp.csr_array((data.ravel(), columns.ravel(), begin), shape=(n * C, C * r))

        moved = products(np.tile(np.arange(C), n)) - products(np.repeat(self.true, C))
        programme = scipy.optimize.linprog(
            np.ones(2 * C * r),  # A is the difference of two parts, both at least 0
            A_ub=sp.hstack([moved, -moved]),
            b_ub=-exponents.ravel(),
            method="highs",
        )
        if programme.x is None:  # not beyond rounding; it is a start, no more
            return np.zeros((C, r))
        return np.subtract(*programme.x.reshape(2, C, r))

    def solve(self) -> np.ndarray:
        """A (C, r) of the minimum."""
        start = self.start()
        if not start.size:
            return start
        _, gradient = self.value_and_gradient(np.zeros(start.size))
        minimum = scipy.optimize.minimize(
            self.value_and_gradient,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": ITERATIONS,
                "maxfun": 2 * ITERATIONS,
                "gtol": TOLERANCE * float(np.abs(gradient).max()),
                "ftol": 0.0,
            },
        )
        return np.asarray(minimum.x.reshape(start.shape))


@dataclass
class Proximal(Solver):
    """Implicit SGD over fixed minibatches S_j, with classes outside their labels Y_j.

    A step minimises over u of the rows of S_j and over w_k of the labels and drawn classes; b_k is
    the weight of a constant feature 1. It minimises

        2 lr sum_{i in S_j} (u_i + d_i e^{-u_i}) + |u - u~|² + ||W - W~||²
            + lr n_j/N lambda sum_k beta_k |w_k|²,

    d_i = 1 + sum_{k in Y_j, k != y_i} e^{x_i·(w_k - w_{y_i})}
            + (K - |Y_j|)/m sum_{k drawn} e^{x_i·(w_k - w_{y_i})}.

    Attributes
    ----------
    optimizer : the rate, and lambda/N. As everywhere here, the rate multiplies the sum over the
        minibatch: lr is the paper's eta/p_j = eta N/n_j.
    negatives : classes a step, distinct, outside Y_j; all of them where fewer are left.
    order : ``file``: consecutive rows form a minibatch. Else they are dealt at random, once;
        ``shuffled`` visits the minibatches by a fresh permutation a pass, ``iid`` by independent
        draws, each with probability p_j.
    u0 : start of u.
    init : of the weights: ``zero`` or ``prior``, with which u starts at log(1 + e^T).

    Notes
    -----
    The paper prints K - n, n the rows of a minibatch, for K - |Y_j|: right where all their labels
    differ. Its l2 penalty lacks the factor 2 eta of the proximal objective. beta_k is one over the
    probability that k takes part in a step.
    """

    optimizer: Optimizer
    batch_size: int
    negatives: int
    order: str
    passes: int
    u0: float
    init: str = "zero"
    is_bound = True

    def over(self, epochs: float) -> Proximal:
        """With the optimizer of so many epochs."""
        optimizer = self.optimizer.over(epochs)
        return self if optimizer is self.optimizer else replace(self, optimizer=optimizer)

    def fit(
        self, dataset: Dataset, model: LinearModel, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Visit minibatches until the last stop."""
        n_rows = len(dataset.train)
        per_epoch = self.passes * n_rows
        prior = begin(model, dataset, streams.weights, self.init)
        u = np.full(n_rows, self.u0)
        if prior:
            u[:] = softplus(prior.log_odds(dataset.train.y))
        batches = self._partition(streams.order, n_rows)
        beta = np.ones(model.n_classes)
        if self.optimizer.weight_decay.l2:
            beta = shares_of_l2(dataset.train.y, batches, model.n_classes, self.negatives)
        visits = self._visits(streams.order, batches)
        iteration = observations = 0
        yield Progress(0, 0, 0.0)
        for stop in stops:
            value_sum, before = 0.0, observations
            while observations < round(stop * per_epoch):
                index = next(visits)
                rate = self.optimizer.rate(observations / per_epoch)
                value_sum += self._update(model, dataset, index, u, rate, beta, streams.classes)
                iteration += 1
                observations += len(index)
            seen = observations - before
            mean = value_sum / seen if seen else math.nan
            yield Progress(iteration, observations, observations / per_epoch, mean)

    def _update(
        self,
        model: LinearModel,
        dataset: Dataset,
        index: np.ndarray,
        u: np.ndarray,
        rate: float,
        beta: np.ndarray,
        rng: np.random.Generator,
    ) -> float:
        """One step, in place; gives the sum of the double sum's values at the old point."""
        X, y = dataset.train.X, dataset.train.y[index]
        labels = np.unique(y)
        drawn, log_weight = outside(rng, model.n_classes, labels, self.negatives)
        classes = np.concatenate([labels, drawn])
        weights = np.repeat([0.0, log_weight], [len(labels), len(drawn)])
        true = np.searchsorted(labels, y)
        rows, table = model.take(X, index), np.tile(classes, (len(index), 1))
        scores = model.at(rows, table)
        log_d, _ = shares(scores, weights, true)
        value = u[index] + np.exp(log_d - u[index]) - 1.0
        damping = 1.0 + rate * len(index) * self.optimizer.weight_decay.l2 * beta[classes]
        lengths, vectors = axes(gram(X, index) + (model.b is not None))
        step = ProximalStep(
            scores / damping, weights, true, vectors * lengths, u[index], rate, damping
        )
        A = step.solve()
        if self.optimizer.weight_decay.l2:
            model.scale_at(classes, 1.0 / damping)
        model.add(rows, table, vectors / lengths @ A.T)  # V = X^T vectors / lengths
        u[index] += step.terms(A)[0]
        return float(value.sum())

    def _partition(self, rng: np.random.Generator, n_rows: int) -> list[np.ndarray]:
        order = np.arange(n_rows) if self.order == "file" else rng.permutation(n_rows)
        return np.split(order, range(self.batch_size, n_rows, self.batch_size))

    def _visits(self, rng: np.random.Generator, batches: list[np.ndarray]) -> Iterator[np.ndarray]:
        """Minibatches, endlessly."""
        sizes = np.array([len(index) for index in batches])
        while True:
            order = np.arange(len(batches))
            if self.order == "shuffled":
                order = rng.permutation(len(batches))
            elif self.order == "iid":
                order = rng.choice(len(batches), len(batches), p=sizes / sizes.sum())
            yield from (batches[j] for j in order)


def axes(inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths (r,) and coefficients (n, r) of the principal axes of n rows.

    They follow from the rows' inner products (n, n). V = X^T coefficients / lengths is orthonormal,
    and the rows' coordinates are coefficients · lengths. V, as wide as the rows, is never formed.
    Axes of negligible length are left out, so r is the rank.
    """
    squares, coefficients = np.linalg.eigh(inner)
    long = squares > RANK * max(squares[-1], 0.0)
    return np.sqrt(squares[long]), coefficients[:, long]


def shares_of_l2(y: np.ndarray, batches: list[np.ndarray], n_classes: int, m: int) -> np.ndarray:
    """beta_k (K,), one over the probability that class k takes part in a step.

    1 - sum_j p_j [k not in Y_j] (1 - m / (K - |Y_j|)), with p_j = n_j / N. The paper prints 1 / J
    for p_j, which is the same if all minibatches have one size.
    """
    missed = np.zeros(n_classes)
    for index in batches:
        labels = np.unique(y[index])
        others = n_classes - len(labels)
        share = len(index) / len(y) * (1.0 - min(m, others) / max(others, 1))
        missed += share
        missed[labels] -= share
    return 1.0 / (1.0 - missed)
