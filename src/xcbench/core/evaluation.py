"""Evaluate a model on rows: losses and top classes, in blocks of rows, in float64.

Rows without features share their scores, which are computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xcbench.core import likelihoods
from xcbench.core.dataset import Split
from xcbench.core.models.model import Model, Summary, top_classes

BlockFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Extras:
    """Metrics to compute besides log loss and error.

    Attributes
    ----------
    metrics : names of further entries of `xcbench.core.metrics.METRICS`.
    softmax_twice : ``log_loss_softmax_twice``, the log loss with softmax applied to probabilities,
        log sum_k e^{p_k} - p_y (published baselines of the U-max paper).
    top_k : unless 0, ``hit_at_<top_k>``, the share of rows whose class is among the ``top_k``
        highest scores; with label sets also ``precision_at_<top_k>``.
    macro_f1 : ``macro_f1`` and ``macro_f1_of_means`` (`xcbench.core.metrics.macro_f1s`).
    clip : unless 0, ``log_loss_clipped``, the mean of losses clipped at this many nats (published
        evaluation of the augment-and-reduce paper).
    importance, rng : unless 0 or with a softmax link, ``log_loss_importance``, by importance
        sampling with this many draws a row, clipped at ``clip`` (26 nats if that is 0).
    standard_error : ``log_loss_standard_error``, if the rows are a sample.
    depth : number of top classes that metrics need, if more than ``top_k``.
    inverse_propensity : (K,) weights of labels in propensity-scored metrics.
    """

    metrics: tuple[str, ...] = ()
    softmax_twice: bool = False
    top_k: int = 0
    macro_f1: bool = False
    clip: float = 0.0
    importance: int = 0
    rng: np.random.Generator | None = None
    standard_error: bool = False
    depth: int = 0
    inverse_propensity: np.ndarray | None = None

    @property
    def n_best(self) -> int:
        """Number of best classes that metrics need."""
        return max(1, self.top_k, self.depth)


class Predictions:
    """Predictions of a model on rows; each pass over all classes is made once.

    Attributes
    ----------
    losses : (N,) -log p(y | x) in nats, if the model has probabilities.
    sampled : the same by importance sampling, or None.
    twice : the same with softmax applied twice, or None.
    best : (N, k) classes with the highest scores; the lower number first among equals.
    log_probability : (K,), if rows have no features and so share their scores.
    """

    def __init__(
        self, model: Model, split: Split, extras: Extras, summary: Summary | None = None
    ) -> None:
        self.model, self.split, self.extras = model, split, extras
        self.probabilistic, self.y = model.link is not None, split.y
        self.sampled: np.ndarray | None = None
        self.twice: np.ndarray | None = None
        self.log_probability: np.ndarray | None = None
        k = extras.n_best
        self.losses = np.full(len(split), np.log(model.n_classes))
        self.best = np.tile(np.arange(k), (len(split), 1))  # of equal scores, as before training
        if split.X.shape[1] == 0 and self.probabilistic:
            self.log_probability = model.log_probabilities(np.empty((1, 0), model.dtype))[0]
            self.losses, self.best, self.twice = _of_equal_rows(self.log_probability, self.y, k)
            return
        if summary is None and k == 1 and not self.probabilistic:
            self.best = model.predict(split.X)[:, None]
        elif summary is not None or not model.untrained:
            self.losses, self.best = summary or model.summarise(split, k)
            if model.link not in (None, "softmax"):
                self.losses, self.sampled = _of_link(model, split, extras.importance, extras.rng)
        if extras.softmax_twice and self.probabilistic:
            self.twice = _softmax_twice(model, split)

    @cached_property
    def hit(self) -> np.ndarray:
        """Whether each of the best classes is the true class, (N, k)."""
        return np.asarray(self.best == self.y[:, None])

    @cached_property
    def inside(self) -> np.ndarray | None:
        """Whether each of the best classes is in the row's label set, (k, N); None without sets."""
        if self.split.sets is None:
            return None
        return np.stack([self.split.sets.contain(column) for column in self.best.T])

    @cached_property
    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """|p_k - N_k / N| and N_k / N of every class; None if rows have features."""
        if self.log_probability is None:
            return np.empty(0), np.empty(0)
        frequency = np.bincount(self.y, minlength=self.model.n_classes) / len(self.y)
        return np.abs(np.exp(self.log_probability) - frequency), frequency

    def blocks(self, function: BlockFunction) -> np.ndarray:
        """Apply a function to the scores (B, K) and classes (B,) of each block; gives (N,)."""
        passes = self.model.passes(self.split.X)
        return np.concatenate([function(scores, self.y[block]) for block, scores in passes])


def _of_link(
    model: Model,
    split: Split,
    draws: int,
    rng: np.random.Generator | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Log loss of every row by quadrature and, where there are draws, by importance sampling."""
    exact, sampled = np.empty(len(split)), np.empty(len(split)) if draws else None
    for block, scores in model.passes(split.X):
        y = split.y[block]
        if sampled is None or rng is None:
            exact[block] = -model.log_probabilities_of(scores, y[:, None])[:, 0]
        else:
            assert model.link
            by_rule, by_draws = likelihoods.with_importance(model.link, scores, y, draws, rng)
            exact[block], sampled[block] = -by_rule, -by_draws
    return exact, sampled


def _of_equal_rows(
    log_probability: np.ndarray, y: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row: log loss, the k best classes (N, k), log loss with softmax applied twice."""
    best = np.repeat(top_classes(log_probability[None], k), len(y), axis=0)
    probability = np.exp(log_probability)
    twice = np.log(np.exp(probability).sum()) - probability
    return -log_probability[y], best, twice[y]


def _softmax_twice(model: Model, split: Split) -> np.ndarray:
    """Log loss of every row with softmax applied twice."""
    twice = np.empty(len(split))
    for block, scores in model.passes(split.X):
        exponential = np.exp(scores - scores.max(axis=1, keepdims=True))
        probability = exponential / exponential.sum(axis=1, dtype=np.float64, keepdims=True)
        log_total = np.log(np.exp(probability).sum(axis=1, dtype=np.float64))
        twice[block] = log_total - probability[np.arange(len(scores)), split.y[block]]
    return twice
