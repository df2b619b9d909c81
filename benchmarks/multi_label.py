"""Precision at the top of rows with several labels: our estimators beside libraries.

``python -m benchmarks multi_label`` writes ``reports/multi-label.csv`` and a table of
``docs/library.md`` (`benchmarks.comparison`). Libraries that are not installed say so.
"""

from __future__ import annotations

import json
import pickle
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from matplotlib.figure import Figure

import xcbench
from benchmarks.comparison import Comparison, System, kept
from benchmarks.equal_loss import UNIT
from benchmarks.measure import ROOT
from benchmarks.table import markdown
from xcbench.core.dataset import Dataset, LabelSets, Split
from xcbench.core.evaluation import Extras, Predictions
from xcbench.core.metrics import gain, precision
from xcbench.core.statistics import inverse_propensity
from xcbench.methods.baselines import restart_rand
from xcbench.show import style
from xcbench.show.pictures import Drawing, save
from xcbench.store.ordering import best_first

EACH = {"protocol__label": "each"}
TWIN = "lshtc1-twin"  # of its shape, one label a row: planted weights, so that seconds alone count
DATASETS: dict[str, dict[str, Any]] = {
    "bibtex": EACH,
    "delicious": EACH,
    "citeulike": {**EACH, **UNIT, "protocol__min_rows": 5},
    "citeulike, all": {**EACH, **UNIT, "name": "citeulike"},
    TWIN: {**UNIT, "name": "lshtc1", "missing": "twin"},
}
LIMIT = 900.0  # seconds of training
DEPTH = 5  # of the best labels that are looked at
BLOCK = 500  # rows whose scores are held at a time
SEEDS = range(3)
Best = Callable[[], Any]  # the best labels of every row


class Trained(NamedTuple):
    """What a system has trained.

    Attributes
    ----------
    ready : converts test rows to what the system reads, and gives a function that predicts.
    size : bytes of the model, as it is saved.
    """

    ready: Callable[[Split], Best]
    size: Callable[[], float]


def labelled(split: Split) -> Split:
    """The original rows with their labels as sets, those of one label too."""
    rows = split.original_rows()
    if rows.sets:
        return rows
    start, weight = np.arange(len(rows) + 1), np.ones(len(rows))
    return replace(rows, sets=LabelSets(start, rows.y, weight))


def label_sets(split: Split) -> list[list[int]]:
    """Labels of every row."""
    assert split.sets
    return [part.tolist() for part in np.split(split.sets.classes, split.sets.start[1:-1])]


def measured(trained: Trained, data: Dataset) -> tuple[float, ...]:
    """Precision at 1, 3, 5, nDCG and PSP at 5 on the test rows; ms a row, and MB of the model."""
    train, test = labelled(data.train), labelled(data.test)
    predict = trained.ready(test)
    started = time.process_time()
    found = predict()
    milliseconds = 1000 * (time.process_time() - started) / len(test)
    assert train.sets and test.sets
    counts = np.bincount(train.sets.classes, minlength=data.info.classes)
    best = np.array([(*row, *[0] * DEPTH)[:DEPTH] for row in found])
    rows = cast(
        Predictions,
        SimpleNamespace(
            model=SimpleNamespace(n_classes=data.info.classes),
            split=test,
            best=best,
            inside=np.stack([test.sets.contain(column) for column in best.T]),
            extras=Extras(inverse_propensity=inverse_propensity(counts, len(train), 0.55, 1.5)),
        ),
    )
    values = [
        *(precision(rows, k) for k in (1, 3, 5)),
        gain(rows, 5, discounted=True),
        gain(rows, 5, by_propensity=True),
    ]
    return *(value or 0.0 for value in values), milliseconds, trained.size() / 1e6


