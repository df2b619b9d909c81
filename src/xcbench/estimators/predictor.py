"""Predictions and metrics of a trained classifier, in blocks of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from xcbench.core.dataset import Rows, Split
from xcbench.core.evaluation import Extras, top_classes
from xcbench.core.metrics import evaluate
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import BLOCK_SCORES, Model
from xcbench.core.rows import take
from xcbench.errors import UserError
from xcbench.estimators import problem
from xcbench.estimators.problem import Features, Labels
from xcbench.methods import registry
from xcbench.system import threads
from xcbench.units import count

UNKNOWN = -1  # class of a label that training has not seen


def _has_probabilities(estimator: Predictor) -> bool:
    """Whether the method has a likelihood; tells scikit-learn which functions there are."""
    try:
        return registry.find(estimator._name()).thing.link is not None
    except UserError:
        return True  # the mistake is for `fit` to tell


class Predictor(ClassifierMixin, BaseEstimator):
    """Checked rows and labels, predictions and metrics of a trained linear model.

    Attributes
    ----------
    classes_ : (K,) labels in ascending order.
    """

    method: str | None
    classes_: np.ndarray
    _model: Model

    def _name(self, n_classes: int = 0) -> str:
        """Name of the method."""
        return str(self.method)

    @property
    @abstractmethod
    def dtype(self) -> str:
        """Precision of features, weights and scores."""

    def _rows(self, X: Features, reset: bool = False) -> Rows:
        """Checked features."""
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=self.dtype)
        return problem.rows(X, self.dtype)

    def _labelled(self, X: Features, y: Labels, reset: bool = True) -> tuple[Rows, np.ndarray]:
        """Checked features and labels."""
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=self.dtype, multi_output=True
        )
        check_classification_targets(y)
        return problem.rows(X, self.dtype), column_or_1d(y, warn=True)

    def _coded(self, y: np.ndarray) -> np.ndarray:
        """Class of every label; `UNKNOWN` for one that training has not seen."""
        place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        return np.where(self.classes_[place] == y, place, UNKNOWN)

    def _predictor(self, X: Features) -> tuple[Model, Rows]:
        """The model that predicts, and checked rows."""
        check_is_fitted(self)
        return self._model.corrected, self._rows(X)

    @np.errstate(all="ignore")  # `finite` tells
    def decision_function(self, X: Features) -> np.ndarray:
        """Scores of every class.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)

        Returns
        -------
        ndarray
            (N, K); for two classes (N,), the second score minus the first.
        """
        model, X = self._predictor(X)
        scores = np.empty((X.shape[0], model.n_classes), model.dtype)
        for block, part in _passes(model, X):
            scores[block] = part
        if model.n_classes > 2:
            return scores
        return scores[:, 1].astype(np.float64) - scores[:, 0]

    @np.errstate(all="ignore")  # `finite` tells
    def predict(self, X: Features) -> np.ndarray:
        """Predict the label (N,) with the highest score, in blocks of rows.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        model, X = self._predictor(X)
        best = np.empty(X.shape[0], np.int64)
        for block, scores in _passes(model, X):
            best[block] = scores.argmax(axis=1)
        return self.classes_[best]

    @available_if(_has_probabilities)
    @np.errstate(all="ignore")  # `finite` tells
    def predict_log_proba(self, X: Features) -> np.ndarray:
        """Log-probability (N, K) of every class, in float64.

        `predict_top_k` gives those of the best classes in bounded memory.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        model, X = self._predictor(X)
        return finite(model, model.log_probabilities(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Features) -> np.ndarray:
        """Probability (N, K) of every class, in float64.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_top_k(self, X: Features, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Predict the best k labels of every row, the best first, in bounded memory.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        k : number of labels; at most K.

        Returns
        -------
        labels, values : ndarray
            (N, k) labels and their log-probabilities, or scores if the method has no probabilities.
        """
        best, values = self._best(*self._predictor(X), k)
        return self.classes_[best], values

    @np.errstate(all="ignore")  # `finite` tells
    def _best(self, model: Model, X: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The best k classes of checked rows, with log-probabilities or scores."""
        if k < 1:
            raise ValueError(f"k={k} is not possible: it must be at least 1")
        k = min(k, model.n_classes)
        best = np.empty((X.shape[0], k), np.int64)
        values = np.empty((X.shape[0], k))
        for block, scores in _passes(model, X):
            best[block] = classes = top_classes(scores, k)
            if model.link is None:
                values[block] = np.take_along_axis(scores, classes, axis=1)
            else:
                values[block] = model.log_probabilities_of(scores.astype(np.float64), classes)
        return best, values

    def evaluate(self, X: Features, y: Labels, k: int = 1) -> dict[str, float]:
        """Metrics of labelled rows, exactly as the harness computes them.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        y : array of shape (N,)
            Labels, or several labels a row as in `fit`. A label unseen in training counts as an
            error; its row is left out of the log loss.
        k : int
            The k of ``precision_at_<k>``, if rows have several labels.

        Returns
        -------
        dict
            ``error``, the share of wrong predictions. ``log_loss``, the mean of -log p(y | x) in
            nats, if the method has a likelihood. With several labels a row, ``precision_at_1`` and
            ``precision_at_<k>``: the share of the best k labels that are correct.
        """
        check_is_fitted(self)
        several = problem.label_sets(y)
        if several is not None:
            return self._of_label_sets(X, *several, k)
        X, y = self._labelled(X, y, reset=False)
        codes = self._coded(y)
        labelled = np.flatnonzero(codes != UNKNOWN)
        split = (
            Split(X, codes) if len(labelled) == len(codes) else Split(X[labelled], codes[labelled])
        )
        with np.errstate(all="ignore"), threads.one():
            values = evaluate(self._model.corrected, split, Extras())
        if len(labelled) < len(codes):
            right = (1 - values.get("error", 1.0)) * len(labelled)
            values["error"] = 1 - right / len(codes)
        return values

    def _of_label_sets(
        self, X: Features, classes: np.ndarray, indicator: sp.csr_array, k: int
    ) -> dict[str, float]:
        """Precision among the best labels; rows without a label are left out."""
        some, k = np.flatnonzero(np.diff(indicator.indptr)), min(k, len(self.classes_))
        model, X = self._predictor(X)
        if X.shape[0] != indicator.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, y has {indicator.shape[0]}")
        best = self.classes_[self._best(model, X[some], k)[0]]
        place = np.minimum(np.searchsorted(classes, best), len(classes) - 1)
        has = np.asarray(indicator[some[:, None], place].todense()) & (classes[place] == best)
        values = {"precision_at_1": float(has[:, 0].mean())}
        return values | {f"precision_at_{k}": float(has.mean())}

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _passes(model: Model, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
    """Finite scores of all rows, block after block.

    Of few features, by the weights of these alone.
    """
    if _is_plain(model) and not isinstance(X, np.ndarray):
        assert isinstance(model, LinearModel)
        by_class = not model.V.flags.f_contiguous  # else it costs nothing to take all of them
        if by_class and 4 * X.nnz < X.shape[1] and X.shape[0] * model.n_classes < BLOCK_SCORES:
            scores = model.all(take(X, slice(None), model.dtype))
            yield slice(0, X.shape[0]), finite(model, scores)
            return
    for block, scores in model.passes(X):
        yield block, finite(model, scores)


def finite(model: Model, scores: np.ndarray) -> np.ndarray:
    """Scores or log-probabilities (N, K), of which each row has a largest one.

    Without probabilities, minus infinity is the score of a class without weights.

    Raises
    ------
    UserError
        If a row has none: weights or features are so large that scores overflow.
    """
    largest = scores.max(axis=1)
    bad = np.flatnonzero(~(np.isfinite(largest) if model.link else largest < np.inf))
    if len(bad):
        raise UserError(
            f"{count(len(bad), 'row')} cannot be predicted, as their scores are not finite: "
            "weights of the model, or values of the rows, are too large"
        )
    return scores


def _is_plain(model: Model) -> bool:
    """Whether scores are products with the weights and nothing else."""
    kind: Any = type(model)
    return (
        isinstance(model, LinearModel)
        and kind.passes is LinearModel.passes
        and kind._product is LinearModel._product
    )
