"""The class prior as the start of training: biases at which a model without weights predicts it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcbench.core.dataset import Dataset
from xcbench.core.likelihoods import LINKS, Moments, moments
from xcbench.core.models.linear import LinearModel

PRIOR = "prior"  # as a start of the weights
STEPS = 100
CONVERGED = 1e-9


@dataclass(frozen=True)
class Prior:
    """Scores whose probabilities are p_c = (n_c + 1) / (N + K), n_c the training rows of c.

    Attributes
    ----------
    log_p : (K,) log p_c. Where every class is a regression of its own, N counts rows with several
        labels once, and p_c is the probability of the label; else N counts labels, so that the
        p_c add up to 1.
    scores : (K,) biases b: log p under softmax; log p - log(1 - p) where every class is a logistic
        regression of its own; the solution of P(c | b) = p_c under the other links.
    link : of the model, as in `xcbench.core.models.model.Model`.
    """

    log_p: np.ndarray
    scores: np.ndarray
    link: str | None

    @classmethod
    def of(cls, dataset: Dataset, link: str | None) -> Prior:
        """The prior of the training rows."""
        counts = dataset.class_counts
        rows = float(counts.sum()) if link else _rows(dataset)
        log_p = np.log((counts + 1.0) / (rows + len(counts)))
        if link in LINKS:
            return cls(log_p, solved(link, log_p), link)
        return cls(log_p, log_p if link else log_p - np.log(-np.expm1(log_p)), link)

    def log_odds(self, y: np.ndarray) -> np.ndarray:
        """T = log sum_{k != y} e^{f_k - f_y} (B,) of classes under softmax: log((1 - p) / p)."""
        log_p = self.log_p[y]
        return np.asarray(np.log(-np.expm1(log_p)) - log_p)

    def errors(self, y: np.ndarray) -> Moments:
        """Moments (B,) of the error eps_y of classes, given that y is observed."""
        assert self.link in LINKS
        distinct, place, sizes = np.unique(self.scores, return_inverse=True, return_counts=True)
        of = moments(self.link, distinct, sizes)
        return Moments(*(column[place[y]] for column in of))


def _rows(dataset: Dataset) -> float:
    """Training rows, those of several labels once."""
    sets = dataset.train.sets
    part = dataset.info.train / len(dataset.train)  # 1, unless these are some of the rows
    return part * (len(dataset.train) if sets is None else float(sets.weight.sum()))


def begin(
    model: LinearModel, dataset: Dataset, rng: np.random.Generator, init: str
) -> Prior | None:
    """Weights before training; gives the prior where the model now predicts it.

    A model that adds the same log p_n to every row's scores starts at log p - log p_n. One that
    adds those of a tree, which sees the row, starts at the tree's own probabilities; one without
    biases at 0.
    """
    model.draw(rng, "zero" if init == PRIOR else init)
    if init != PRIOR or model.b is None:
        return None
    prior = Prior.of(dataset, model.link)
    term = model.correction(dataset.train.X[:1]) if model.correction else np.zeros(1)
    if term.ndim == 1:
        model.b[...] = prior.scores - np.where(np.isfinite(term), term, 0.0)
    return prior


def solved(link: str, log_p: np.ndarray) -> np.ndarray:
    """Biases b with log P(c | b) = log p_c, by Newton's steps along each coordinate.

    Classes of one frequency share a bias, so the cost grows with the number of different ones.
    """
    distinct, place, sizes = np.unique(log_p, return_inverse=True, return_counts=True)
    b = distinct.copy()
    for _ in range(STEPS):
        of = moments(link, b, sizes)
        change = np.clip((distinct - of.log_p) / of.slope, -1.0, 1.0)
        b += change
        if np.abs(change).max() <= CONVERGED:
            break
    return np.asarray(b[place])
