"""Seconds to equal test log loss and error: our estimators beside libraries.

``python -m benchmarks equal_loss`` writes ``reports/equal-loss.csv`` and a table of
``docs/library.md`` (`benchmarks.comparison`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

import xcbench
from benchmarks.comparison import Comparison, System, kept
from benchmarks.shapes import built, settings_of
from benchmarks.table import markdown
from xcbench.core.dataset import Dataset, Rows
from xcbench.core.solvers import Streams

BLOCK = 1000  # rows whose probabilities are held at a time
EVERY = 20.0  # CPU seconds after which a long epoch is measured on its way
UNIT = {"protocol__row_norm": "l2", "protocol__tfidf": True}
DATASETS: dict[str, dict[str, Any]] = {
    "20news": UNIT,
    "mnist": {},
    "citeulike": {**UNIT, "protocol__label": "each", "protocol__min_rows": 5},
}
ITERATIONS = (10, 20, 40, 80)  # of a full batch, each from the start
Probabilities = Callable[[Rows], np.ndarray]


def losses(probabilities: Probabilities, data: Dataset) -> tuple[float, float]:
    """Log loss and error on the test rows, a block of rows at a time."""
    loss, wrong, test = 0.0, 0.0, data.test
    for first in range(0, len(test), BLOCK):
        y = test.y[first : first + BLOCK]
        p = probabilities(test.X[first : first + BLOCK])
        of_true = p[np.arange(len(y)), y].astype(np.float64)
        loss -= np.log(np.maximum(of_true, 1e-15)).sum()
        wrong += np.count_nonzero(p.argmax(axis=1) != y)
    return loss / len(test), wrong / len(test)


def sampled(data: Dataset, method: str, epochs: int, **settings: Any) -> Iterator[Any]:
    """What `SampledSoftmaxClassifier` trains, epoch by epoch; kernels are compiled before."""
    solver, model = built(data, settings_of(method, **settings))
    yield None
    for progress in solver.fit(data, model, Streams.of(0), [float(it) for it in range(1 + epochs)]):
        if progress.iteration:
            yield lambda X: np.exp(model.corrected.log_probabilities(X))


def from_the_start(
    make: Callable[..., Any],
    option: str,
    data: Dataset,
    iterations: tuple[int, ...] = ITERATIONS,
    **settings: Any,
) -> Iterator[Any]:
    """A full batch: for each number of iterations, an option, a training from the start."""
    make(**{option: 1}, **settings).fit(data.train.X[:500], data.train.y[:500])  # compiles
    X = data.train.X.astype(np.float64) if make is liblinear else data.train.X
    for number in iterations:
        yield None
        yield make(**{option: number}, **settings).fit(X, data.train.y).predict_proba


def liblinear(**settings: Any) -> Any:
    """LIBLINEAR's logistic regressions, one against the rest, through scikit-learn."""
    return OneVsRestClassifier(LogisticRegression(solver="liblinear", **settings))


def sgd(data: Dataset, epochs: int, **settings: Any) -> Iterator[Any]:
    """scikit-learn's SGDClassifier with the logistic loss, one against the rest."""
    model = SGDClassifier(loss="log_loss", random_state=0, **settings)
    rng, classes = np.random.default_rng(0), np.arange(data.info.classes)
    yield None
    for _ in range(epochs):
        order = rng.permutation(len(data.train))
        model.partial_fit(data.train.X[order], data.train.y[order], classes)
        yield model.predict_proba


def torch(data: Dataset, epochs: int, lr: float, batch_size: int = 256) -> Iterator[Any]:
    """Softmax regression in PyTorch by Adam; sparse rows are bags of weighted embeddings."""
    import torch as t

    t.manual_seed(0)
    sparse = sp.issparse(data.train.X)
    D, K = data.info.features, data.info.classes
    layer: Any
    if sparse:
        layer = t.nn.EmbeddingBag(D, K, mode="sum", sparse=True)
        t.nn.init.zeros_(layer.weight)
    else:
        layer = t.nn.Linear(D, K)
    optimizer: Any = (t.optim.SparseAdam if sparse else t.optim.Adam)([*layer.parameters()], lr=lr)

    def scores(X: Any) -> Any:
        if not sparse:
            return layer(t.from_numpy(X))
        start, features = t.from_numpy(X.indptr[:-1].astype(np.int64)), X.indices.astype(np.int64)
        return layer(t.from_numpy(features), start, per_sample_weights=t.from_numpy(X.data))

    def probabilities(X: Rows) -> np.ndarray:
        with t.no_grad():
            return np.asarray(t.softmax(scores(X), 1))

    rng, y = np.random.default_rng(0), t.from_numpy(data.train.y)
    yield None
    for _ in range(epochs):
        order, due = rng.permutation(len(data.train)), time.process_time() + EVERY
        for first in range(0, len(order), batch_size):
            if time.process_time() > due:
                yield probabilities
                due = time.process_time() + EVERY
            rows = order[first : first + batch_size]
            optimizer.zero_grad()
            t.nn.functional.cross_entropy(scores(data.train.X[rows]), y[rows]).backward()
            optimizer.step()
        yield probabilities


