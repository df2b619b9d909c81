"""Log likelihoods of multinomial probit and multinomial logistic (Augment and reduce, Eq. 5).

The utility of class k is f_k + e_k. The errors e_k are independent, with density phi and
distribution function Phi. The observed class has the highest utility:

    p(y | f) = ∫ phi(e) prod_{k != y} Phi(e + f_y - f_k) de.

With phi normal this is multinomial probit, with phi logistic multinomial logistic; with phi Gumbel
it is softmax, which has a closed form. The integrand is log-concave in one variable. The trapezoid
rule, from its middle outwards until terms are negligible, converges exponentially. Where classes
are many, those whose scores lie in the same short cell share the points of a polynomial (`merged`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import brentq

from xcbench.core.objectives import log_sum_exp
from xcbench.core.objectives.augment_reduce import LOGISTIC, PROBIT, Link

LINKS = {"probit": PROBIT, "logistic": LOGISTIC}
FALL = 22.0  # nats below the highest point where the integrand is left
CHUNK = 1 << 15  # differences of scores held at a time: few enough to stay in the cache
CHUNK_ROWS = 2048
NODES = 14  # of a cell of width 1: an error of log p below 1e-10
ROOTS = chebyshev.chebpts1(NODES)
TO_NODES = (chebyshev.chebvander(ROOTS, NODES - 1) * [1, *[2] * (NODES - 1)]).T / NODES
MOST = 5000  # points on a side: more only of a plateau, whose rest is negligible then
NEWTON = 100
PROPOSAL = (5.0, 5.0)  # mean and standard deviation of the paper's importance sampling

Pair = tuple[np.ndarray, np.ndarray]


def merged(difference: np.ndarray, count: np.ndarray) -> Pair:
    """Fewer differences and their counts, so that sums of a smooth function stay the same.

    In each cell, of width 1, the polynomial through the cell's Chebyshev nodes replaces the
    function. A sum over the classes of the cell is one over its nodes then, with weights from the
    classes' Chebyshev moments. The singularities of log Phi are 2.8 and more off the real line.

    Parameters
    ----------
    difference, count : (B, K).

    Returns
    -------
    Both (B, P), or as they are where that would not halve them.
    """
    low = difference.min(axis=1, keepdims=True)
    place = difference - low
    reach = float(place.max())
    if not 2 * NODES * (reach + 1) < difference.shape[1]:  # or not finite
        return difference, count
    rows, cells, cell = len(place), int(reach) + 1, np.floor(place)
    target = (cell + cells * np.arange(rows)[:, None]).astype(np.int64).ravel()
    x = 2 * (place - cell).ravel() - 1
    moments, T, last = [], np.ones_like(x), x
    for _ in range(NODES):  # T_0 = 1, T_1 = x, T_{j+1} = 2 x T_j - T_{j-1}
        moments.append(np.bincount(target, count.ravel() * T, rows * cells))
        T, last = 2 * x * T - last, T
    nodes = low[:, :, None] + np.arange(cells)[:, None] + (1 + ROOTS) / 2
    empty = np.reshape(moments[0], (rows, cells, 1)) == 0  # they are not to be the highest
    nodes = np.where(empty, low[:, :, None], nodes)
    return nodes.reshape(rows, -1), (np.transpose(moments) @ TO_NODES).reshape(rows, -1)


def normal_middle(difference: np.ndarray, count: np.ndarray) -> Pair:
    """Near the mode of the integrand of probit, and a step by its curvature there.

    The derivative of the log integrand, sum_k phi/Phi(e - d_k) - e, is convex and decreasing. So
    Newton's method stays left of the root from its first step on.
    """
    softmax_loss, _ = logistic_middle(difference, count)
    e = np.maximum(np.sqrt(2 * softmax_loss), difference.max(axis=1) / 2)
    for _ in range(NEWTON):
        t = e[:, None] - difference
        ratio = PROBIT.of_log_cdf(t)
        curvature = 1.0 + (count * ratio * (t + ratio)).sum(axis=1)
        move = ((count * ratio).sum(axis=1) - e) / curvature
        e = e + move
        if (np.abs(move) * np.sqrt(curvature) < 0.5).all():
            break
    return e, 0.5 / np.sqrt(curvature)


def logistic_middle(difference: np.ndarray, count: np.ndarray) -> Pair:
    """-log softmax_y, to the right of which logistic's integrand falls like e^-e, and a step.

    To its left there may be a plateau as wide as the range of the scores, with edges of scale 1.
    """
    top = np.maximum(0.0, difference.max(axis=1))
    total = np.exp(-top) + (count * np.exp(difference - top[:, None])).sum(axis=1)
    return np.maximum(0.0, top + np.log(total)), np.full(len(difference), 0.45)


# Differences f_k - f_y (B, K) and counts of classes to a point of the integrand right of which it
# only falls, and to the step of the trapezoid rule, both (B,).
MIDDLES = {"probit": normal_middle, "logistic": logistic_middle}


@dataclass(frozen=True)
class Integrand:
    """Log integrand of B rows at equally spaced points that cover all of its mass.

    Attributes
    ----------
    first, step : first point and spacing of the points of every row, (B,).
    values : (B, J), -inf beyond a fall of `FALL` nats.
    """

    first: np.ndarray
    step: np.ndarray
    values: np.ndarray

    @classmethod
    def of(
        cls,
        link: Link,
        middle: np.ndarray,
        step: np.ndarray,
        difference: np.ndarray,
        count: np.ndarray,
    ) -> Integrand:
        """Evaluate from the middle to the right, then to the left.

        Parameters
        ----------
        link : distribution of the errors.
        middle, step : of every row, see `MIDDLES`.
        difference, count : f_k - f_y, and how many classes have it, (B, K); 0 of the true class.
        """
        highest = np.full(len(middle), -np.inf)

        def walk(sign: int, begin: int) -> Iterator[np.ndarray]:
            rows = np.arange(len(middle))
            for place in range(begin, MOST):
                e = middle[rows] + sign * place * step[rows]
                terms = link.log_cdf(e[:, None] - difference[rows])
                column = np.full(len(middle), -np.inf)
                column[rows] = link.log_density(e) + (count[rows] * terms).sum(axis=1)
                yield column
                np.maximum(highest, column, out=highest)
                rows = rows[column[rows] > highest[rows] - FALL]
                if not len(rows):
                    return

        right, left = list(walk(1, 0)), list(walk(-1, 1))
        return cls(middle - len(left) * step, step, np.column_stack([*left[::-1], *right]))

    def log_integral(self) -> np.ndarray:
        """Trapezoid rule, (B,)."""
        return np.asarray(np.log(self.step) + log_sum_exp(self.values))

    def at(self, e: np.ndarray) -> np.ndarray:
        """Log integrand at points e (B, S) by cubic interpolation; -inf where it is negligible."""
        count = self.values.shape[1]
        place = (e - self.first[:, None]) / self.step[:, None]
        cell = np.clip(np.floor(place).astype(np.int64), 1, count - 3)
        s = place - cell
        basis = (
            -s * (s - 1) * (s - 2) / 6,
            (s + 1) * (s - 1) * (s - 2) / 2,
            -(s + 1) * s * (s - 2) / 2,
            (s + 1) * s * (s - 1) / 6,
        )
        row = np.arange(len(e))[:, None]
        with np.errstate(invalid="ignore"):
            value = sum(b * self.values[row, cell + i - 1] for i, b in enumerate(basis))
        inside = (place >= 0) & (place <= count - 1) & np.isfinite(value)
        return np.where(inside, value, -np.inf)


def log_likelihood(
    link: str, scores: np.ndarray, y: np.ndarray, rows: np.ndarray | None = None
) -> np.ndarray:
    """Log p(y | f), with an error below 1e-8 by quadrature.

    Parameters
    ----------
    link : ``probit`` or ``logistic``.
    scores : f (B, K).
    y : classes (n,).
    rows : row of scores of each class; one after the other by default.
    """
    parts = [integrand.log_integral() for integrand in _integrands(link, scores, y, rows)]
    return np.concatenate([np.empty(0), *parts])


def log_probabilities(link: str, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Log p(k | f) of some classes of every row, in float64.

    Parameters
    ----------
    link : of a model: softmax, probit or logistic.
    scores : f (B, K).
    classes : (B, k).
    """
    if link != "softmax":
        rows = np.repeat(np.arange(len(scores)), classes.shape[1])
        return log_likelihood(link, scores, classes.ravel(), rows).reshape(classes.shape)
    largest = scores.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(scores - largest).sum(axis=1, dtype=np.float64, keepdims=True))
    chosen = np.take_along_axis(scores, classes, axis=1).astype(np.float64)
    return np.asarray(chosen - largest - log_total)


