"""Seconds to equal test log loss and error: our estimators beside libraries.

``python -m benchmarks.equal_loss`` writes ``reports/equal-loss.csv`` and a table of
``docs/library.md`` (`benchmarks.comparison`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from tabulate import tabulate

import xcbench
from benchmarks.comparison import LIMIT, Comparison, System, measuring, training
from xcbench.core.dataset import Dataset, Rows, Split
from xcbench.core.metrics import evaluate
from xcbench.core.models.model import Model
from xcbench.estimators import problem
from xcbench.estimators.early_stopping import Watch

BLOCK = 1000  # rows whose probabilities are held at a time
UNIT = {"protocol__row_norm": "l2", "protocol__tfidf": True}
DATASETS: dict[str, dict[str, Any]] = {
    "20news": UNIT,
    "mnist": {},
    "citeulike": {**UNIT, "protocol__label": "each", "protocol__min_rows": 5},
}
ITERATIONS = (10, 20, 40, 80)  # of a full batch, each from the start
Measured = tuple[float, float]  # log loss and error
Curve = Iterator[tuple[float, Measured]]  # seconds of training so far


def of_probabilities(probabilities: Callable[[Rows], np.ndarray], test: Split) -> Measured:
    """Log loss and error of a library's probabilities, a block of rows at a time."""
    loss = wrong = 0.0
    for first in range(0, len(test), BLOCK):
        y = test.y[first : first + BLOCK]
        p = probabilities(test.X[first : first + BLOCK])
        own = p[np.arange(len(y)), y].astype(np.float64)
        loss -= np.log(np.maximum(own, 1e-15)).sum()
        wrong += np.count_nonzero(p.argmax(axis=1) != y)
    return loss / len(test), wrong / len(test)


# ---------------------------------------------------------------- ours
class Measure(Watch):
    """Measures the test rows after every few epochs, outside the clock."""

    def __init__(self, test: Split, every: int) -> None:
        self.test, self.every, self.epoch, self.seconds = test, every, 0, 0.0
        self.points: list[tuple[float, Measured]] = []
        self.started = training()

    def sees(self, model: Model) -> bool:
        """Measure; whether the time is over."""
        self.epoch += 1
        if self.epoch % self.every:
            return False
        self.seconds += measuring(self.started)
        measures = evaluate(model.corrected, self.test)
        self.points.append((self.seconds, (measures["log_loss"], measures["error"])))
        self.started = training()
        return self.seconds > LIMIT


def sampled(data: Dataset, method: str, epochs: int, every: int = 1, **settings: Any) -> Curve:
    """`SampledSoftmaxClassifier`; kernels are compiled before."""
    for rows, epochs_ in ((data.train.first(500), 1), (data.train, epochs)):
        model = xcbench.SampledSoftmaxClassifier(method, random_state=0, **settings)
        watch = Measure(data.test, every)
        model._run(problem.dataset(rows, data.info.classes), epochs_, watch)
    yield from watch.points


def full_batch(data: Dataset, **settings: Any) -> Curve:
    """`SoftmaxClassifier`, L-BFGS; kernels are compiled before."""
    xcbench.SoftmaxClassifier(iterations=1).fit(data.train.X[:500], data.train.y[:500])
    for iterations in ITERATIONS:
        started = training()
        model = xcbench.SoftmaxClassifier(iterations=iterations, **settings)
        model.fit(data.train.X, data.train.y)
        seconds = measuring(started)
        measures = model.evaluate(data.test.X, data.test.y)
        yield seconds, (measures["log_loss"], measures["error"])


# ---------------------------------------------------------------- peers
def logistic_regression(data: Dataset, **settings: Any) -> Curve:
    """scikit-learn's, by L-BFGS."""
    from sklearn.linear_model import LogisticRegression

    for iterations in ITERATIONS:
        started = training()
        model = LogisticRegression(max_iter=iterations, **settings)
        model.fit(data.train.X, data.train.y)
        yield measuring(started), of_probabilities(model.predict_proba, data.test)


def liblinear(data: Dataset, **settings: Any) -> Curve:
    """LIBLINEAR's logistic regressions, one against the rest, through scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    started = training()
    model = OneVsRestClassifier(LogisticRegression(solver="liblinear", **settings))
    model.fit(data.train.X.astype(np.float64), data.train.y)
    yield measuring(started), of_probabilities(model.predict_proba, data.test)


def sgd(data: Dataset, epochs: int, **settings: Any) -> Curve:
    """scikit-learn's SGDClassifier with the logistic loss, one against the rest."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", random_state=0, **settings)
    rng, seconds = np.random.default_rng(0), 0.0
    classes = np.arange(data.info.classes)
    for _ in range(epochs):
        started = training()
        order = rng.permutation(len(data.train))
        model.partial_fit(data.train.X[order], data.train.y[order], classes)
        seconds += measuring(started)
        yield seconds, of_probabilities(model.predict_proba, data.test)
        if seconds > LIMIT:
            return