MINIBATCHES = {"method": "softmax", "optimizer": "adagrad"}
SHARED = {"method": "ove", "sampler": "shared"}
SYSTEMS: dict[str, System] = {
    "SoftmaxClassifier": (
        partial(from_the_start, xcbench.SoftmaxClassifier, "iterations"),
        {"20news": [{"l2": 1.0}, {"l2": 0.1}], "mnist": [{"l2": 1.0}]},
    ),
    "SampledSoftmaxClassifier": (
        sampled,
        {
            "20news": [{**MINIBATCHES, "lr": lr, "epochs": 20} for lr in (0.1, 0.3, 0.6)],
            "mnist": [{**MINIBATCHES, "lr": lr, "epochs": 40} for lr in (0.01, 0.03, 0.1)],
            "citeulike": [
                {**SHARED, "optimizer": "adagrad", "lr": 0.1, "epochs": 4},
                {"method": "negative_sampling", "lr": 0.3, "epochs": 12},
            ],
        },
    ),
    "LogisticRegression": (
        partial(from_the_start, LogisticRegression, "max_iter"),
        {"20news": [{"C": 1.0}, {"C": 10.0}], "mnist": [{"C": 1.0}], "citeulike": [{"C": 10.0}]},
    ),
    "LIBLINEAR": (
        partial(from_the_start, liblinear, "max_iter", iterations=(100,)),
        {"20news": [{"C": 1.0}, {"C": 10.0}], "mnist": [{"C": 1.0}], "citeulike": [{"C": 10.0}]},
    ),
    "SGDClassifier": (
        sgd,
        {
            "20news": [{"alpha": alpha, "epochs": 20} for alpha in (1e-6, 1e-5)],
            "mnist": [{"alpha": 1e-4, "epochs": 20}],
            "citeulike": [{"alpha": 1e-6, "epochs": 20}],
        },
    ),
    "PyTorch": (
        torch,
        {
            "20news": [{"lr": lr, "epochs": 20} for lr in (1e-2, 3e-2)],
            "mnist": [{"lr": lr, "epochs": 10} for lr in (1e-3, 3e-3)],
            "citeulike": [{"lr": lr, "epochs": 20} for lr in (1e-2, 1e-1)],
        },
    ),
}
OURS = ("SoftmaxClassifier", "SampledSoftmaxClassifier")


def page(table: pd.DataFrame) -> str:
    """Of every peer: its best values, when it had them, and when ours had as good ones."""
    rows = []
    for (dataset, system), points in table.groupby(["dataset", "system"], sort=False):
        ours = table[(table["dataset"] == dataset) & table["system"].isin(OURS)]
        row = [f"{dataset} ({points['classes'].max():,.0f})", str(system)]
        for column, digits in (("test_log_loss", 3), ("test_error", 4)):
            if points[column].isna().all():
                row += ["", ", ".join(points["status"].unique()), "", ""]
                continue
            value = points[column].min()
            seconds = points["seconds"][points[column] == value].min()
            first = ours["seconds"][ours[column] <= value].min()
            row += [f"{value:.{digits}f}", f"{seconds:.1f}"]
            if system in OURS:
                row += ["", ""]
            else:
                row += (
                    ["never", ""] if np.isnan(first) else [f"{first:.1f}", f"{seconds / first:.1f}"]
                )
        rows.append(row)
    headers = ["data (K)", "system", *2 * ["", "s", "ours, s", "times"]]
    headers[2], headers[6] = "log loss", "error"
    return markdown(pd.DataFrame(rows, columns=headers))


COMPARISON = Comparison(
    kept("equal-loss.csv", "equal loss", page),
    ["test_log_loss", "test_error"],
    losses,
    DATASETS,
    SYSTEMS,
    limit=150.0,
)
run = COMPARISON.run
