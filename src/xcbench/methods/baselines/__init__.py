"""Adapters to existing libraries, with the same datasets, clocks, memory meter and metrics.

A file with a method's name wraps a library or a simple rule; other files hold what several share.
Training that cannot be interrupted yields at its start and end only.
"""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Info, Rows, Split
from xcbench.core.models.model import Model
from xcbench.core.solvers import Progress, Solver, Streams
from xcbench.methods.method import Method
from xcbench.methods.options import MethodOptions
from xcbench.options import Options

RANKED = 100  # classes a row that a label tree ranks


def restart_rand() -> None:
    """Reset C's ``rand``, with which LIBLINEAR, in some libraries, draws rows without a seed.

    Otherwise a model would depend on earlier training in the same process.
    """
    ctypes.CDLL(None).srand(1)


class Library(Model):
    """A model of a library, which holds the weights and predicts.

    Attributes
    ----------
    predictor : function from rows to classes (N,), once trained.
    ranker : function from rows to scores (N, K) of only the best classes, if it ranks any.
    size : bytes of the library's model, in memory or saved.
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
        """Whether there is no model yet."""
        return self.predictor is None

    @property
    def nonzeros(self) -> None:
        """Unknown."""

    @property
    def nbytes(self) -> int:
        """Bytes of the library's model, in memory or saved."""
        return self.size

    def predict(self, X: Rows) -> np.ndarray:
        """Classes (N,); 0 before training."""
        if self.predictor is None:
            return np.zeros(X.shape[0], np.int64)
        return np.asarray(self.predictor(X), np.int64)

    def passes(self, X: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of the best classes; 1 for the predicted class if the library ranks none."""
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
        """Unknown."""
        return 0.0

    def weights(self) -> dict[str, np.ndarray]:
        """None: nothing can be saved."""
        return {}


class Once(Solver):
    """A solver that trains in one call; it yields at its start and end."""

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
    """`Once` for a library that holds the weights."""

    make_model = Library


def with_labels(train: Split, labels: str, n_classes: int) -> tuple[Rows, sp.csr_array]:
    """Training rows for a library, and indicators (N, K) of their classes.

    Parameters
    ----------
    labels : ``own``, the class of each row, or ``all``, the label sets of the original rows.
    """
    split = train.original_rows() if labels == "all" else Split(train.X, train.y)
    return split.X, split.labels(n_classes)


def ranked(best: list[list[tuple[int, float]]], n_classes: int) -> sp.csr_array:
    """Scores (N, K) from a library's list of classes and scores for every row."""
    start = np.cumsum([0, *map(len, best)])
    classes = np.array([k for row in best for k, _ in row], np.int64)
    scores = np.array([score for row in best for _, score in row])
    return sp.csr_array((scores, classes, start), (len(best), n_classes))


@dataclass(frozen=True, kw_only=True)
class Baseline(Method):
    """A method without objective, rate or l2 penalty; without `memory`, its model is small."""

    objective: Callable[[Options, Info], Any] = lambda settings, info: None
    default_rate: Callable[[Options, Info], float] = lambda settings, info: 1.0
    has_rate: Callable[[Options], bool] = lambda settings: False
    link: str | None = None
    memory: Callable[[Options, Info, int, float], float] = lambda *_: 0.0


def needs(package: str, extra: str) -> Callable[[MethodOptions], str]:
    """Error sentence if a package is not installed, else None."""

    def lacks(settings: MethodOptions) -> str:
        if find_spec(package):
            return ""
        return (
            f"method {settings.name} needs {package}, which is not installed; "
            f"pip install 'xcbench[{extra}]', or leave the method out"
        )

    return lacks
