"""Precision at the top of rows with several labels: our estimators beside libraries.

``python -m benchmarks multi_label`` writes ``reports/multi-label.csv`` and a table of
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

import xcbench
from benchmarks.comparison import Comparison, System
from benchmarks.table import markdown
from xcbench.core.dataset import Dataset, Split
from xcbench.methods.baselines import restart_rand
from xcbench.store.ordering import best_first

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
Best = Callable[[Split], Any]  # the best labels of every row


def label_sets(split: Split) -> list[list[int]]:
    """Labels of every row."""
    assert split.sets
    return [part.tolist() for part in np.split(split.sets.classes, split.sets.start[1:-1])]


def precision(best: Best, data: Dataset) -> tuple[float, ...]:
    """Precision at 1, 3 and 5 on the test rows."""
    test = data.test.original_rows()
    assert test.sets
    labels = np.array([(*row, *[0] * DEPTH)[:DEPTH] for row in best(test)])
    hits = np.stack([test.sets.contain(column) for column in labels.T])
    return tuple(float(hits[:k].mean()) for k in (1, 3, 5))


def top(scores: Callable[[Any], np.ndarray]) -> Best:
    """The labels of the highest scores, a block of rows at a time."""

    def best(test: Split) -> Any:
        blocks = (scores(test.X[i : i + BLOCK]) for i in range(0, len(test), BLOCK))
        return np.concatenate([np.argsort(-block, axis=1)[:, :DEPTH] for block in blocks])

    return best


# ---------------------------------------------------------------- ours
def estimator(data: Dataset, name: str, **settings: Any) -> Iterator[Best | None]:
    """One of our classifiers; kernels are compiled before."""
    train = data.train.original_rows()
    labels, classifier = label_sets(train), getattr(xcbench, name)
    classifier(**settings | {"epochs": 1}).fit(train.X[:200], labels[:200])
    yield None
    model = classifier(random_state=0, **settings).fit(train.X, labels)
    yield lambda test: model.predict_top_k(test.X, k=DEPTH)[0]


# ---------------------------------------------------------------- peers
def one_vs_rest(data: Dataset, loss: str, **settings: Any) -> Iterator[Best | None]:
    """scikit-learn's LIBLINEAR or SGD, class after class; weights are kept in float32."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    learners: dict[str, Callable[..., Any]] = {
        "logistic": partial(LogisticRegression, solver="liblinear"),
        "squared hinge": partial(LinearSVC, random_state=0),
        "SGD": partial(SGDClassifier, loss="log_loss"),
    }
    train, K = data.train.original_rows(), data.info.classes
    X, Y = sp.csr_matrix(train.X, dtype=np.float64), train.labels(K).tocsc()
    V, b = np.zeros((K, X.shape[1]), np.float32), np.zeros(K)
    yield None
    for k in range(K):
        y = np.zeros(len(train))
        y[Y.indices[Y.indptr[k] : Y.indptr[k + 1]]] = 1
        learner = learners[loss](**settings).fit(X, y)
        V[k], b[k] = learner.coef_[0], learner.intercept_[0]
    yield top(lambda rows: rows @ V.T + b)


def napkin(data: Dataset, learner: str = "PLT", seed: int = 0) -> Iterator[Best | None]:
    """NapkinXC's learner, its defaults: a probabilistic label tree, or `BR`; `HSM` of one label."""
    from napkinxc import models

    split = data.train.original_rows()
    X, labels = sp.csr_matrix(split.X), label_sets(split)
    if learner == "HSM":
        X, labels = sp.csr_matrix(data.train.X), data.train.y.tolist()
    with TemporaryDirectory() as folder:
        restart_rand()
        yield None
        model = getattr(models, learner)(folder, seed=seed, threads=1)
        model.fit(X, labels)
        yield lambda test: model.predict(sp.csr_matrix(test.X), top_k=DEPTH)


def pairs(X: sp.csr_matrix) -> list[list[tuple[int, float]]]:
    """Features and values of every row."""
    every = [*zip(X.indices.tolist(), X.data.tolist(), strict=True)]
    return [every[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


def parabel(data: Dataset) -> Iterator[Best | None]:
    """Omikuji's Parabel, its defaults; it reads a file."""
    import omikuji

    train = data.train.original_rows()
    with TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        lines = [f"{len(train)} {data.info.features} {data.info.classes}"]
        for labels, row in zip(label_sets(train), pairs(sp.csr_matrix(train.X)), strict=True):
            values = " ".join(f"{j}:{x:.9g}" for j, x in row)
            lines.append(f"{','.join(map(str, labels))} {values}")
        path.write_text("\n".join(lines) + "\n")
        yield None
        parameters = omikuji.Model.default_hyper_param()
        model = omikuji.Model.train_on_data(str(path), parameters, n_threads=1)
        yield lambda test: [
            [label for label, _ in model.predict(row, top_k=DEPTH)]
            for row in pairs(sp.csr_matrix(test.X))
        ]


def libmultilabel(data: Dataset, learner: str, C: float) -> Iterator[Best | None]:
    """LibMultiLabel's one-vs-rest or label tree, its defaults but for C."""
    from libmultilabel import linear

    train = data.train.original_rows()
    X = sp.csr_matrix(train.X, dtype=np.float64)
    Y = sp.csr_matrix(train.labels(data.info.classes))
    train_by = {"one-vs-rest": linear.train_1vsrest, "tree": linear.train_tree}[learner]
    yield None
    model = train_by(Y, X, options=f"-s 1 -c {C} -B 1 -q", verbose=False)
    yield top(lambda rows: model.predict_values(sp.csr_matrix(rows, dtype=np.float64)))


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


def table(rows: pd.DataFrame) -> str:
    """Of every system on every dataset the setting with the best precision at 1; of ours all."""
    lines = []
    for (dataset, system), group in rows.groupby(["dataset", "system"], sort=False):
        if system != "OneVsAllClassifier" and group["precision_at_1"].notna().any():
            group = best_first(group, "precision_at_1").head(1)
        for row in group.itertuples():
            shown = ", ".join(
                value if name == "learner" else f"{name} {value:g}"
                for name, value in json.loads(str(row.setting)).items()
                if name in ("negatives", "lr", "C", "learner")
            )
            numbers = [f"{x:.3f}" for x in row[6:9]]
            ended = row.status == "ended"
            measured = [*numbers, f"{row.seconds:.1f}"] if ended else [row.status, *[""] * 3]
            lines.append([f"{dataset} ({row.classes:,.0f})", system, shown, *measured])
    headers = ["data (K)", "system", "setting", "P@1", "P@3", "P@5", "s"]
    return markdown(pd.DataFrame(lines, columns=headers))


COMPARISON = Comparison(
    "multi-label.csv",
    "several labels",
    ["precision_at_1", "precision_at_3", "precision_at_5"],
    precision,
    DATASETS,
    SYSTEMS,
    table,
    LIMIT,
)
run = COMPARISON.run
