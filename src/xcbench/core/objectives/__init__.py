"""Objectives: pure maths in score space.

An objective is a function of the scores of the true class (column 0) and of S drawn classes. It
also takes their log-weights and a local state per sample::

    value (B,), grad (B, 1+S), new local state (B,) = objective(
        scores (B, 1+S), log_weight () or (B, S), local (B,), rate, square_norm (B,))

``value`` is minimised, per sample in nats; ``grad`` is its gradient in the scores.
``exp(log_weight)`` is the number of classes that a drawn class stands for; minus infinity ignores a
draw. ``rate`` is the learning rate and ``square_norm`` is |x|² (with the constant 1 of a bias), for
objectives that solve for their step. All is in float64. Objectives use no clock, no random numbers
and no X.

There are three families. A `LogOdds` objective depends on the scores only through the log-odds
against the true class, T = log sum_k omega_k e^{f_k - f_y}. Exact softmax, IS, U-max, vanilla and
implicit SGD and softmax A&R differ in one formula of T. A `ScoredLogOdds` objective depends on the
true score too: the double sum of Raman et al. A `Pairwise` objective is a sum over pairs (true,
drawn): OVE, NCE, Bouchard's bound.

A formula is a plain function of numbers, in NumPy's arithmetic and functions, without `where` or
attributes. It works on arrays and, compiled, on single numbers, so each formula is written once. A
file here has a formula, or a few from one paper. The methods that minimise them are in
``methods/``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

WIDE = 32  # columns from which NumPy is faster by one exponential a term than by logaddexp
MOST = np.finfo(float).max  # stands for infinity, which has no difference to itself
TINY = np.finfo(float).tiny  # stands for 0, which has no logarithm

Numbers = np.ndarray | float
Triple = tuple[Numbers, Numbers, Numbers]
Quadruple = tuple[Numbers, Numbers, Numbers, Numbers]


class Start(Protocol):
    """What is known of the scores before training, the same for all rows (`core.prior.Prior`)."""

    @property
    def scores(self) -> np.ndarray:
        """(K,)."""

    def log_odds(self, y: np.ndarray) -> np.ndarray:
        """T (B,) of classes: log sum_{k != y} e^{f_k - f_y}."""

    def errors(self, y: np.ndarray) -> NamedTuple:
        """Moments of the error of an observed class, see `core.likelihoods.Moments`."""


class Scalar(NamedTuple):
    """An objective as one formula of numbers, for compiled loops over samples.

    Attributes
    ----------
    family : ``odds``, ``scored_odds`` or ``pairs``.
    formula, parameter, weighted, shifted : as in `LogOdds`, `ScoredLogOdds` and `Pairwise`.
    """

    family: str
    formula: Callable[..., tuple[Numbers, ...]]
    parameter: float = 0.0
    weighted: bool = True
    shifted: bool = False


class Objective(ABC):
    """Contract of an objective.

    Attributes
    ----------
    is_bound : whether ``-value`` is a lower bound of the log-likelihood when every class is drawn.
    start : initial local state of a sample, a number or several.
    """

    is_bound: bool
    start: float | tuple[float, ...] = 0.0

    @abstractmethod
    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, grad and new local state."""

    def settled(self, start: Start, y: np.ndarray) -> np.ndarray:
        """Local states (B, ...) of rows where the scores are known; `start` where it has no use."""
        return np.full((len(y), *np.shape(self.start)), self.start)

    @property
    def scalar(self) -> Scalar | None:
        """Its formula, if it belongs to one of the three families."""
        return None

    def sample(self, rng: np.random.Generator, rows: int) -> np.ndarray | None:
        """Random numbers for estimating an expectation, one row a sample, or None."""
        return None

    def with_noise(self, noise: np.ndarray | None) -> Objective:
        """The objective with the random numbers of a minibatch."""
        return self


