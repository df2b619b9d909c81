"""What the linear models of LibMultiLabel share; the extra ``libmultilabel``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from xcbench.core.dataset import Dataset, Rows
from xcbench.methods import baselines
from xcbench.options import Options

SOLVERS = {"squared_hinge": 1, "logistic": 7}  # LIBLINEAR's in the dual


@dataclass
class LibMultiLabel(baselines.ByLibrary):
    """Models of LibMultiLabel, trained with LIBLINEAR in one thread for each core.

    Attributes
    ----------
    learner : of the library's module, labels, rows, LIBLINEAR's options and the settings.
    scores : of the library's model and rows, the scores of all classes.
    """

    settings: Options
    learner: Callable[..., Any]
    scores: Callable[[Any, sp.csr_matrix, Any], np.ndarray]

    def train(self, dataset: Dataset, model: baselines.Library, rng: np.random.Generator) -> None:
        """Train; rank the best classes."""
        from libmultilabel import linear

        s = self.settings
        X, Y = baselines.with_labels(dataset.train, s.labels, model.n_classes)
        bias = "-B 1" if s.bias else ""
        options = f"-s {SOLVERS[s.loss]} -c {s.C} -e {s.tolerance} {bias} -m 1 -q"
        np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002 -- k-means draw from there
        baselines.restart_rand()
        with redirect_stdout(StringIO()):
            fit = self.learner(linear, sp.csr_matrix(Y), as_float64(X), options, s)
        model.size = sum(array.nbytes for array in arrays(fit))

        def ranker(X: Rows) -> sp.csr_array:
            return best(self.scores(fit, as_float64(X), s), baselines.RANKED)

        def predictor(X: Rows) -> np.ndarray:
            return self.scores(fit, as_float64(X), s).argmax(axis=1)

        model.predictor, model.ranker = predictor, ranker


def as_float64(X: Rows) -> sp.csr_matrix:
    """Rows as the library takes them."""
    return sp.csr_matrix(X, dtype=np.float64)


def arrays(fit: Any) -> list[np.ndarray]:
    """Arrays of the weights: dense, in a tree sparse."""
    if fit.name != "tree":
        return [fit.weights]
    W = fit.flat_model.weights
    return [W.data, W.indices, W.indptr]


def best(scores: np.ndarray, most: int) -> sp.csr_array:
    """The best scores of every row alone."""
    most = min(most, scores.shape[1])
    classes = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    start = np.arange(len(scores) + 1) * most
    values = np.take_along_axis(scores, classes, axis=1)
    return sp.csr_array((values.ravel(), classes.ravel(), start), scores.shape)


lacks = baselines.needs("libmultilabel", "libmultilabel")
