"""Shared by all estimators: input checks, training, and prediction in blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from xcbench import threads
from xcbench.bar import Bar
from xcbench.core import engines
from xcbench.core.dataset import Dataset, Info, Rows, Split
from xcbench.core.evaluation import Extras, top_classes
from xcbench.core.metrics import evaluate
from xcbench.core.models.linear import LinearModel
from xcbench.core.models.model import BLOCK_SCORES, Model
from xcbench.core.rows import take
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.minibatch import Minibatch
from xcbench.errors import UserError
from xcbench.estimators import problem
from xcbench.estimators.early_stopping import Watch
from xcbench.methods import registry
from xcbench.methods.method import Method
from xcbench.methods.options import MethodOptions

REDUCTIONS = ("one_label", "pick_all")
UNKNOWN = -1  # class of a label that training has not seen
OVERFLOW = (
    "the weights are not finite any more after epoch {epoch}; lower lr, or scale the features"
)


def _has_probabilities(estimator: LinearClassifier) -> bool:
    """Whether the method has a likelihood; tells scikit-learn which functions there are."""
    try:
        return registry.find(estimator.method).thing.link is not None
    except UserError:
        return True  # the mistake is for `fit` to tell


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """A linear classifier over the classes of its training labels: f_c(x) = x·w_c + b_c.

    A base class: use `SampledSoftmaxClassifier`, `SoftmaxClassifier`, `MarginClassifier` or
    `OneVsAllClassifier`.

    Attributes
    ----------
    classes_ : (K,) labels in ascending order.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    coef_, intercept_ : (K, D) weights and, if fitted, (K,) biases.
    lr_ : learning rate of the first epoch; None if the method has no rate.
    n_iter_ : epochs trained, or iterations of a full batch.
    loss_curve_ : mean training objective per sample of every epoch; in nats if the method has a
        likelihood.
    """

    method: str
    bias: bool | None
    options: Mapping[str, Any] | None
    dtype: str
    engine: str
    random_state: Any
    verbose: int

    @abstractmethod
    def _options(self) -> dict[str, Any]:
        """Options of the method among the parameters, by their names; None leaves a default."""

    # ------------------------------------------------------------ rows and labels
    def _rows(self, X: Any, reset: bool = False) -> Rows:
        """Checked features."""
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=self.dtype)
        return problem.rows(X, self.dtype)

    def _labelled(self, X: Any, y: Any, reset: bool = True) -> tuple[Rows, np.ndarray]:
        """Checked features and labels."""
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=self.dtype, multi_output=True
        )
        check_classification_targets(y)
        return problem.rows(X, self.dtype), column_or_1d(y, warn=True)

    def _problem(self, X: Any, y: Any, reduction: str) -> Split:
        """Checked training rows of one class each; numbers the classes."""
        several = problem.label_sets(y)
        if several is None:
            X, y = self._labelled(X, y)
            return Split(X, self._number(y))
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction={reduction!r} must be one of {', '.join(REDUCTIONS)}")
        X = self._rows(X, reset=True)
        self.classes_, indicator = several
        if X.shape[0] != indicator.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, y has {indicator.shape[0]}")
        if len(self.classes_) < 2 or not indicator.nnz:
            raise ValueError("y has fewer than two classes; training needs at least two")
        return problem.reduced(X, indicator, reduction)

    def _coded(self, y: np.ndarray) -> np.ndarray:
        """Class of every label; `UNKNOWN` for one that training has not seen."""
        place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        return np.where(self.classes_[place] == y, place, UNKNOWN)

    def _number(self, y: np.ndarray) -> np.ndarray:
        """Number the classes, ascending."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class alone, {self.classes_[0]!r}; give it at least two")
        return codes

    def _seed(self) -> int:
        """Seed of all draws: an integer as it is, else one that the generator draws."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    # ------------------------------------------------------------ training
    def _prepare(self, dataset: Dataset, **given: Any) -> tuple[Method, MethodOptions]:
        """The method and its settings; these and the problem's statistics are remembered."""
        wanted = {**self._options(), "bias": self.bias, **(self.options or {}), **given}
        method, settings = problem.settings(self.method, wanted, dataset.info)
        self.lr_, self._settings, self._info = settings.lr, settings, dataset.info
        return method, settings

    def _empty(
        self,
        method: Method,
        solver: Solver,
        state: Mapping[str, np.ndarray],
        need: Any = ("C", "W"),
        engine: str = "",
    ) -> Model:
        """Model of the solver's kind, with the weights of a state where there are any.

        Parameters
        ----------
        need : how the weights must lie in memory; as NumPy says it.
        engine : in the place of the estimator's.
        """
        info, engine = self._info, engine or engines.resolve(self.engine)
        model = solver.make_model(
            engine, info.classes, info.features, self._settings.bias, self.dtype
        )
        model.link = method.link
        if state:
            model.restore({name: np.require(array, None, need) for name, array in state.items()})
        return model

    def _run(
        self,
        dataset: Dataset,
        epochs: int,
        watch: Watch | None = None,
        goes_on: bool = False,
        resumable: bool = False,
        **given: Any,
    ) -> Self:
        """Train from the start, or from where the last training ended.

        Parameters
        ----------
        resumable : whether what the optimizer remembers is kept for later.
        given : options in the place of the parameters.
        """
        with problem.value_errors():
            method, settings = self._prepare(dataset, **given)
            solver = method.build(settings, dataset.info)
            model = self._empty(method, solver, self.state_ if goes_on else {})
        if not goes_on:
            self.n_iter_, self._streams = 0, Streams.of(self._seed())
            self.loss_curve_: list[float] = []
            self._memory: dict[str, np.ndarray] = {}
        if isinstance(solver, Minibatch) and self._memory:
            solver.optimizer = solver.optimizer.resumed(self._memory)
        watch = watch or Watch()
        with np.errstate(all="ignore"), threads.one():  # the same numbers on any machine
            self._train(solver.fit, dataset, model, int(solver.epochs or epochs), watch)
        self._memory = (
            solver.optimizer.state() if isinstance(solver, Minibatch) and resumable else {}
        )
        self._keep(solver, model)
        watch.put_back(self.state_)
        return self

    def _train(
        self,
        fit: Callable[..., Iterator[Progress]],
        dataset: Dataset,
        model: Model,
        epochs: int,
        watch: Watch,
    ) -> None:
        """Pull a solver from epoch to epoch, until it or the watch ends."""
        bar, stops = Bar("epoch", epochs, bool(self.verbose)), np.arange(1.0, epochs + 1).tolist()
        seen = 0
        for epoch, progress in enumerate(fit(dataset, model, self._streams, stops)):
            if not epoch:
                continue
            idle = progress.observations == seen  # of a batch larger than an epoch
            seen = progress.observations
            if not (model.finite() and (idle or np.isfinite(progress.objective))):
                raise ValueError(OVERFLOW.format(epoch=epoch))
            steps = progress.earlier or [progress]
            self.loss_curve_ += [float(step.objective) for step in steps]
            self.n_iter_ += len(steps)
            ends = watch.sees(model)
            bar.show(epoch, f"loss {self.loss_curve_[-1]:.4g}{watch.told()}")
            if ends:
                break
        bar.end()

    def _keep(self, solver: Solver, model: Model) -> None:
        """Remember the trained model."""
        self.state_ = model.state()
        if isinstance(solver, Minibatch):
            self.state_ |= solver.sampler.state()
        if not self.state_:
            raise ValueError(
                f"method={self.method} has no weights of ours that could be kept; "
                f"`xcbench run method={self.method}` trains it"
            )
        self._model = model

    # ------------------------------------------------------------ what was learnt
    @property
    def coef_(self) -> Any:
        """Weights (K, D)."""
        return self._weights()["W"]

    @property
    def intercept_(self) -> np.ndarray:
        """Biases (K,)."""
        return self._weights()["b"]

    def _weights(self) -> dict[str, np.ndarray]:
        try:
            return vars(self)["state_"]
        except KeyError:
            raise AttributeError("there are no weights before fit") from None

    def _predictor(self, X: Any) -> tuple[Model, Rows]:
        """The model that predicts, and checked rows."""
        check_is_fitted(self)
        return self._model.corrected, self._rows(X)

    # ------------------------------------------------------------ predictions
    def decision_function(self, X: Any) -> np.ndarray:
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

    def predict(self, X: Any) -> np.ndarray:
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
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log-probability (N, K) of every class, in float64.

        `predict_top_k` gives those of the best classes in bounded memory.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        model, X = self._predictor(X)
        return model.log_probabilities(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability (N, K) of every class, in float64.

        Parameters
        ----------
        X : array or sparse array of shape (N, D)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_top_k(self, X: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
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

    def evaluate(self, X: Any, y: Any, k: int = 1) -> dict[str, float]:
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
        known = np.flatnonzero(codes != UNKNOWN)
        split = Split(X, codes) if len(known) == len(codes) else Split(X[known], codes[known])
        with np.errstate(all="ignore"), threads.one():
            values = evaluate(self._model.corrected, split, Extras())
        if len(known) < len(codes):
            right = (1 - values.get("error", 1.0)) * len(known)
            values["error"] = 1 - right / len(codes)
        return values

    def _of_label_sets(
        self, X: Any, classes: np.ndarray, indicator: Any, k: int
    ) -> dict[str, float]:
        """Precision among the best labels; rows without a label are left out."""
        some = np.flatnonzero(np.diff(indicator.indptr))
        model, X = self._predictor(X)
        best = self.classes_[self._best(model, X[some], k)[0]]
        place = np.minimum(np.searchsorted(classes, best), len(classes) - 1)
        has = np.asarray(indicator[some[:, None], place].todense()) & (classes[place] == best)
        values = {"precision_at_1": float(has[:, 0].mean())}
        return values | {f"precision_at_{k}": float(has.mean())}

    # ------------------------------------------------------------ copies on disk
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_model" in state:
            del state["_model"]
            state["_streams"] = list(vars(self._streams).values())
            state["_settings"], state["_info"] = asdict(self._settings), asdict(self._info)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_info" in state:
            info = Info(**state.pop("_info"))
            settings = state.pop("_settings")
            state["_streams"] = Streams(*state["_streams"])
            super().__setstate__(state)
            self._restore(info, settings)
        else:
            super().__setstate__(state)

    def _restore(self, info: Info, settings: Mapping[str, Any], **how: Any) -> None:
        """Make the model of `state_` again, as `_empty` does."""
        self._info = info
        given = {name: value for name, value in settings.items() if name != "name"}
        method, self._settings = problem.settings(self.method, given, info)
        solver = method.build(self._settings, info)
        self._model = self._empty(method, solver, self.state_, **how)
        if isinstance(solver, Minibatch):
            self._model.correction = solver.sampler.restored(self.state_).correction

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _passes(model: Model, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
    """Scores of all rows, block after block; of few features, by the weights of these alone."""
    if _is_plain(model) and not isinstance(X, np.ndarray):
        assert isinstance(model, LinearModel)
        by_class = not model.V.flags.f_contiguous  # else it costs nothing to take all of them
        if by_class and 4 * X.nnz < X.shape[1] and X.shape[0] * model.n_classes < BLOCK_SCORES:
            yield slice(0, X.shape[0]), model.all(take(X, slice(None), model.dtype))
            return
    yield from model.passes(X)


def _is_plain(model: Model) -> bool:
    """Whether scores are products with the weights and nothing else."""
    kind: Any = type(model)
    return (
        isinstance(model, LinearModel)
        and kind.passes is LinearModel.passes
        and kind._product is LinearModel._product
    )
