"""Softmax regression over many classes, by stochastic gradient steps on sampled classes."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from xcbench.core.dataset import Split
from xcbench.estimators import problem
from xcbench.estimators.base import LinearClassifier, Seed, Span
from xcbench.estimators.early_stopping import EarlyStopping, Watch, automatic
from xcbench.estimators.problem import Features, Labels
from xcbench.methods import registry
from xcbench.methods.options import AUTO


class SampledSoftmaxClassifier(LinearClassifier):
    """Softmax, probit or logistic regression over many classes, trained on sampled classes.

    An epoch costs about the same for ten classes and for a hundred thousand.

    Parameters
    ----------
    method : str
        ``implicit``, ``umax``, ``vanilla``, ``ove``, ``ove_grouped``, ``is``, ``nce``,
        ``negative_sampling``, ``bouchard``, ``ar_softmax``, ``ar_probit``, ``ar_logistic``,
        ``css``, ``scent``, ``lse_softplus``;
        ``softmax``: minibatches over all classes; or one of your own, ``module.method``.
    epochs : int
        Passes over the rows.
    reduction : str
        For rows with several labels. ``one_label``: the smallest label is the class, as in the
        papers. ``pick_all``: each label is a sample.
    early_stopping : EarlyStopping, "auto" or None
        Hold out rows, stop when their log loss stops falling, and keep the best weights.
        ``"auto"``: where trials find the rate and a class has fewer than 25 rows on average, hold
        out up to 200, train to the end, and keep the weights of the best epoch. None: never.
    warm_start : bool
        Start a fit from the weights of the last one.
    random_state : int, RandomState or None
        Seed of all draws: an integer gives the weights of ``seed=`` on the command line, if no
        rows are held out.
    verbose : int
        1 shows a progress bar.

    Other Parameters
    ----------------
    lr : float or "auto", optional
        Learning rate of the first epoch; by default short trials find it, see `lr_`.
    l2 : float
        lambda of lambda/2 ||(w, b)||², added to the sum over samples.
    negatives : int
        Negatives: classes sampled for each sample.
    sampler : str
        Proposal of the negatives: ``shared``, ``others``, ``any``, ``drop_hits``, ``all``,
        ``uniform``, ``frequency``, ``tree``, ``clusters``, ``softmax``, ``kernel``, ``rff``,
        ``midx``, ``in_batch``; each method supports some of these.
    batch_size : int
        Samples in a minibatch.
    optimizer : str
        ``sgd``, ``adagrad`` or ``ar``.
    lr_decay : float
        The rate is multiplied by this after each epoch.
    init : str
        Weights before training: ``zero``, ``normal``, ``glorot``, ``normalised``, ``prior``.
    bias : bool
        Fit biases.
    dtype, engine : str
        As `LinearClassifier` explains them.
    **options
        All other options of the method, such as ``delta=2.0`` or ``tree__dimensions=8``.

    Attributes
    ----------
    validation_loss_curve_ : log loss of the held-out rows after every epoch, with early stopping.

    Notes
    -----
    `partial_fit` is one pass over its rows at rate `lr`, without decay. The optimizer keeps its
    state between calls; local variables of the rows (u, alpha, eta) start again.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from xcbench import SampledSoftmaxClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> train, test = slice(0, 1437), slice(1437, None)
    >>> model = SampledSoftmaxClassifier("umax", random_state=0).fit(X[train] / 16, y[train])
    >>> round(model.score(X[test] / 16, y[test]), 3)
    0.9
    >>> labels, log_p = model.predict_top_k(X[test][:1] / 16, k=3)
    >>> labels, log_p.round(2)
    (array([[2, 3, 8]]), array([[ -0.  , -15.55, -20.6 ]]))
    """

    def __init__(
        self,
        method: str = "implicit",
        *,
        epochs: int = 20,
        reduction: str = "one_label",
        early_stopping: EarlyStopping | str | None = "auto",
        warm_start: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
        **options: object,
    ) -> None:
        super().__init__(options)
        self.method = method
        self.epochs = epochs
        self.reduction = reduction
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _defaults(self) -> dict[str, object]:
        # Minibatches of exact softmax; a library's optimum is another class.
        return {"solver": "minibatch"} if self.method == "softmax" else {}

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
        goes_on = self.warm_start and self._is_trained
        split = (self._continued if goes_on else self._problem)(X, y, self.reduction)
        watch, rule = None, self._rule(len(split))
        if rule:
            rest, split = split.divided(rule.validation_fraction, self._seed())
            watch = Watch(rest, rule)
            self.validation_loss_curve_ = watch.curve
        dataset = problem.dataset(split, len(self.classes_))
        overrides: dict[str, object] = {"init": "zero"} if goes_on else {}
        return self._run(dataset, Span(self.epochs, goes_on, self.warm_start), watch, overrides)

    def _rule(self, rows: int) -> EarlyStopping | None:
        """Rule by which training ends; "auto" has one where it may be needed."""
        rule = self.early_stopping
        if rule is None:
            return None
        if isinstance(rule, EarlyStopping):
            rule.check()
            return rule
        if rule != AUTO:
            raise ValueError(f"early_stopping={rule!r} must be an EarlyStopping, 'auto' or None")
        if self.options.get("lr") not in (None, AUTO):
            return None
        with problem.value_errors():
            method = registry.find(self._name()).thing
        return automatic(method, rows, len(self.classes_))

    def partial_fit(self, X: Features, y: Labels, classes: ArrayLike | None = None) -> Self:
        """Train by one pass over some rows; the first call needs all classes.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        y : array of shape (N,)
        classes : array of shape (K,)
            All labels; required in the first call only.
        """
        first = not self._is_trained
        if first and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        X, y = self._labelled(X, y, reset=first)
        if first:
            self._number(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} are not those of the first call of partial_fit")
        codes = self._coded(y)
        if (codes < 0).any():
            raise ValueError(f"y has a label {y[codes.argmin()]!r} that is not among the classes")
        info = None if first else self._info
        dataset = problem.dataset(Split(X, codes), len(self.classes_), info)
        overrides: dict[str, object] = {}
        if not first:
            overrides = {"init": "zero", "lr": self.options.get("lr") or self.lr_}
        span = Span(1, not first, True, math.inf, self.epochs)
        return self._run(dataset, span, options=overrides)