def torch(data: Dataset, epochs: int, lr: float, batch_size: int = 256) -> Curve:
    """Softmax regression in PyTorch by Adam; sparse rows are bags of weighted embeddings."""
    import torch as t

    t.set_num_threads(1)
    t.manual_seed(0)
    sparse = sp.issparse(data.train.X)
    D, K = data.info.features, data.info.classes
    layer: Any
    if sparse:
        layer = t.nn.EmbeddingBag(D, K, mode="sum", sparse=True)
        t.nn.init.zeros_(layer.weight)
    else:
        layer = t.nn.Linear(D, K)
    parameters = list(layer.parameters())
    optimizer: Any = (t.optim.SparseAdam if sparse else t.optim.Adam)(parameters, lr=lr)

    def scores(X: Any) -> Any:
        if not sparse:
            return layer(t.from_numpy(X))
        start, features = t.from_numpy(X.indptr[:-1].astype(np.int64)), X.indices.astype(np.int64)
        return layer(t.from_numpy(features), start, per_sample_weights=t.from_numpy(X.data))

    def probabilities(X: Rows) -> np.ndarray:
        with t.no_grad():
            return np.asarray(t.softmax(scores(X), 1))

    rng, y, seconds, shown = np.random.default_rng(0), t.from_numpy(data.train.y), 0.0, 0.0
    for _ in range(epochs):
        started, order = training(), rng.permutation(len(data.train))
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            optimizer.zero_grad()
            t.nn.functional.cross_entropy(scores(data.train.X[rows]), y[rows]).backward()
            optimizer.step()
            spent = time.process_time() - started
            if spent > max(10.0, 0.3 * shown):  # a long epoch is measured on its way
                shown = seconds = seconds + measuring(started)
                yield seconds, of_probabilities(probabilities, data.test)
                if seconds > LIMIT:
                    return
                started = training()
        seconds += measuring(started)
        yield seconds, of_probabilities(probabilities, data.test)


MINIBATCHES = {"method": "softmax", "optimizer": "adagrad"}
SYSTEMS: dict[str, System] = {
    "SoftmaxClassifier": (
        full_batch,
        {"20news": [{"l2": 1.0}, {"l2": 0.1}], "mnist": [{"l2": 1.0}]},
    ),
    "SampledSoftmaxClassifier": (
        sampled,
        {
            "20news": [{**MINIBATCHES, "lr": lr, "epochs": 20} for lr in (0.1, 0.3, 0.6)],
            "mnist": [{**MINIBATCHES, "lr": lr, "epochs": 40} for lr in (0.01, 0.03, 0.1)],
            "citeulike": [
                {"method": "ove", "optimizer": "adagrad", "lr": 0.1, "epochs": 4},
                {"method": "negative_sampling", "lr": 0.3, "epochs": 12},
            ],
        },
    ),
    "LogisticRegression": (
        logistic_regression,
        {"20news": [{"C": 1.0}, {"C": 10.0}], "mnist": [{"C": 1.0}], "citeulike": [{"C": 10.0}]},
    ),
    "LIBLINEAR": (
        liblinear,
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


# ---------------------------------------------------------------- the table
def reached(points: pd.DataFrame, column: str, value: float) -> float | None:
    """Seconds after which a system is at a value or below."""
    there = points[points[column] <= value]["seconds"]
    return None if there.empty else float(there.min())


def page(table: pd.DataFrame) -> str:
    """Of every peer: its best values, when it had them, and when ours had as good ones."""
    rows = []
    for dataset, all_points in table.groupby("dataset", sort=False):
        ours = all_points[all_points["system"].isin(OURS)]
        for system, points in all_points.groupby("system", sort=False):
            row = [f"{dataset} ({points['classes'].max():,.0f})", str(system)]
            for column, digits in (("test_log_loss", 3), ("test_error", 4)):
                if points[column].isna().all():
                    row += ["", ", ".join(points["status"].unique()), "", ""]
                    continue
                value = float(points[column].min())
                seconds = float(points[points[column] == value]["seconds"].min())
                row += [f"{value:.{digits}f}", f"{seconds:.1f}"]
                if system in OURS:
                    row += ["", ""]
                    continue
                own = reached(ours, column, value)
                row += ["never", ""] if own is None else [f"{own:.1f}", f"{seconds / own:.1f}"]
            rows.append(row)
    headers = ["data (K)", "system"]
    for what in ("log loss", "error"):
        headers += [what, "s", "ours, s", "times"]
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True) + "\n"


COMPARISON = Comparison(
    "equal_loss", ["test_log_loss", "test_error"], DATASETS, SYSTEMS, page, "equal loss"
)
if __name__ == "__main__":
    COMPARISON.main()
