"""Precision at the top of rows with several labels: our estimators beside libraries.

``python -m benchmarks.multi_label`` writes ``reports/multi-label.csv`` and a table of
``docs/library.md`` (`benchmarks.comparison`). Libraries that are not installed say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from tabulate import tabulate

import xcbench
from benchmarks.comparison import Comparison, Point, System, measuring, training
from xcbench.core.dataset import Dataset, Split
from xcbench.methods.baselines import restart_rand
from xcbench.run.ordering import best_first

EACH = {"protocol__label": "each"}
UNIT = {"protocol__row_norm": "l2", "protocol__tfidf": True}
DATASETS: dict[str, dict[str, Any]] = {
    "bibtex": EACH,
    "delicious": EACH,
    "citeulike": {**EACH, **UNIT, "protocol__min_rows": 5},
}
LIMIT = 900.0  # seconds of training
DEPTH = 5  # of the best labels that are looked at
BLOCK = 500  # rows whose scores are held at a time


def label_sets(split: Split) -> list[list[int]]:
    """Labels of every row."""
    assert split.sets
    return [part.tolist() for part in np.split(split.sets.classes, split.sets.start[1:-1])]


def precision(best: np.ndarray, test: Split) -> tuple[float, ...]:
    """Precision at 1, 3 and 5 of the best labels (N, 5) of every row."""
    assert test.sets
    hits = np.stack([test.sets.contain(column) for column in best.T])
    return tuple(float(hits[:k].mean()) for k in (1, 3, 5))


def top(scores: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """The best labels (N, 5), a block of rows at a time."""
    blocks = (scores(X[i : i + BLOCK]) for i in range(0, X.shape[0], BLOCK))
    return np.concatenate([np.argsort(-block, axis=1)[:, :DEPTH] for block in blocks])


def float64(split: Split) -> sp.csr_matrix:
    """Rows as LIBLINEAR wants them."""
    return sp.csr_matrix(split.X, dtype=np.float64)


# ---------------------------------------------------------------- ours
def estimator(data: Dataset, name: str, **settings: Any) -> Iterator[Point]:
    """One of our classifiers; kernels are compiled before."""
    train, test = data.train.whole_rows(), data.test.whole_rows()
    labels, made = label_sets(train), getattr(xcbench, name)
    made(**settings | {"epochs": 1}).fit(train.X[:200], labels[:200])
    started = training(LIMIT)
    model = made(random_state=0, **settings).fit(train.X, labels)
    seconds = measuring(started)
    best = model.predict_top_k(test.X, k=DEPTH)[0]
    yield seconds, precision(np.asarray(best), test)


# ---------------------------------------------------------------- peers
def one_vs_rest(data: Dataset, loss: str, **settings: Any) -> Iterator[Point]:
    """scikit-learn's LIBLINEAR or SGD, class after class; weights are kept in float32."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    learners: dict[str, Callable[..., Any]] = {
        "logistic": partial(LogisticRegression, solver="liblinear"),
        "squared hinge": partial(LinearSVC, random_state=0),
        "SGD": partial(SGDClassifier, loss="log_loss"),
    }
    train, test = data.train.whole_rows(), data.test.whole_rows()
    X, Y = float64(train), train.labels(data.info.classes).tocsc()
    V = np.zeros((data.info.classes, X.shape[1]), np.float32)
    b = np.zeros(data.info.classes)
    started = training(LIMIT)
    for k in range(data.info.classes):
        y = np.zeros(len(train))
        y[Y.indices[Y.indptr[k] : Y.indptr[k + 1]]] = 1
        learner = learners[loss](**settings)
        learner.fit(X, y)
        V[k], b[k] = learner.coef_[0], learner.intercept_[0]
    seconds = measuring(started)
    yield seconds, precision(top(lambda rows: rows @ V.T + b, test.X), test)


def napkin(data: Dataset, learner: str = "PLT", seed: int = 0) -> Iterator[Point]:
    """NapkinXC's learner, its defaults: a probabilistic label tree, or `BR`; `HSM` of one label."""
    from napkinxc import models

    split, test = data.train.whole_rows(), data.test.whole_rows()
    X, labels = split.X, label_sets(split)
    if learner == "HSM":
        X, labels = data.train.X, data.train.y.tolist()
    with TemporaryDirectory() as folder:
        restart_rand()
        started = training(LIMIT)
        model = getattr(models, learner)(folder, seed=seed, threads=1)
        model.fit(sp.csr_matrix(X), labels)
        seconds = measuring(started)
        best = model.predict(sp.csr_matrix(test.X), top_k=DEPTH)
    yield seconds, precision(np.array([(*row, *[0] * DEPTH)[:DEPTH] for row in best]), test)


