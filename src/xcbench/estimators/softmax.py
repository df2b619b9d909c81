"""Softmax regression, or a bound of it, optimised over all rows and classes."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from xcbench.core.dataset import Split
from xcbench.estimators import problem
from xcbench.estimators.base import LinearClassifier, Seed, Span
from xcbench.estimators.problem import Features, Labels

LBFGS = "lbfgs"


class SoftmaxClassifier(LinearClassifier):
    """Softmax regression, or a bound of its likelihood, minimised by L-BFGS in float64.

    For up to a few hundred classes; each step visits all rows and all classes.

    Parameters
    ----------
    method : str
        ``softmax``; or a lower bound of its likelihood, ``ove`` (one-vs-each) or ``bouchard``.
    reduction : str
        For rows with several labels. ``one_label``: the smallest label is the class. ``pick_all``:
        each label is a sample.
    warm_start : bool
        Start a fit from the weights of the last one.
    random_state : int, RandomState or None
        Has no effect: training is deterministic.
    verbose : int
        1 prints a line when training ends.

    Other Parameters
    ----------------
    l2 : float
        lambda of lambda/2 ||(w, b)||², added to the weighted sum over samples; 1 by default, as
        C = 1 of scikit-learn's `LogisticRegression`. Without it (0) rows that can be separated
        have no optimum, and probabilities of other rows become worse and worse.
    tolerance : float
        Stop at this largest component of the gradient of the mean objective; 1e-4 by default, as
        `LogisticRegression`. The command line's default, for papers, is 1e-5.
    iterations : int
        Stop after this many.
    bias : bool
        Fit biases.
    engine : str
        As `LinearClassifier` explains it.
    **options
        All other options of the method.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from xcbench import SoftmaxClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> train, test = slice(0, 1437), slice(1437, None)
    >>> model = SoftmaxClassifier(l2=1.0).fit(X[train] / 16, y[train])
    >>> round(model.score(X[test] / 16, y[test]), 3)
    0.906
    """

    _of_training = ("engine",)

    def __init__(
        self,
        method: str = "softmax",
        *,
        reduction: str = "one_label",
        warm_start: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
        **options: object,
    ) -> None:
        super().__init__(options)
        self.method = method
        self.reduction = reduction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @property
    def dtype(self) -> str:
        """Precision: that of L-BFGS."""
        return "float64"

    def _defaults(self) -> dict[str, object]:
        return {"solver": LBFGS, "l2": 1.0, "tolerance": 1e-4}

    def fit(self, X: Features, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Train.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        y : array of shape (N,), (N, K), or list of label sets
            Labels of any type; or several a row, as an indicator matrix or as collections.
        sample_weight : array of shape (N,), optional
            Number of times each sample counts. Not available for rows with several labels.

        Raises
        ------
        ValueError
            If a setting is impossible, or there are fewer than two classes.
        """
        goes_on = self.warm_start and self._is_trained
        before = (self.classes_, self.n_features_in_) if goes_on else ((), 0)
        if sample_weight is None:
            split = self._problem(X, y, self.reduction)
        else:
            X, y = self._labelled(X, y)
            weight = _weights(sample_weight, len(y))
            some = np.flatnonzero(weight)
            split = Split(X[some], self._number(y[some]), weight=weight[some])
        dataset = problem.dataset(split, len(self.classes_))
        goes_on = np.array_equal(before[0], self.classes_) and before[1] == self.n_features_in_
        of_these = {"init": "zero"} if goes_on else {}  # from the weights that are there
        return self._run(dataset, Span(1, goes_on), options=of_these)


def _weights(sample_weight: ArrayLike, n_rows: int) -> np.ndarray:
    """Checked weights (N,) of the samples."""
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has the shape {weight.shape}, it must be ({n_rows},)")
    if (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must be at least 0, and not zero for every sample")
    return np.asarray(weight)
