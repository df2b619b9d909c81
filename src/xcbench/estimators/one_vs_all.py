"""One logistic regression for each class, trained with a few sampled classes."""

from __future__ import annotations

from typing import Self

import numpy as np

from xcbench.core.objectives import sigmoid
from xcbench.estimators import problem
from xcbench.estimators.base import LinearClassifier, Seed, Span
from xcbench.estimators.problem import Features, Labels


class OneVsAllClassifier(LinearClassifier):
    """One logistic regression for each class, for rows with one label or several.

    A step on a row updates all of its labels. A few sampled negatives, never labels of the row,
    stand for all other classes.

    Parameters
    ----------
    epochs : int
        Passes over the pairs of a row and a label.
    random_state : int, RandomState or None
        Seed of all draws.
    verbose : int
        1 shows a progress bar.

    Other Parameters
    ----------------
    lr : float or "auto", optional
        Learning rate of the first epoch; by default short trials find it, see `lr_`.
    l2 : float
        lambda of lambda/2 ||(w, b)||², added to the sum over pairs.
    negatives : int
        Classes drawn for a pair.
    batch_size : int
        Pairs in a minibatch.
    optimizer : str
        ``sgd``, ``adagrad`` or ``ar``.
    lr_decay : float
        The rate is multiplied by this after each epoch.
    bias : bool
        Fit biases.
    dtype, engine : str
        As `LinearClassifier` explains them.
    **options
        All other options of the method.

    Notes
    -----
    `predict` gives the label with the highest score, also if rows have several. `predict_top_k`
    gives the best k, and `label_probabilities` the probability of each label separately.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from xcbench import OneVsAllClassifier
    >>> X, Y = make_multilabel_classification(400, n_classes=8, random_state=0)
    >>> model = OneVsAllClassifier(lr=0.002, epochs=30, random_state=0).fit(X[:300], Y[:300])
    >>> found = model.evaluate(X[300:], Y[300:], k=2)
    >>> {name: round(value, 2) for name, value in found.items()}
    {'precision_at_1': 0.87, 'precision_at_2': 0.68}
    """

    method = "one_vs_all"

    def __init__(
        self,
        *,
        epochs: int = 20,
        random_state: Seed = None,
        verbose: int = 0,
        **options: object,
    ) -> None:
        super().__init__(options)
        self.epochs = epochs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Features, y: Labels) -> Self:
        """Train.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        y : array of shape (N,), (N, K), or list of label sets
            Labels of any type; or several a row, as an indicator matrix or as collections. Rows
            without a label are left out.

        Raises
        ------
        ValueError
            If a setting is impossible, or the weights overflow.
        """
        split = self._problem(X, y, "pick_all")
        return self._run(problem.dataset(split, len(self.classes_)), Span(self.epochs))

    def label_probabilities(self, X: Features) -> np.ndarray:
        """Probability (N, K) of each label separately; those of a row do not add up to 1.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        model, rows = self._predictor(X)
        scores = np.concatenate([part for _, part in model.passes(rows)])
        return np.asarray(sigmoid(scores.astype(np.float64)))
