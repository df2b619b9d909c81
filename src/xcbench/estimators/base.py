"""Training of all estimators, and their copies on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_random_state

from xcbench.config.settings import Budget
from xcbench.core import engines
from xcbench.core.dataset import Dataset, Info, Split
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.core.solvers.minibatch import Minibatch
from xcbench.estimators import problem
from xcbench.estimators.early_stopping import Watch
from xcbench.estimators.predictor import Predictor
from xcbench.estimators.problem import Features, Labels
from xcbench.methods.method import Method
from xcbench.methods.options import AUTO, MethodOptions
from xcbench.options import Content
from xcbench.system import memory, threads
from xcbench.system.bar import Bar
from xcbench.train import rate

Seed = int | np.integer | np.random.RandomState | None
DTYPES = ("float32", "float64")
REDUCTIONS = ("one_label", "pick_all")
OVERFLOW = (
    "the weights are not finite any more after epoch {epoch}; lower lr, or scale the features"
)


class Span(NamedTuple):
    """Epochs to train, whether they follow the last training, and whether others may follow.

    A rate that depends on the number of epochs falls over the horizon; by default over these. As
    many are planned in all, where they are not known; trials of rates go by them.
    """

    epochs: int
    goes_on: bool = False
    resumable: bool = False
    horizon: float | None = None
    planned: int | None = None


class LinearClassifier(Predictor):
    """A linear classifier over the classes of its training labels: f_c(x) = x·w_c + b_c.

    A base class: use `SampledSoftmaxClassifier`, `SoftmaxClassifier`, `MarginClassifier` or
    `OneVsAllClassifier`. They take their method's options by the names and with the defaults of
    the command line, two underscores for a dot: ``tree__dimensions=8`` is
    ``method.tree.dimensions=8``; `docs/methods.md` explains them. ``get_params``, ``set_params``
    and searches know these names too.

    Parameters
    ----------
    options : Mapping of str to object, optional
        Options of the method; None leaves a default. And two for the training itself:
        ``dtype``, the precision of features, weights and scores, ``float32`` or ``float64``;
        ``engine``, which is ``numba``, ``numpy``, or ``auto``: Numba where it is installed.

    Attributes
    ----------
    classes_ : (K,) labels in ascending order.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    coef_, intercept_ : (K, D) weights and, if fitted, (K,) biases.
    lr_ : learning rate of the first epoch, of ``lr="auto"`` what trials on training rows found;
        None if the method has no rate.
    n_iter_ : epochs trained, or iterations of a full batch.
    loss_curve_ : mean training objective per sample of every epoch; in nats if the method has a
        likelihood.
    """

    lr_: float | None
    options: Mapping[str, object]
    random_state: Seed
    verbose: int
    _of_training: tuple[str, ...] = ("dtype", "engine")  # options that are none of a method

    def __init__(self, options: Mapping[str, object] | None = None) -> None:
        self.options = options or {}

    # ------------------------------------------------------------ parameters
    def get_params(self, deep: bool = True) -> Content:
        """Parameters by name, with the options that were given."""
        return {**super().get_params(deep), **self.options}

    def set_params(self, **params: object) -> Self:
        """Set parameters and options by their names; `fit` refuses unknown ones."""
        names = self._get_param_names()
        named = {name: value for name, value in params.items() if name.partition("__")[0] in names}
        options = {name: value for name, value in params.items() if name not in named}
        super().set_params(**named)
        self.options = {**self.options, **options}
        return self

    @property
    def dtype(self) -> str:
        """Precision of features, weights and scores."""
        return self._one_of("dtype", DTYPES)

    @property
    def engine(self) -> str:
        """What computes: ``numba``, ``numpy`` or ``auto``."""
        return self._one_of("engine", engines.ENGINES)

    def _one_of(self, name: str, possible: Sequence[str]) -> str:
        """An option of the training itself, by default the first."""
        value = str(self.options.get(name, possible[0]))
        if value not in possible:
            raise ValueError(f"{name}={value} must be one of {', '.join(possible)}")
        return value

    def _defaults(self) -> dict[str, object]:
        """Options of the method that differ from those of the command line."""
        return {}

    def _of_method(self) -> dict[str, object]:
        """Options of the method by their names."""
        given = {name.replace("__", "."): value for name, value in self.options.items()}
        return self._defaults() | {n: v for n, v in given.items() if n not in self._of_training}

    # ------------------------------------------------------------ rows and labels
    def _problem(self, X: Features, y: Labels, reduction: str) -> Split:
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

    def _continued(self, X: Features, y: Labels, reduction: str) -> Split:
        """As `_problem`, for weights that are there; of another problem nothing is taken over."""
        before = dict(vars(self))
        try:
            split = self._problem(X, y, reduction)
            if not np.array_equal(before["classes_"], self.classes_):
                raise ValueError("warm_start continues with the same classes; y has other ones")
            if before["n_features_in_"] != self.n_features_in_:
                raise ValueError(
                    f"warm_start continues with {before['n_features_in_']} features; X has "
                    f"{self.n_features_in_}"
                )
        except ValueError:
            self.__dict__.update(before)
            raise
        return split

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
    def _prepare(
        self, dataset: Dataset, options: Mapping[str, object], span: Span, copies: int
    ) -> tuple[Method, MethodOptions]:
        """The method and its settings; these and the problem's statistics are remembered.

        A rate that trials are to find is that of the training which goes on, if one does. Of the
        weights so many copies are kept.
        """
        method, settings = problem.settings(
            self._name(dataset.info.classes), {**self._of_method(), **options}, dataset.info
        )
        self._settings, self._info = settings, dataset.info
        self._check_memory(method, span.epochs, copies)  # before trials take it
        if settings.lr == AUTO:
            lr = self.lr_ if span.goes_on else self._rate(method, settings, dataset, span)
            settings = replace(settings, lr=lr)
        self.lr_, self._settings = settings.lr, settings
        return method, settings

    def _rate(self, method: Method, settings: MethodOptions, dataset: Dataset, span: Span) -> float:
        """The rate that trials find."""
        problem = method, settings, dataset.info, dataset, engines.resolve(self.engine), self.dtype
        with threads.one():
            return rate.search(*problem, self._seed(), Budget(span.planned or span.epochs)).lr

    def _check_memory(self, method: Method, epochs: int, copies: int) -> None:
        """Refuse weights, with copies of them, that do not fit, before they are allocated."""
        info, itemsize = self._info, np.dtype(self.dtype).itemsize
        kept = copies * info.classes * (info.features + 1) * itemsize
        memory.check(
            method.memory(self._settings, info, itemsize, epochs) + kept,
            f"method {method.name} on {info.classes:,} classes and {info.features:,} features",
            "use fewer features, a method with sparse weights (memoir_l2), or a machine with more "
            "memory",
        )

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
        span: Span,
        watch: Watch | None = None,
        options: Mapping[str, object] | None = None,
    ) -> Self:
        """Train for some epochs; options override the parameters."""
        epochs, goes_on, resumable, horizon, _ = span
        if not isinstance(epochs, int | np.integer) or epochs < 1:
            raise ValueError(f"epochs={epochs!r} is not possible: it must be an integer above 0")
        if goes_on and "W" in self.state_ and self.state_["W"].dtype != self.dtype:
            raise ValueError(f"dtype={self.dtype}: the weights are {self.state_['W'].dtype}")
        with problem.value_errors():
            method, settings = self._prepare(dataset, options or {}, span, int(watch is not None))
            solver = method.build(settings, dataset.info).over(horizon or epochs)
            model = self._empty(method, solver, self.state_ if goes_on else {})
        if not goes_on:
            self.n_iter_, self._streams = 0, Streams.of(self._seed())
            self.loss_curve_: list[float] = []
            self._memory: dict[str, np.ndarray] = {}
        if isinstance(solver, Minibatch) and self._memory:
            solver.optimizer = solver.optimizer.resumed(self._memory)
        with np.errstate(all="ignore"), threads.one():  # the same numbers on any machine
            self._train(solver.fit, dataset, model, int(solver.epochs or epochs), watch)
        self._memory = (
            solver.optimizer.state() if isinstance(solver, Minibatch) and resumable else {}
        )
        self._keep(solver, model)
        if watch:
            watch.put_back(self.state_)
        return self

    def _train(
        self,
        fit: Callable[..., Iterator[Progress]],
        dataset: Dataset,
        model: Model,
        epochs: int,
        watch: Watch | None,
    ) -> None:
        """Pull a solver from epoch to epoch, until it or the watch ends."""
        bar, stops = Bar("epoch", epochs, bool(self.verbose)), np.arange(1.0, epochs + 1).tolist()
        seen = 0
        for epoch, progress in enumerate(fit(dataset, model, self._streams, stops)):
            if not epoch:
                if watch:
                    watch.measure(model)
                continue
            idle = progress.observations == seen  # of a batch larger than an epoch
            seen = progress.observations
            if not (model.finite() and (idle or np.isfinite(progress.objective))):
                raise ValueError(OVERFLOW.format(epoch=epoch))
            steps = progress.earlier or [progress]
            self.loss_curve_ += [float(step.objective) for step in steps]
            self.n_iter_ += len(steps)
            ends = watch is not None and watch.sees(model)
            bar.show(epoch, f"loss {self.loss_curve_[-1]:.4g}{watch.shown() if watch else ''}")
            if ends:
                break
        bar.end()

    def _keep(self, solver: Solver, model: Model) -> None:
        """Remember the trained model."""
        self.state_ = model.state()
        if isinstance(solver, Minibatch):
            self.state_ |= solver.sampler.state()
        if not model.weights():
            name = self._name(len(self.classes_))
            raise ValueError(
                f"method={name} has no weights of ours that could be kept; "
                f"`xcbench run method={name}` trains it"
            )
        self._model = model

    # ------------------------------------------------------------ what was learnt
    @property
    def _is_trained(self) -> bool:
        return "state_" in vars(self)

    @property
    def coef_(self) -> np.ndarray:
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

    # ------------------------------------------------------------ copies on disk
    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        if "_model" in state:
            del state["_model"]
            state["_streams"] = list(vars(self._streams).values())
            state["_settings"], state["_info"] = asdict(self._settings), asdict(self._info)
        return state

    def __setstate__(self, state: Content) -> None:
        state = dict(state)
        if "_info" in state:
            info = Info(**state.pop("_info"))
            settings = state.pop("_settings")
            state["_streams"] = Streams(*state["_streams"])
            super().__setstate__(state)
            self._restore(info, settings)
        else:
            super().__setstate__(state)

    def _restore(self, info: Info, settings: Mapping[str, object], **how: Any) -> None:
        """Make the model of `state_` again, as `_empty` does."""
        self._info = info
        options = {name: value for name, value in settings.items() if name != "name"}
        method, self._settings = problem.settings(self._name(info.classes), options, info)
        solver = method.build(self._settings, info)
        self._model = self._empty(method, solver, self.state_, **how)
        if isinstance(solver, Minibatch):
            self._model.correction = solver.sampler.restored(self.state_).correction