def parabel(data: Dataset) -> Iterator[Point]:
    """Omikuji's Parabel, its defaults; it reads a file."""
    import omikuji

    train, test = data.train.whole_rows(), data.test.whole_rows()
    with TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        X = sp.csr_matrix(train.X)
        lines = [f"{len(train)} {X.shape[1]} {data.info.classes}"]
        for i, labels in enumerate(label_sets(train)):
            part = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[part], X.data[part], strict=True)
            row = " ".join(f"{j}:{x:.9g}" for j, x in pairs)
            lines.append(f"{','.join(map(str, labels))} {row}")
        path.write_text("\n".join(lines) + "\n")
        started = training(LIMIT)
        parameters = omikuji.Model.default_hyper_param()
        model = omikuji.Model.train_on_data(str(path), parameters, n_threads=1)
        seconds = measuring(started)
    T, result = sp.csr_matrix(test.X), []
    for i in range(len(test)):
        part = slice(T.indptr[i], T.indptr[i + 1])
        features = [*zip(T.indices[part].tolist(), T.data[part].tolist(), strict=True)]
        result.append([label for label, _ in model.predict(features, top_k=DEPTH)])
    yield seconds, precision(np.array([(*row, *[0] * DEPTH)[:DEPTH] for row in result]), test)


def libmultilabel(data: Dataset, learner: str, C: float) -> Iterator[Point]:
    """LibMultiLabel's one-vs-rest or label tree, its defaults but for C."""
    from libmultilabel import linear

    train, test = data.train.whole_rows(), data.test.whole_rows()
    X, Y = float64(train), sp.csr_matrix(train.labels(data.info.classes))
    train_by = {"one-vs-rest": linear.train_1vsrest, "tree": linear.train_tree}[learner]
    started = training(LIMIT)
    model = train_by(Y, X, options=f"-s 1 -c {C} -B 1 -q", verbose=False)
    seconds = measuring(started)

    def scores(rows: Any) -> np.ndarray:
        result: np.ndarray = model.predict_values(sp.csr_matrix(rows, dtype=np.float64))
        return result

    yield seconds, precision(top(scores, test.X), test)


ALL = {"name": "OneVsAllClassifier", "l2": 1.0}
DELICIOUS = {"lr": 0.02, "lr_decay": 0.8, "epochs": 8}
SYSTEMS: dict[str, System] = {
    "one label": (
        estimator,
        {
            name: [{"name": "SampledSoftmaxClassifier", "reduction": "one_label"}]
            for name in ("bibtex", "delicious")
        },
    ),
    "pick all": (
        estimator,
        {
            name: [{"name": "SampledSoftmaxClassifier", "reduction": "pick_all"}]
            for name in ("bibtex", "delicious")
        },
    ),
    "OneVsAllClassifier": (
        estimator,
        {
            "bibtex": [{**ALL, "negatives": 20}],
            "delicious": [{**ALL, "negatives": 20, **DELICIOUS}],
            "citeulike": [
                {**ALL, "negatives": negatives, "lr": lr, "lr_decay": 0.8, "epochs": 10}
                for negatives, lr in ((5, 0.1), (20, 0.3), (100, 0.3))
            ],
        },
    ),
    "one-vs-rest, logistic": (
        one_vs_rest,
        {
            name: [{"loss": "logistic", "C": C} for C in values]
            for name, values in {
                "bibtex": (1, 10),
                "delicious": (1, 10),
            }.items()
        },
    ),
    "one-vs-rest, squared hinge": (
        one_vs_rest,
        {
            name: [{"loss": "squared hinge", "C": C}]
            for name, C in {"bibtex": 0.1, "delicious": 0.1, "citeulike": 1.0}.items()
        },
    ),
    "napkinXC PLT": (napkin, {name: [{}] for name in DATASETS}),
    "omikuji Parabel": (parabel, {name: [{}] for name in DATASETS}),
    "LibMultiLabel": (
        libmultilabel,
        {
            "bibtex": [{"learner": "one-vs-rest", "C": 0.1}, {"learner": "tree", "C": 0.1}],
            "delicious": [{"learner": "one-vs-rest", "C": 0.1}, {"learner": "tree", "C": 0.1}],
            "citeulike": [{"learner": "tree", "C": 1.0}],
        },
    ),
}


# ---------------------------------------------------------------- the table
def table(rows: pd.DataFrame) -> str:
    """Of every system on every dataset the setting with the best precision at 1; of ours all."""
    lines = []
    for (dataset, system), group in rows.groupby(["dataset", "system"], sort=False):
        if system != "OneVsAllClassifier" and group["precision_at_1"].notna().any():
            group = best_first(group, "precision_at_1").head(1)
        for row in group.itertuples():
            setting = {**json.loads(str(row.setting))}
            shown = ", ".join(
                value if name == "learner" else f"{name} {value:g}"
                for name, value in setting.items()
                if name in ("negatives", "lr", "C", "learner")
            )
            numbers = [row.precision_at_1, row.precision_at_3, row.precision_at_5]
            measured = [row.status] + [""] * 3
            if row.status == "ended":
                measured = [*(f"{x:.3f}" for x in numbers), f"{row.seconds:.1f}"]
            lines.append([f"{dataset} ({row.classes:,.0f})", system, shown, *measured])
    headers = ["data (K)", "system", "setting", "P@1", "P@3", "P@5", "s"]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True) + "\n"


COMPARISON = Comparison(
    "multi_label",
    ["precision_at_1", "precision_at_3", "precision_at_5"],
    DATASETS,
    SYSTEMS,
    table,
    "several labels",
    LIMIT,
)
if __name__ == "__main__":
    COMPARISON.main()