def of_files(save: Callable[[str], Any]) -> float:
    """Bytes of the files that a library writes into a folder."""
    with TemporaryDirectory() as folder:
        save(folder)
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def top(test: Split, scores: Callable[[Any], np.ndarray]) -> np.ndarray:
    """The labels of the highest scores, a block of rows at a time."""
    blocks = (scores(test.X[i : i + BLOCK]) for i in range(0, len(test), BLOCK))
    return np.concatenate([np.argsort(-block, axis=1)[:, :DEPTH] for block in blocks])


# ---------------------------------------------------------------- ours
def estimator(data: Dataset, name: str, seed: int = 0, **settings: Any) -> Iterator[Trained | None]:
    """One of our classifiers; kernels are compiled before."""
    train = labelled(data.train)
    labels = label_sets(train) if data.info.multi_label else train.y
    classifier = getattr(xcbench, name)
    classifier(**settings | {"epochs": 1}).fit(train.X[:200], labels[:200])
    yield None
    model = classifier(random_state=seed, **settings).fit(train.X, labels)
    yield Trained(
        lambda test: lambda: model.predict_top_k(test.X, k=DEPTH)[0],
        lambda: len(pickle.dumps(model)),
    )


# ---------------------------------------------------------------- peers
def one_vs_rest(data: Dataset, loss: str, **settings: Any) -> Iterator[Trained | None]:
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
    yield Trained(
        lambda test: lambda: top(test, lambda rows: rows @ V.T + b),
        lambda: V.nbytes,
    )


def napkin(data: Dataset, learner: str = "PLT", seed: int = 0) -> Iterator[Trained | None]:
    """NapkinXC's learner, its defaults: a probabilistic label tree, or `BR`; `HSM` of one label."""
    from napkinxc import models

    split = labelled(data.train)
    X, labels = sp.csr_matrix(split.X), label_sets(split)
    if learner == "HSM":
        X, labels = sp.csr_matrix(data.train.X), data.train.y.tolist()
    with TemporaryDirectory() as folder:
        restart_rand()
        yield None
        model = getattr(models, learner)(folder, seed=seed, threads=1)
        model.fit(X, labels)
        yield Trained(
            lambda test: partial(model.predict, sp.csr_matrix(test.X), top_k=DEPTH),
            lambda: of_files(lambda copy: shutil.copytree(folder, copy, dirs_exist_ok=True)),
        )


