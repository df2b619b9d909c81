"""Objectives: pure maths in score space.

An objective maps the scores of the true class (column 0) and of S drawn classes, their
log-weights and a little state per observation to numbers::

    value (B,), slope (B, 1+S), new local state (B,) = objective(
        scores (B, 1+S), log_weight () or (B, S), local (B,), rate, square_norm (B,))

``value`` is minimised, per observation in nats; ``slope`` is its gradient in the scores.
``exp(log_weight)`` is how many classes a drawn class stands for; minus infinity leaves a draw out.
``rate`` is the learning rate and ``square_norm`` is |x|² (with the constant 1 of a bias), for
objectives that solve for their step. All in float64; no clock, no random numbers, no X.

There are two families. `Odds`: the objective sees the classes only through the log-odds against
the true class, T = log sum_k omega_k e^{f_k - f_y}; exact softmax, IS, U-max, vanilla and implicit
SGD differ in one line of T. `Pairs`: the objective is a sum over pairs (true, drawn); OVE and NCE.
Each formula works on arrays and on numbers alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Numbers = np.ndarray | float


class Objective(ABC):
    """Contract of an objective.

    Attributes
    ----------
    is_bound : whether ``-value`` is a lower bound of the log-likelihood when every class is drawn.
    """

    is_bound: bool

    def start(self, n_classes: int) -> float:
        """Local state of an observation that was not visited yet."""
        return 0.0

    @abstractmethod
    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, slope and new local state."""


class Odds(Objective):
    """An objective of the log-odds against the true class."""

    @abstractmethod
    def formula(
        self,
        log_odds: Numbers,
        log_drawn: Numbers,
        local: Numbers,
        rate: float,
        square_norm: Numbers,
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Value, its slope in the log-odds, new local state.

        Parameters
        ----------
        log_odds : T = log sum_k omega_k e^{f_k - f_y}.
        log_drawn : the same sum without weights.
        """

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Reduce the classes to the log-odds; a drawn class has its share of the slope in them."""
        difference = scores[:, 1:] - scores[:, :1]
        weighted = difference + log_weight
        log_odds = np.logaddexp.reduce(weighted, axis=1)
        if isinstance(log_weight, np.ndarray):
            difference = np.where(np.isneginf(log_weight), -np.inf, difference)
        log_drawn = np.logaddexp.reduce(difference, axis=1)
        value, pull, local_next = self.formula(log_odds, log_drawn, local, rate, square_norm)
        empty = np.isneginf(log_odds)  # no class left: the observation changes nothing
        share = np.exp(weighted - np.where(empty, 0.0, log_odds)[:, None])
        slope = np.empty_like(scores)
        slope[:, 0] = -np.where(empty, 0.0, pull)
        slope[:, 1:] = share * np.asarray(pull)[:, None]
        local_next = np.where(empty, local, local_next)
        return np.asarray(value), slope, np.asarray(local_next)


@dataclass(frozen=True)
class Pairs(Objective):
    """A weighted sum over the drawn classes.

    Attributes
    ----------
    formula : scores of the true class (B, 1) and of drawn classes (B, S), log-weight → value (B,),
        slope (B, 1) in the true score, slope (B, S) in the others.
    """

    formula: Callable[[np.ndarray, np.ndarray, Numbers], tuple[np.ndarray, np.ndarray, np.ndarray]]
    is_bound: bool

    def __call__(
        self,
        scores: np.ndarray,
        log_weight: Numbers,
        local: np.ndarray,
        rate: float,
        square_norm: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and slope; nothing is remembered of an observation."""
        value, slope_true, slope_drawn = self.formula(scores[:, :1], scores[:, 1:], log_weight)
        return value, np.concatenate([slope_true, slope_drawn], axis=1), local
