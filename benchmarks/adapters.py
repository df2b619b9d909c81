"""Precision at 1 of every adapter to a library beside that of the library used by itself.

``python -m benchmarks.adapters`` writes ``reports/adapters.csv`` and a table of
``docs/methods.md``: a training of each, more where it differs without a seed, with the same
settings on the same rows, all labels of a row (`hsm`: a row a label). Systems whose package is not
installed say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from benchmarks import multi_label
from benchmarks.comparison import ROOT, Comparison, Point, System, measuring, training
from xcbench.core.dataset import Dataset
from xcbench.core.solvers import Streams
from xcbench.methods import registry

LIMIT = 900.0  # processor seconds of a training
WITHIN = 0.3  # points
Alone = Callable[[Dataset, int], Iterator[Point]]  # a library on data, with a seed


def adapter(data: Dataset, name: str, seed: int = 0, **settings: Any) -> float:
    """Precision at 1 of the method."""
    method = registry.builtin()[name]
    chosen: Any = method.schema(name, **settings)
    solver: Any = method.build(chosen, data.info)
    shape = data.info.classes, data.info.features
    model = solver.make_model("numpy", *shape, chosen.bias, "float32")
    for _ in solver.fit(data, model, Streams.of(seed), [solver.epochs]):
        pass
    test = data.test.whole_rows()
    assert test.sets
    return float(test.sets.contain(np.asarray(model.predict(test.X), np.int64)).mean())


# ---------------------------------------------------------------- the libraries by themselves
def napkin(learner: str, data: Dataset, seed: int) -> Iterator[Point]:
    """NapkinXC's learner with the adapter's seed: the same k-means."""
    return multi_label.napkin(data, learner, int(Streams.of(seed).classes.integers(2**31)))


def sgd(data: Dataset, seed: int) -> Iterator[Point]:
    """scikit-learn's, class after class."""
    return multi_label.one_vs_rest(data, "SGD", random_state=seed)


def unseeded(system: Callable[..., Iterator[Point]], **settings: Any) -> Alone:
    """Of a system that has its own seed or none."""
    return lambda data, seed: system(data, **settings)


SQUARED_HINGE = {"C": 0.1, "tolerance": 1e-4, "labels": "all"}
ALONE: dict[str, tuple[Alone, dict[str, Any]]] = {  # and the adapter's settings
    "omikuji": (unseeded(multi_label.parabel), {}),
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
DATASETS = {**multi_label.DATASETS, "citeulike, 50": FREQUENT}
REPEATED = {  # k-means without a seed; rows in another order
    "omikuji": {"bibtex": 13, "delicious": 2, "citeulike": 3},
    "lml_tree": {"bibtex": 5, "delicious": 2, "citeulike": 5, "citeulike, 50": 5},
    "sgd_ovr": {"bibtex": 5},
}


def both(name: str, data: Dataset, trainings: int = 1) -> Iterator[Point]:
    """Precision at 1 of the adapter and of the library, means of trainings; seconds of all."""
    alone, settings = ALONE[name]
    started = training(LIMIT)
    ours = np.mean([adapter(data, name, seed, **settings) for seed in range(trainings)])
    yield time.process_time() - started, (float(ours), np.nan)
    theirs = np.mean([next(alone(data, seed))[1][0] for seed in range(trainings)])
    yield measuring(started), (float(ours), float(theirs))


SYSTEMS: dict[str, System] = {
    name: (
        partial(both, name),
        {
            data: [{"trainings": REPEATED.get(name, {}).get(data, 1)}]
            for data in DATASETS
            if data != "citeulike" or name in TREES  # one-vs-rest: thousands of trainings
        },
    )
    for name in ALONE
}


def table(rows: pd.DataFrame) -> str:
    """A line an adapter: both precisions in percent on every dataset, and the difference."""
    lines = []
    for name, found in rows.groupby("system", sort=False):
        line = [f"`{name}`"]
        for dataset in DATASETS:
            rows_of = found[found["dataset"] == dataset]
            line.append("not run" if rows_of.empty else shown(rows_of.iloc[-1]))
        lines.append(line)
    return tabulate(lines, ["method", *DATASETS], tablefmt="github") + "\n"


def shown(row: pd.Series) -> str:
    """Both precisions, or the one before the training that was stopped."""
    ours, alone = (f"{100 * row[name]:.2f}" for name in ("ours", "alone"))
    if row["status"] == "limit":
        late = f"too long: above {LIMIT:.0f} s"
        return late if np.isnan(row["ours"]) else f"{ours} / {late}"
    if row["status"] != "ended":
        return str(row["status"])
    far = "" if abs(row["ours"] - row["alone"]) <= WITHIN / 100 else ", **apart**"
    return f"{ours} / {alone}{far}"


COMPARISON = Comparison(
    "adapters",
    ["ours", "alone"],
    DATASETS,
    SYSTEMS,
    table,
    "adapters",
    page=ROOT / "docs" / "methods.md",
)
if __name__ == "__main__":
    COMPARISON.main()
