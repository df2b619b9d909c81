"""How inexact margins are: recall of the oracles, and the (epsilon, delta) that they induce.

The theorems of MEMOIR ask for margins that differ from the true ones by at most epsilon with a
probability of at least 1 - delta. `xcbench.oracles.quality` measures both on MEMOIR-l2's weights
after 1, 5 and 25 batches, on synthetic rows with and without the feature that is always 1; epsilon
is in units of the mean absolute score of the best rival, since the scale of weights means nothing.
SimpleLSH divides all weights by the longest: those much shorter all get the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xcbench import config, oracles, registry
from xcbench.datasets import Dataset, Info, protocol, synthetic
from xcbench.objectives import memoir
from xcbench.oracles import Exact, Oracle, RandomClass, SimpleLSH
from xcbench.oracles.graph import Graph, installed
from xcbench.report import style
from xcbench.solvers import Streams, make_model
from xcbench.sparse import SparseModel, sparse_rows

SPEC = config.Synthetic(train=3000, test=1000, features=1000, classes=300, nonzeros=20)
CONSTANTS = {"with": 1.0, "without": 0.0}  # the feature that is always 1
BATCHES = (1, 5, 25)
DELTAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
SEEDS = 5  # of the oracles' random numbers
ORACLES: dict[str, Callable[[np.random.Generator], Oracle]] = {
    "random class": RandomClass,
    "SimpleLSH, 16 bits": partial(SimpleLSH, 16),
    "SimpleLSH, 32 bits": partial(SimpleLSH, 32),
    "SimpleLSH, 64 bits": partial(SimpleLSH, 64),
}


def problem(constant: float) -> Dataset:
    """Synthetic rows under the paper's protocol, with this value of the constant feature."""
    values = config.Protocol(classes="train", tfidf=True, row_norm="l2", constant=constant)
    train, test, K, _ = protocol.apply(*synthetic.make(SPEC), values)
    info = Info("synthetic", "", True, len(train), len(test), train.X.shape[1], K, True, 20.0, 2.0)
    return Dataset(info, train, test, np.bincount(train.y, minlength=K))


def trained(dataset: Dataset, batches: int) -> SparseModel:
    """MEMOIR-l2 as published, by the exact oracle."""
    settings = config.MemoirL2("memoir_l2", lr=0.1, iterations=batches)
    solver = registry.entry(settings).build(settings, dataset.info)
    K, D = dataset.info.classes, dataset.info.features
    model = make_model(solver, "numpy", K, D, False, "float64")
    assert isinstance(model, SparseModel)
    stops = [batches * memoir.batch(settings, dataset.info) / len(dataset.train)]
    for _ in solver.fit(dataset, model, Streams.of(0), stops):
        pass
    return model


def measure() -> dict[str, pd.DataFrame]:
    """Measure every oracle on the test rows, in some seconds.

    Returns
    -------
    dict
        ``inexact``: by ``constant`` (with, without), ``oracle``, ``batches`` and ``seed``:
        ``recall``, the share of rows whose rival it finds; ``epsilon_at_<delta>``, over the mean
        |score| of the best rival; ``longest``, the largest over the median length of the weights.
    """
    makers = ORACLES | ({"small-world graph": lambda rng: Graph()} if installed() else {})
    lines = []
    for constant, value in CONSTANTS.items():
        dataset = problem(value)
        for batches in BATCHES:
            model = trained(dataset, batches)
            where = {"constant": constant, "batches": batches, "longest": longest(model)}
            for name, make in makers.items():
                for seed in range(SEEDS):
                    found = relative(make(np.random.default_rng(seed)), model, dataset)
                    lines.append({**where, "oracle": name, "seed": seed, **found})
    return {"inexact": pd.DataFrame(lines)}


def longest(model: SparseModel) -> float:
    """The largest length of a class's weights over the median."""
    W = model.V.matrix()
    lengths = np.sqrt(np.asarray(W.multiply(W).sum(axis=1)))
    return float(lengths.max() / np.median(lengths))


def relative(oracle: Oracle, model: SparseModel, dataset: Dataset) -> dict[str, float]:
    """Recall and epsilons of an oracle; these over the mean |score| of the best rival."""
    X, y = sparse_rows(dataset.test.X, slice(None), model.dtype), dataset.test.y
    scale = float(np.abs(model.at(X, Exact().rivals(model, X, y)[:, None])).mean())
    oracle.moved(model, np.arange(model.n_classes))
    found = oracles.quality(oracle, model, X, y, DELTAS)
    return {name: x if name == "recall" else x / scale for name, x in found.items()}


def caption(frames: dict[str, pd.DataFrame]) -> str:
    """What was measured and found."""
    last = frames["inexact"].query(f"batches == {BATCHES[-1]}")
    said = []
    for constant, own in last.groupby("constant", sort=False):
        mean = own.groupby("oracle", sort=False)[["recall", "epsilon_at_0.1"]].mean()
        listed = "; ".join(
            f"{name}: recall {it['recall']:.1%}, epsilon {it['epsilon_at_0.1']:.3g} at delta 0.1"
            for name, it in mean.to_dict("index").items()
        )
        apart = f"the longest weights are {own['longest'].iloc[0]:.3g} times the median"
        said.append(f"{str(constant).capitalize()} the constant feature, {apart}. {listed}.")
    lacking = "" if installed() else " The small-world graph: not run, no package."
    return (
        f"Margins of approximate oracles on MEMOIR-l2's weights after {BATCHES[-1]} batches, "
        f"synthetic rows of {SPEC.classes} classes, mean over {SEEDS} seeds. {' '.join(said)} "
        "Epsilon is in units of the mean absolute score of the best rival; the exact oracle has "
        "recall 1 and epsilon 0. SimpleLSH divides all weights by the longest, so that codes of "
        "much shorter ones are nearly the same; and of rows and weights whose cosines differ by "
        f"0.1 the codes of 64 bits differ by two, less than their spread of four.{lacking}"
    )


def draw(frames: dict[str, pd.DataFrame]) -> Figure:
    """Draw recall against batches, and delta against epsilon after the last one."""
    fig = Figure(figsize=(8, 5.4), layout="constrained")
    looks: style.Styles = {}
    rows = zip(fig.subplots(len(CONSTANTS), 2), CONSTANTS, strict=True)
    for (left, right), constant in rows:
        at = frames["inexact"].query(f"constant == '{constant}'")
        for i, (name, own) in enumerate(at.groupby("oracle", sort=False)):
            look = looks[str(name)] = {"color": style.OTHERS[i], "linestyle": style.DASHES[i]}
            by = own.groupby("batches")["recall"]
            left.plot(by.mean().index, by.mean(), marker="o", markersize=3, **look)
            left.fill_between(by.min().index, by.min(), by.max(), color=look["color"], alpha=0.2)
            last = own[own["batches"] == BATCHES[-1]].mean(numeric_only=True)
            right.plot([last[f"epsilon_at_{delta:g}"] for delta in DELTAS], DELTAS, **look)
        left.set(ylabel="recall", xscale="log", ylim=(0, 1), title=f"{constant} the constant")
        left.set_xticks(BATCHES, [str(n) for n in BATCHES])
        left.minorticks_off()
        right.set(ylabel="delta", yscale="log")
    left.set_xlabel("batches")
    right.set_xlabel("epsilon, over the mean |best rival's score|")
    style.legend(fig, "", looks)
    return fig