def with_importance(
    link: str, scores: np.ndarray, y: np.ndarray, draws: int, rng: np.random.Generator
) -> Pair:
    """As `log_likelihood`, and the same by importance sampling as in the paper, (B,) each.

    log mean_s phi(e_s) prod_k Phi(e_s + f_y - f_k) / q(e_s), with fresh draws e_s from q = N(5, 5²)
    for each row. Its expectation is below the log likelihood.
    """
    mean, deviation = PROPOSAL
    exact, sampled = [np.empty(0)], [np.empty(0)]
    for integrand in _integrands(link, scores, y):
        u = rng.standard_normal((len(integrand.step), draws))
        log_weight = integrand.at(mean + deviation * u) - PROBIT.log_density(u) + np.log(deviation)
        exact.append(integrand.log_integral())
        sampled.append(log_sum_exp(log_weight) - np.log(draws))
    return np.concatenate(exact), np.concatenate(sampled)


def _integrands(
    link: str, scores: np.ndarray, y: np.ndarray, rows: np.ndarray | None = None
) -> Iterator[Integrand]:
    """Integrands of the classes, a few at a time."""
    rows = np.arange(len(y)) if rows is None else rows
    size = min(CHUNK_ROWS, max(1, CHUNK // scores.shape[1]))
    for first in range(0, len(y), size):
        part = scores[rows[first : first + size]].astype(np.float64)
        true = y[first : first + size]
        row = np.arange(len(true))
        count = np.ones_like(part)
        count[row, true] = 0.0
        rivals = merged(part - part[row, true][:, None], count)
        yield Integrand.of(LINKS[link], *MIDDLES[link](*rivals), *rivals)


class Moments(NamedTuple):
    """Of every class c where the scores are the same for all rows, b.

    Attributes
    ----------
    log_p : log P(c | b).
    mean, deviation : of the error eps_c, given that c is observed.
    slope : derivative of log P(c | b) in b_c, the law of the largest utility held.
    """

    log_p: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    slope: np.ndarray


LOWEST = -60.0  # log of the probability that no utility is larger, at the first point
POINTS = {"probit": np.arange(0.0, 25.0, 0.04), "logistic": np.arange(0.0, 80.0, 0.1)}


def moments(link: str, b: np.ndarray, sizes: np.ndarray) -> Moments:
    """Moments of classes with scores b (U,), of which there are so many each, by quadrature.

    With t = b_c + eps_c the largest utility, P(c | b) = ∫ phi(t - b_c) e^{G(t)} / Phi(t - b_c) dt,
    G(t) = sum_k log Phi(t - b_k). So all classes share G, and the cost is U a point.
    """
    law = LINKS[link]

    def below(t: float) -> float:
        """G(t)."""
        return float(sizes @ law.log_cdf(t - b))

    low, high = b.min() - 1.0, b.max() + 1.0
    while below(low) > LOWEST:
        low -= 2.0 * (high - low)
    while below(high) < LOWEST:
        high += 2.0 * (high - low)
    t = brentq(lambda t: below(t) - LOWEST, low, high) + POINTS[link]
    eps = t - b[:, None]
    log_cdf = law.log_cdf(eps)
    log_mass = law.log_density(eps) + sizes @ log_cdf - log_cdf
    log_total = log_sum_exp(log_mass)
    share = np.exp(log_mass - log_total[:, None])
    mean = (share * eps).sum(axis=1)
    deviation = np.sqrt((share * (eps - mean[:, None]) ** 2).sum(axis=1))
    slope = -(share * law.of_log_density(eps)).sum(axis=1)
    return Moments(log_total + np.log(t[1] - t[0]), mean, deviation, slope)