@dataclass(frozen=True)
class LogOdds(Objective):
    """An objective of the log-odds against the true class.

    Attributes
    ----------
    formula : ``formula(log_odds, log_drawn, local, rate, square_norm, parameter)`` → value, its
        grad in the log-odds, new local state. ``log_odds`` is T; ``log_drawn`` is the same sum
        without weights.
    parameter : a number of the method, such as U-max's threshold.
    weighted : whether drawn classes have weights; if not, all weights are 1.
    optimum : local state that minimises the value at log-odds, where the state is one of them.
    """

    formula: Callable[[Numbers, Numbers, Numbers, float, Numbers, float], Triple]
    is_bound: bool
    start: float = 0.0
    parameter: float = 0.0
    weighted: bool = True
    optimum: Callable[[Numbers], Numbers] | None = None

    def settled(self, start: Start, y: np.ndarray) -> np.ndarray:
        """The optimum at the log-odds of the rows."""
        if self.optimum is None:
            return super().settled(start, y)
        return np.asarray(self.optimum(start.log_odds(y)))

    @property
    def scalar(self) -> Scalar:
        """The formula alone."""
        return Scalar("odds", self.formula, self.parameter, self.weighted)

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Reduce the classes to the log-odds; a drawn class has its share of the grad in them."""
        if not self.weighted:
            log_weight = 0.0
        weighted, log_odds, log_drawn = _reduced(scores, log_weight)
        value, of_odds, local_next = self.formula(
            log_odds, log_drawn, local, rate, square_norm, self.parameter
        )
        grad = _shares(weighted, log_odds, -of_odds, of_odds)
        return np.asarray(value), grad, np.where(np.isneginf(log_odds), local, local_next)

    def of_all(
        self, scores: np.ndarray, row: np.ndarray, y: np.ndarray, weight: Numbers = 1.0
    ) -> tuple[float, np.ndarray]:
        """Sum of the values of samples where every class is drawn, and its grad in the scores.

        With L = log sum_k e^{f_k} and p = e^{f - L}, T = log(e^{L - f_y} - 1). A sample adds
        a (p - e_y) to the grad, a = value'(T) / (1 - p_y), so samples share the exponentials.

        Parameters
        ----------
        scores : (B, K).
        row, y, weight : (N,) of each sample its row of the scores, its class, and how often it
            counts.
        """
        top = scores.max(axis=1)
        p = np.exp(scores - top[:, None])
        total = p.sum(axis=1)
        p /= total[:, None]
        gap = np.maximum((top + np.log(total))[row] - scores[row, y], TINY)  # L - f_y
        others = -np.expm1(-gap)  # 1 - p_y
        log_odds = gap + np.log(others)
        local = np.full(len(y), self.start)
        value, of_odds, _ = self.formula(log_odds, log_odds, local, 0.0, 0.0, self.parameter)
        a = weight * of_odds / others
        p *= np.bincount(row, a, len(scores))[:, None]
        np.subtract.at(p, (row, y), a)
        return float(np.sum(weight * value)), p


@dataclass(frozen=True)
class ScoredLogOdds(Objective):
    """An objective of the true score and the log-odds against the true class.

    Attributes
    ----------
    formula : ``formula(true, log_odds, log_drawn, local, rate, parameter)`` → value, its grad in
        the true score with the drawn ones held, its grad in the log-odds, new local state.
        ``log_odds``, ``log_drawn`` and ``parameter`` as in `LogOdds`. The local state is the log
        of the sum over all classes.
    """

    formula: Callable[[Numbers, Numbers, Numbers, Numbers, float, float], Quadruple]
    is_bound: bool
    start: float = 0.0
    parameter: float = 0.0

    def settled(self, start: Start, y: np.ndarray) -> np.ndarray:
        """f_y + log(1 + e^T) of the rows."""
        return np.asarray(start.scores[y] + softplus(start.log_odds(y)))

    @property
    def scalar(self) -> Scalar:
        """The formula alone."""
        return Scalar("scored_odds", self.formula, self.parameter)

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `LogOdds`, with the true class's own grad."""
        weighted, log_odds, log_drawn = _reduced(scores, log_weight)
        value, of_true, of_odds, local_next = self.formula(
            scores[:, 0], log_odds, log_drawn, local, rate, self.parameter
        )
        grad = _shares(weighted, log_odds, of_true, of_odds)
        return np.asarray(value), grad, np.where(np.isneginf(log_odds), local, local_next)


