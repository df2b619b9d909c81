"""Adapters to existing libraries: the same datasets, clocks, memory meter and metrics as our own.

A file here is a library, or a rule as simple as one; at its end are its methods, which
`xcbench.methods.registry` looks up. What cannot be interrupted yields at its start and its end.
"""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Info, Rows, Split
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.methods.method import Method
from xcbench.methods.options import MethodOptions

RANKED = 100  # classes a row that a label tree ranks


def restart_rand() -> None:
    """Set C's ``rand`` back to its start: LIBLINEAR in some libraries draws rows by it, unseeded.

    Without this, a model would depend on what the same process trained before.
    """
    ctypes.CDLL(None).srand(1)


class Library(Model):
    """What a library trained, and predicts classes with; its weights are its own.

    Attributes
    ----------
    predictor : rows to classes (N,), once it is trained.
    ranker : rows to scores (N, K) of their best classes alone, where it ranks any.
    size : bytes of the model as the library keeps or saves it.
    """

    link = None

    def __init__(self, engine: str, n_classes: int, n_features: int, bias: bool, dtype: str):
        self.engine, self.classes, self.size = engine, n_classes, 0
        self.predictor: Callable[[Rows], np.ndarray] | None = None
        self.ranker: Callable[[Rows], sp.csr_array] | None = None

    @property
    def n_classes(self) -> int:
        """K."""
        return self.classes

    @property
    def untrained(self) -> bool:
        """Whether there is nothing to predict with."""
        return self.predictor is None

    @property
    def nonzeros(self) -> None:
        """Not told."""

    @property
    def nbytes(self) -> int:
        """As the library keeps or saves it."""
        return self.size

    def predict(self, X: Rows) -> np.ndarray:
        """Classes (N,); 0 before training."""
        if self.predictor is None:
            return np.zeros(X.shape[0], np.int64)
        return np.asarray(self.predictor(X), np.int64)

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of the best classes; of the one that is predicted 1, where it ranks none."""
        for block in self.parts(X.shape[0]):
            rows: Any = X[block]
            if self.ranker is not None:
                ranked = self.ranker(rows)
                scores = np.full(ranked.shape, -np.inf, np.float32)
                row = np.repeat(np.arange(len(scores)), np.diff(ranked.indptr))
                scores[row, ranked.indices] = ranked.data
            else:
                predicted = self.predict(rows)
                scores = np.zeros((len(predicted), self.classes), np.float32)
                scores[np.arange(len(scores)), predicted] = 1.0
            yield block, scores

    def square_norm(self) -> float:
        """Not known."""
        return 0.0

    def weights(self) -> dict[str, np.ndarray]:
        """Nothing that could be saved."""
        return {}


class Once(Solver):
    """A solver that sees all rows once: it yields at its start and its end."""

    interruptible = False
    epochs = 1.0
    compiles = False

    @abstractmethod
    def train(self, dataset: Dataset, model: Any, rng: np.random.Generator) -> None:
        """Train a model on all rows."""

    def fit(
        self, dataset: Dataset, model: Any, streams: Streams, stops: Iterable[float]
    ) -> Iterator[Progress]:
        """Train."""
        yield Progress(0, 0, 0.0)
        self.train(dataset, model, streams.classes)
        yield Progress(1, len(dataset.train), 1.0, 0.0)


class ByLibrary(Once):
    """As `Once`, of a library whose weights are its own."""

    make_model = Library


def with_labels(train: Split, labels: str, n_classes: int) -> tuple[Rows, sp.csr_array]:
    """Rows that a library trains on, and indicators (N, K) of their classes.

    Parameters
    ----------
    labels : ``own``, the class of each row, or ``all``, the label sets of the original rows.
    """
    split = train.whole_rows() if labels == "all" else Split(train.X, train.y)
    return split.X, split.labels(n_classes)


def ranked(best: list[list[tuple[int, float]]], n_classes: int) -> sp.csr_array:
    """Scores (N, K) of what a library says of every row: classes with their scores."""
    start = np.cumsum([0, *map(len, best)])
    classes = np.array([k for row in best for k, _ in row], np.int64)
    scores = np.array([score for row in best for _, score in row])
    return sp.csr_array((scores, classes, start), (len(best), n_classes))


def method(
    name: str,
    schema: type[MethodOptions],
    solver: Callable[[Any, Info], Solver],
    impossible: Callable[[Any], str] = lambda settings: "",
    lacks: Callable[[Any], str] = lambda settings: "",
    memory: Callable[[Any, Info, int, float], float] = lambda settings, info, itemsize, epochs: 0.0,
    version: int = 1,
    needs_features: bool = False,
    ranks: bool | int = True,
    link: str | None = None,
) -> Method:
    """Method that minimises nothing of ours and has no rate; a small model, if no `memory`."""
    return Method(
        name,
        schema,
        lambda settings, info: None,  # type: ignore[arg-type, return-value]
        lambda settings, info: 1.0,
        has_rate=lambda settings: False,
        impossible=lambda settings: _l2(settings) or impossible(settings),
        needs_features=needs_features,
        link=link,
        ranks=ranks,
        lacks=lacks,
        memory=memory,
        solver=solver,
        version=version,
    )


def _l2(settings: MethodOptions) -> str:
    if settings.l2:
        return f"method.l2 is not possible for {settings.name}, which has options of its own"
    return ""


def needs(package: str, extra: str) -> Callable[[MethodOptions], str]:
    """Say in one sentence that a package is not installed, where it is not."""

    def lacks(settings: MethodOptions) -> str:
        if find_spec(package):
            return ""
        return (
            f"method {settings.name} needs {package}, which is not installed; "
            f"pip install 'xcbench[{extra}]', or leave the method out"
        )

    return lacks
