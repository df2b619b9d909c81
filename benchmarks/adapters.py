"""Precision at 1 of every adapter to a library beside that of the library used by itself.

``python -m benchmarks adapters`` writes ``reports/adapters.csv`` and a table of
``docs/methods.md``: a training of each, more where it differs without a seed, with the same
settings on the same rows, all labels of a row (`hsm`: a row a label). Systems whose package is not
installed say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import multi_label
from benchmarks.comparison import Comparison, System, kept
from benchmarks.shapes import built, settings_of
from benchmarks.table import markdown
from xcbench.core.dataset import Dataset
from xcbench.core.solvers import Streams

WITHIN = 0.3  # points
Library = Callable[[Dataset, int], Iterator[Any]]  # a library on data, with a seed


def adapter(data: Dataset, name: str, seed: int = 0, **settings: Any) -> float:
    """Precision at 1 of the method."""
    solver, model = built(data, settings_of(name, **settings), "numpy")
    list(solver.fit(data, model, Streams.of(seed), [solver.epochs]))
    test = data.test.original_rows()
    assert test.sets
    return float(test.sets.contain(np.asarray(model.predict(test.X), np.int64)).mean())


def library(data: Dataset, name: str, seed: int = 0) -> float:
    """Precision at 1 of the library by itself."""
    predictors = LIBRARIES[name][0](data, seed)
    scores = [multi_label.measured(trained, data)[0] for trained in predictors if trained]
    return scores[-1]


def napkin(learner: str, data: Dataset, seed: int) -> Iterator[Any]:
    """NapkinXC's learner with the adapter's seed: the same k-means."""
    return multi_label.napkin(data, learner, int(Streams.of(seed).classes.integers(2**31)))


def sgd(data: Dataset, seed: int) -> Iterator[Any]:
    """scikit-learn's, class after class."""
    return multi_label.one_vs_rest(data, "SGD", random_state=seed)


def unseeded(system: Callable[..., Iterator[Any]], **settings: Any) -> Library:
    """Of a system that seeds itself, or does not draw."""
    return lambda data, seed: system(data, **settings)


SQUARED_HINGE = {"C": 0.1, "tolerance": 1e-4, "labels": "all"}
LIBRARIES: dict[str, tuple[Library, dict[str, Any]]] = {  # and the adapter's settings
    "omikuji": (unseeded(multi_label.parabel, trees=3, seed=0), {}),
    "plt": (partial(napkin, "PLT"), {"labels": "all"}),
    "lml_tree": (unseeded(multi_label.libmultilabel, learner="tree", C=1.0), {}),
    "hsm": (partial(napkin, "HSM"), {}),
    "lml_ovr": (unseeded(multi_label.libmultilabel, learner="one-vs-rest", C=1.0), {}),
    "svm_ovr": (unseeded(multi_label.one_vs_rest, loss="squared hinge", C=0.1), SQUARED_HINGE),
    "logistic_ovr": (unseeded(multi_label.one_vs_rest, loss="logistic", C=1.0), {}),
    "pruned_ovr": (partial(napkin, "BR"), {}),
    "sgd_ovr": (sgd, {}),
}
TREES = ("omikuji", "plt", "lml_tree", "hsm")
FREQUENT = {"name": "citeulike", **multi_label.DATASETS["citeulike"], "protocol__min_rows": 50}
DATASETS = {name: multi_label.DATASETS[name] for name in ("bibtex", "delicious", "citeulike")}
DATASETS |= {"citeulike, 50": FREQUENT}
REPEATED = {  # k-means without a seed; rows in another order
    "omikuji": {"bibtex": 13, "delicious": 2, "citeulike": 3},
    "lml_tree": {"bibtex": 5, "delicious": 2, "citeulike": 5, "citeulike, 50": 5},
    "sgd_ovr": {"bibtex": 5},
}


def both(name: str, data: Dataset, trainings: int = 1) -> Iterator[tuple[float, float]]:
    """Precision at 1 of the adapter and of the library, means of trainings."""
    settings, seeds = LIBRARIES[name][1], range(trainings)
    ours = float(np.mean([adapter(data, name, seed, **settings) for seed in seeds]))
    yield ours, np.nan
    yield ours, float(np.mean([library(data, name, seed) for seed in seeds]))


def as_yielded(pair: tuple[float, float], data: Dataset) -> tuple[float, float]:
    """Both precisions, which `both` measures itself."""
    return pair


SYSTEMS: dict[str, System] = {
    name: (
        partial(both, name),
        {
            data: [{"trainings": REPEATED.get(name, {}).get(data, 1)}]
            for data in DATASETS
            if data != "citeulike" or name in TREES  # one-vs-rest: thousands of trainings
        },
    )
    for name in LIBRARIES
}


def table(rows: pd.DataFrame) -> str:
    """A line an adapter: both precisions in percent on every dataset, and the difference."""
    last = rows.drop_duplicates(["system", "dataset"], keep="last")
    texts = last.assign(text=[shown(row) for _, row in last.iterrows()])
    wide = texts.pivot(index="system", columns="dataset", values="text")
    wide = wide.reindex(index=rows["system"].unique(), columns=[*DATASETS]).fillna("not run")
    wide.insert(0, "method", [f"`{name}`" for name in wide.index])
    return markdown(wide)


def shown(row: pd.Series) -> str:
    """Both precisions, or the one before the training that was stopped."""
    ours, alone = (f"{100 * row[name]:.2f}" for name in ("ours", "alone"))
    if row["status"] == "limit":
        late = f"too long: above {multi_label.LIMIT:.0f} s"
        return late if np.isnan(row["ours"]) else f"{ours} / {late}"
    if row["status"] != "ended":
        return str(row["status"])
    far = "" if abs(row["ours"] - row["alone"]) <= WITHIN / 100 else ", **apart**"
    return f"{ours} / {alone}{far}"


COMPARISON = Comparison(
    kept("adapters.csv", "adapters", table, "methods.md"),
    ["ours", "alone"],
    as_yielded,
    DATASETS,
    SYSTEMS,
    multi_label.LIMIT,
)
run = COMPARISON.run
