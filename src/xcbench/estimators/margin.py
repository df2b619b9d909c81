"""Multi-class support vector machines; they rank classes and give no probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from sklearn.exceptions import ConvergenceWarning

from xcbench.estimators import problem
from xcbench.estimators.base import LinearClassifier, Seed, Span
from xcbench.estimators.problem import Features, Labels
from xcbench.units import count

MANY = 2_000  # classes, from which on machines of one class against all others take minutes


@contextmanager
def _one_warning() -> Iterator[None]:
    """Replace the warnings of a library for every class by one that says what to do."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield
    limited = [entry for entry in caught if issubclass(entry.category, ConvergenceWarning)]
    for entry in caught:
        if entry not in limited:
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    if limited:
        warnings.warn(
            f"{count(len(limited), 'call')} of LIBLINEAR ended at the limit of iterations: scale "
            "the features, lower C, or raise iterations (1000)",
            ConvergenceWarning,
            stacklevel=4,
        )


class MarginClassifier(LinearClassifier):
    """Multi-class support vector machines for many classes; scores without probabilities.

    Parameters
    ----------
    method : str, optional
        By default ``svm_ovr``, and from 2,000 classes on ``cluster_svm``.
        ``svm_ovr``: one-vs-rest, by LIBLINEAR. ``svm_cs``: Crammer and Singer's, by LIBLINEAR.
        ``memoir_l2``, ``memoir_l1``: MEMOIR, with sparse weights. ``class_sums``: the weights of a
        class are the sum of its rows. ``gbce``, ``snm``, ``sce``: logistic losses and softmax that
        rank classes, by steps on a few chosen ones. ``cluster_svm``: one-vs-rest within clusters of
        labels, for thousands of them; with ``pick_all`` it trains on all labels of a row.
        ``mach``: softmax over hashed classes, where there are too many for weights of each.
    epochs : int
        Passes over the rows, for ``memoir_l2`` and ``memoir_l1``.
    reduction : str
        For rows with several labels. ``one_label``: the smallest label is the class. ``pick_all``:
        each label is a sample; with ``labels="all"``, ``svm_ovr`` takes all labels of a row as
        positives, as one-vs-rest libraries do.
    random_state : int, RandomState or None
        Seed of all draws: an integer gives the weights of ``seed=`` on the command line.
    verbose : int
        1 shows a progress bar.

    Other Parameters
    ----------------
    lr : float, optional
        Learning rate, for ``memoir_l2`` and ``memoir_l1``.
    batch_size : int
        Samples in a batch, for these two.
    C : float
        Weight of the losses, for ``svm_ovr`` and ``svm_cs``. Their library warns if 1000 iterations
        are too few: ``iterations=100_000`` raises the limit.
    bias : bool
        Fit biases. The MEMOIR paper appends a constant feature 1.
    dtype, engine : str
        As `LinearClassifier` explains them.
    **options
        All other options of the method, such as ``oracle="simple_lsh"``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from xcbench import MarginClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> train, test = slice(0, 1437), slice(1437, None)
    >>> model = MarginClassifier("memoir_l2", random_state=0).fit(X[train] / 16, y[train])
    >>> round(model.score(X[test] / 16, y[test]), 3)
    0.853
    """

    def __init__(
        self,
        method: str | None = None,
        *,
        epochs: int = 20,
        reduction: str = "one_label",
        random_state: Seed = None,
        verbose: int = 0,
        **options: object,
    ) -> None:
        super().__init__(options)
        self.method = method
        self.epochs = epochs
        self.reduction = reduction
        self.random_state = random_state
        self.verbose = verbose

    def _name(self, n_classes: int = 0) -> str:
        """The method, or the default one."""
        return self.method or ("cluster_svm" if n_classes >= MANY else "svm_ovr")

    def fit(self, X: Features, y: Labels) -> Self:
        """Train.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        y : array of shape (N,), (N, K), or list of label sets
            Labels of any type; or several a row, as an indicator matrix or as collections.

        Raises
        ------
        ValueError
            If a setting is impossible, or the weights overflow.
        """
        split = self._problem(X, y, self.reduction)
        with _one_warning():
            self._run(problem.dataset(split, len(self.classes_)), Span(self.epochs))
        if self.lr_ is None:  # a library's or a sum: nothing of ours is minimised
            self.loss_curve_ = []
        return self