def pairs(X: sp.csr_matrix) -> list[list[tuple[int, float]]]:
    """Features and values of every row."""
    every = [*zip(X.indices.tolist(), X.data.tolist(), strict=True)]
    return [every[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


def parabel(data: Dataset, trees: int, seed: int) -> Iterator[Trained | None]:
    """Omikuji's Parabel, its defaults; it reads a file. No seed of ours reaches its draws."""
    import omikuji

    train = labelled(data.train)
    with TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        lines = [f"{len(train)} {data.info.features} {data.info.classes}"]
        for labels, row in zip(label_sets(train), pairs(sp.csr_matrix(train.X)), strict=True):
            values = " ".join(f"{j}:{x:.9g}" for j, x in row)
            lines.append(f"{','.join(map(str, labels))} {values}")
        path.write_text("\n".join(lines) + "\n")
        yield None
        parameters = omikuji.Model.default_hyper_param()
        parameters.n_trees = trees
        model = omikuji.Model.train_on_data(str(path), parameters, n_threads=1)

        def best(rows: list[list[tuple[int, float]]]) -> list[list[int]]:
            return [[label for label, _ in model.predict(row, top_k=DEPTH)] for row in rows]

        yield Trained(
            lambda test: partial(best, pairs(sp.csr_matrix(test.X))),
            lambda: of_files(model.save),
        )


def libmultilabel(data: Dataset, learner: str, C: float) -> Iterator[Trained | None]:
    """LibMultiLabel's one-vs-rest or label tree, its defaults but for C."""
    from libmultilabel import linear

    train = data.train.original_rows()
    X = sp.csr_matrix(train.X, dtype=np.float64)
    Y = sp.csr_matrix(train.labels(data.info.classes))
    train_by = {"one-vs-rest": linear.train_1vsrest, "tree": linear.train_tree}[learner]
    yield None
    model = train_by(Y, X, options=f"-s 1 -c {C} -B 1 -q", verbose=False)
    yield Trained(
        lambda test: (
            lambda: top(
                test, lambda rows: model.predict_values(sp.csr_matrix(rows, dtype=np.float64))
            )
        ),
        lambda: len(pickle.dumps(model)),
    )


def forests(dataset: str) -> list[tuple[int, int]]:
    """Numbers of trees, or of clusterings, and seeds."""
    return [(1, 0)] if dataset == TWIN else [(T, seed) for T in (1, 3) for seed in SEEDS]


ALL = {"name": "OneVsAllClassifier", "l2": 1.0}
CLUSTERS = {"name": "MarginClassifier", "method": "cluster_svm", "reduction": "pick_all"}
DELICIOUS = {"lr": 0.02, "lr_decay": 0.8, "epochs": 8}
CITEULIKE = {"lr": 0.3, "lr_decay": 0.8, "epochs": 10}
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
                {**ALL, "negatives": negatives, **CITEULIKE, "lr": lr}
                for negatives, lr in ((5, 0.1), (20, 0.3), (100, 0.3))
            ],
            "citeulike, all": [{**ALL, "negatives": 20, **CITEULIKE}],
        },
    ),
    "cluster_svm": (
        estimator,
        {
            name: [CLUSTERS | {"clusterings": T, "seed": seed} for T, seed in forests(name)]
            for name in DATASETS
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
    "napkinXC one-vs-rest": (
        napkin,
        {name: [{"learner": "BR"}] for name in ("bibtex", "delicious", "citeulike")},
    ),
    "omikuji Parabel": (
        parabel,
        {
            name: [{"trees": trees, "seed": seed} for trees, seed in forests(name)]
            for name in DATASETS
        },
    ),
    "LibMultiLabel": (
        libmultilabel,
        {
            "bibtex": [{"learner": "one-vs-rest", "C": 0.1}, {"learner": "tree", "C": 0.1}],
            "delicious": [{"learner": "one-vs-rest", "C": 0.1}, {"learner": "tree", "C": 0.1}],
            "citeulike": [{"learner": "tree", "C": 1.0}],
        },
    ),
}


ALL_OF = ("OneVsAllClassifier", "cluster_svm")  # are shown with all their settings
COLUMNS = [
    *("seconds", "precision_at_1", "precision_at_3", "precision_at_5", "ndcg_at_5", "psp_at_5"),
    *("ms_per_row", "megabytes"),
]
SHOWN = ("negatives", "lr", "C", "clusterings", "trees", "learner")


def means(rows: pd.DataFrame, best: bool = True) -> pd.DataFrame:
    """Means over the seeds; all settings of ours, of others that with the best precision at 1."""
    words = [
        ", ".join(
            value if name == "learner" else f"{name} {value:g}"
            for name, value in setting.items()
            if name in SHOWN
        )
        for setting in map(json.loads, rows["setting"])
    ]
    sizes = rows.groupby("dataset")["classes"].transform("max")  # also of what did not end
    rows = rows.assign(setting=words, classes=sizes)
    keys = ["dataset", "classes", "system", "setting", "status"]
    mean = rows.groupby(keys, sort=False, dropna=False)[COLUMNS].mean().reset_index()
    if not best:
        return mean
    return pd.concat(
        group
        if system in ALL_OF or group["precision_at_1"].isna().all()
        else (best_first(group, "precision_at_1").head(1))
        for (_, system), group in mean.groupby(["dataset", "system"], sort=False)
    )


def table(rows: pd.DataFrame) -> str:
    """Of every system on every dataset."""
    lines = []
    for row in means(rows).itertuples():
        numbers = [f"{x:.3f}" for x in row[7:12]]
        sizes = [f"{row.seconds:.1f}", f"{row.ms_per_row:.2g}", f"{row.megabytes:.1f}"]
        measured = [*numbers, *sizes] if row.status == "ended" else [row.status, *[""] * 7]
        lines.append([f"{row.dataset} ({row.classes:,.0f})", row.system, row.setting, *measured])
    of_labels = ["P@1", "P@3", "P@5", "nDCG@5", "PSP@5"]
    headers = ["data (K)", "system", "setting", *of_labels, "s", "ms/row", "MB"]
    return markdown(pd.DataFrame(lines, columns=headers).replace("nan", ""))


CHANGES: dict[str, dict[str, Any]] = {  # one setting of cluster_svm at a time, or another method
    "as it is": {},
    "three clusterings": {"clusterings": 3},
    "rows of any length": {"unit": False},
    "five times the weight of the losses": {"C": 2.5},
    "a fifth of it": {"C": 0.1},
    "small weights kept": {"threshold": 0.0},
    "machines to the end": {"tolerance": 0.001, "passes": 500},
    "clusters of 10": {"size": 10},
    "clusters of 300": {"size": 300},
}
DRAWN = {name: {"sampler": name, "negatives": 20} for name in ("absent", "clusters")}


def parts(rows: pd.DataFrame) -> str:
    """Precision at 1, and seconds, of every change on every dataset."""
    shown = rows.assign(
        value=[
            f"{p:.3f} ({s:.1f} s)"
            for p, s in zip(rows["precision_at_1"], rows["seconds"], strict=True)
        ]
    )
    wide = shown.pivot(index="system", columns="dataset", values="value")
    wide = wide.reindex(index=[*rows["system"].unique()], columns=[*rows["dataset"].unique()])
    return markdown(wide.rename_axis(None, axis=1).reset_index(names="change"))


COMPARISON = Comparison(
    kept("multi-label.csv", "several labels", table),
    COLUMNS[1:],
    measured,
    DATASETS,
    SYSTEMS,
    LIMIT,
)
PARTS = Comparison(
    kept("cluster-parts.csv", "parts of cluster_svm", parts),
    COLUMNS[1:],
    measured,
    {name: DATASETS[name] for name in ("bibtex", "delicious", "citeulike")},
    {
        name: (estimator, {data: [CLUSTERS | change] for data in DATASETS})
        for name, change in CHANGES.items()
    }
    | {
        f"one_vs_all, sampler={name}": (
            estimator,
            {
                "bibtex": [ALL | sampler],
                "delicious": [ALL | sampler | DELICIOUS],
                "citeulike": [ALL | sampler | CITEULIKE],
            },
        )
        for name, sampler in DRAWN.items()
    },
    LIMIT,
)


def figure(mean: pd.DataFrame) -> Figure:
    """Precision at 1 over seconds of training, a panel a dataset; points of a system are joined."""
    names = [*mean["dataset"].unique()]
    fig, (panels,) = style.panels(0.5 + 2.9 * len(names), 3.6, 1, len(names), squeeze=False)
    systems = [*mean["system"].unique()]
    looks: style.Styles = {
        name: {"color": colour, "marker": marker}
        for name, colour, marker in zip(systems, cycle(style.OTHERS), cycle("os^vD*P"))
    }
    for ax, name in zip(panels, names, strict=True):
        for system, points in mean[mean["dataset"] == name].groupby("system", sort=False):
            points = points.sort_values("seconds")
            ax.plot(points["seconds"], points["precision_at_1"], markersize=5, **looks[system])
        ax.set(xscale="log", title=name, xlabel="seconds of training")
    panels[0].set_ylabel("test precision at 1")
    style.legend(fig, "", looks)
    return fig


def run() -> None:
    """Train what is missing; write tables and figure."""
    COMPARISON.run()
    PARTS.run()
    folder = ROOT / "reports" / "multi-label"
    folder.mkdir(exist_ok=True)
    mean = means(COMPARISON.kept.rows(), best=False)
    ended = mean[mean["status"] == "ended"]
    save([Drawing("by-seconds", partial(figure, ended), "Precision over seconds.")], folder)