def _reduced(scores: np.ndarray, log_weight: Numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms log(omega_k e^{f_k - f_y}) (B, S), the log of their sum, and that without weights."""
    difference = scores[:, 1:] - scores[:, :1]
    if isinstance(log_weight, float) and log_weight == 0.0:
        log_odds = _log_sum(difference)
        return difference, log_odds, log_odds
    weighted = difference + log_weight
    if isinstance(log_weight, np.ndarray):
        difference = np.where(np.isneginf(log_weight), -np.inf, difference)
    return weighted, _log_sum(weighted), _log_sum(difference)


def _log_sum(terms: np.ndarray) -> np.ndarray:
    """Log (B,) of the sum over columns of e^terms (B, S)."""
    if terms.shape[1] < WIDE:
        return np.asarray(np.logaddexp.reduce(terms, axis=1))
    return log_sum_exp(terms)


def log_sum_exp(terms: np.ndarray) -> np.ndarray:
    """As `_log_sum`, with one exponential a term; -inf and inf if the sum is 0 or infinite."""
    top = np.clip(terms.max(axis=1), -MOST, MOST)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(terms - top[:, None]).sum(axis=1)))


def _shares(
    weighted: np.ndarray, log_odds: np.ndarray, of_true: Numbers, of_odds: Numbers
) -> np.ndarray:
    """Gradients (B, 1+S): a drawn class has its share of the grad in the log-odds."""
    empty = np.isneginf(log_odds)  # no class left: the sample changes nothing
    share = np.exp(weighted - np.where(empty, 0.0, log_odds)[:, None])
    grad = np.empty((weighted.shape[0], 1 + weighted.shape[1]))
    grad[:, 0] = np.where(empty, 0.0, of_true)
    grad[:, 1:] = share * np.where(empty, 0.0, of_odds)[:, None]
    return grad


@dataclass(frozen=True)
class Pairwise(Objective):
    """A sum over pairs of the true class and a drawn one.

    Attributes
    ----------
    formula : ``formula(true, drawn, log_weight, share)`` → value of a pair, its grad in the true
        score, and in the drawn one. ``share`` is 1 / S, for a term of the true class alone.
    shifted : whether the local state is subtracted from the scores; it then follows its gradient.
    """

    formula: Callable[[Numbers, Numbers, Numbers, float], Triple]
    is_bound: bool
    start: float = 0.0
    shifted: bool = False

    @property
    def scalar(self) -> Scalar:
        """The formula alone."""
        return Scalar("pairs", self.formula, shifted=self.shifted)

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and grad; a shift has the negative of the sum of the gradient."""
        share = 1.0 / (scores.shape[1] - 1)
        if self.shifted:
            scores = scores - local[:, None]
        value, of_true, of_drawn = self.formula(scores[:, :1], scores[:, 1:], log_weight, share)
        grad = np.column_stack([np.sum(of_true, axis=1), of_drawn])
        if self.shifted:
            local = local + rate * grad.sum(axis=1)
        return np.sum(value, axis=1), grad, local


def softplus(x: Numbers) -> Numbers:
    """log(1 + e^x), several times faster on arrays than `numpy.logaddexp`."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: Numbers) -> Numbers:
    """1 / (1 + e^-x), the derivative of softplus."""
    return 1.0 / (1.0 + np.exp(np.minimum(-x, 709.0)))
