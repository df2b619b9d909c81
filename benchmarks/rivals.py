"""Trees, PD-Sparse and the libraries beside them: precision, seconds and memory, as cells.

``python -m benchmarks rivals`` runs what ``reports/rivals.csv`` lacks, one thread each, and writes
the file and the table of ``docs/methods.md``. Data are in ``$XCBENCH_DATA``, or ``data/``;
``lshtc1`` may be its synthetic twin, whose precision says nothing about LSHTC1.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd

import xcbench
from benchmarks.measure import ROOT
from benchmarks.table import Kept, markdown

PRECISIONS = [f"test_precision_at_{k}" for k in (1, 3, 5)]
COSTS = {
    "train_seconds": "train, processor s",
    "train_mib": "training, MiB",
    "predict_seconds": "predict, s",
    "model_mib": "model, MiB",
}
PUBLISHED: dict[Any, str] = {  # by the Extreme Classification Repository
    ("bibtex", "fastxml"): "63.4, 39.2, 28.9",
    ("bibtex", "pfastrexml"): "63.5, 39.2, 29.1",
    ("bibtex", "pd_sparse"): "61.3, 35.8, 25.7",
    ("bibtex", "omikuji"): "64.5, 38.6, 27.9",
    ("delicious", "fastxml"): "69.6, 64.1, 59.3",
    ("delicious", "pfastrexml"): "67.1, 62.3, 58.6",
    ("delicious", "pd_sparse"): "51.8, 44.2, 39.0",
    ("delicious", "omikuji"): "67.4, 61.8, 56.8",
}
KEYS = ["dataset", "split", "method", "seed"]
COMMON: dict[str, Any] = {
    "evaluation__metrics": [["precision_at_3", "precision_at_5"]],
    "evaluation__costs": True,
    "evaluation__train_rows": 1000,
    "budget__checkpoints": 1,
    "budget__clock": "processor",  # which other programs take nothing of
}
UNIT = {"dataset__protocol__row_norm": "l2", "dataset__protocol__tfidf": True}
TREES = ["fastxml", "pfastrexml"]
LIBRARIES = ["omikuji", "plt"]
EVERY = {"only__plt__labels": "all"}  # as `omikuji` does by itself
MULAN = {"bibtex": 5, "delicious": 1}  # passes of PD-Sparse
TRAINED = {"bibtex": 4880 / 7395, "delicious": 12920 / 16105}  # share of rows, in any split
ARTICLES = {**UNIT, "dataset__protocol__label": "each", "dataset__protocol__min_rows": 5}
TWIN = {
    "dataset": "lshtc1",
    "seed": 0,
    "budget__seconds": 60,
    "budget__memory": 44,  # that of whole passes of PD-Sparse, of which there is time for a part
    "evaluation__rows": 5000,
}


def tags(name: str, seed: int, drawn: bool) -> dict[str, Any]:
    """Mulan's split with a seed, or a split drawn with it; all classes."""
    point = {"dataset": name, "seed": seed, "dataset__protocol__classes": "declared"}
    if drawn:
        point |= {
            "dataset__protocol__split": "random",
            "dataset__protocol__split_train": TRAINED[name],
            "dataset__protocol__split_seed": seed,
        }
    return point


RUNS: list[dict[str, Any]] = [  # what takes long comes last
    *(
        {**tags(name, seed, drawn), **run}
        for drawn in (False, True)
        for name, passes in MULAN.items()
        for seed in range(5)
        for run in (
            {"method": LIBRARIES, **EVERY},
            {"method": "pd_sparse", "method__passes": passes},
        )
    ),
    {"dataset": "citeulike", "method": LIBRARIES, "seed": 0, **ARTICLES, **EVERY},
    {"dataset": "citeulike", "method": "pd_sparse", "method__passes": 1, "seed": 0, **ARTICLES},
    *({**tags(name, seed, False), "method": TREES} for name in MULAN for seed in range(5)),
    {"dataset": "citeulike", "method": TREES, "seed": 0, **ARTICLES},
    *({**TWIN, "method": name} for name in ("pd_sparse", *TREES, *LIBRARIES)),
    *({**tags(name, seed, True), "method": TREES} for name in MULAN for seed in range(5)),
]


def page(table: pd.DataFrame) -> str:
    """Means and ranges over seeds of precision in percent, means of the costs."""
    lines = []
    for (dataset, method, split), rows in table.groupby(["dataset", "method", "split"]):
        done = rows[rows["train_seconds"].notna()]
        line = [dataset, method, split, len(rows), PUBLISHED.get((dataset, method), "")]
        precisions = [spread(100 * done[name]) for name in PRECISIONS]
        if dataset == "lshtc1" or done.empty:  # of lshtc1 it would say nothing
            precisions[0] = rows["status"].iloc[0]
        timed = done[done["clock"] == COMMON["budget__clock"]]
        costs = timed if len(timed) else done.assign(train_seconds=np.nan)
        means = [costs[name].mean() for name in COSTS]
        lines.append([*line, *precisions, *("" if np.isnan(x) else f"{x:.3g}" for x in means)])
    precisions = [f"P@{k}, %" for k in (1, 3, 5)]
    headers = ["data", "method", "split", "seeds", "published", *precisions, *COSTS.values()]
    return markdown(pd.DataFrame(lines, columns=headers))


def spread(values: pd.Series) -> str:
    """Mean, lowest and highest; nothing where it was not measured."""
    if values.isna().all():
        return ""
    between = f" ({values.min():.1f} to {values.max():.1f})" if len(values) > 1 else ""
    return f"{values.mean():.1f}{between}"


KEPT = Kept(ROOT / "reports" / "rivals.csv", KEYS, ROOT / "docs" / "methods.md", "rivals", page)


def run() -> None:
    """Run what has no seconds yet; after every part write the file and the page's table."""
    for cells in RUNS:
        split = cells.get("dataset__protocol__split", "given")
        there = KEPT.rows().dropna(subset=["train_seconds"])
        same = there[["dataset", "split", "seed"]] == [cells["dataset"], split, cells["seed"]]
        methods = np.setdiff1d(cells["method"], there["method"][same.all(axis=1)]).tolist()
        if methods:
            wanted = {**COMMON, **cells, "method": methods}
            data_dir = os.environ.get("XCBENCH_DATA", "data")
            frame = xcbench.run(**wanted, data_dir=data_dir, verbose=2)
            frame["dataset"], frame["split"] = cells["dataset"], split  # also of a twin
            frame["status"] = frame["status"].where(frame["status"] == "done", frame.get("message"))
            frame["clock"] = COMMON["budget__clock"]
            columns = [*KEYS, "classes", "status", *PRECISIONS, "clock", *COSTS]
            KEPT.add(frame[[name for name in columns if name in frame]])
