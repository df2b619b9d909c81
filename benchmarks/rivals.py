"""Trees, PD-Sparse and the libraries beside them: precision, seconds and memory, as cells.

``python -m benchmarks.rivals`` runs what ``reports/rivals.csv`` lacks, one thread each, and writes
the file and the table of ``docs/methods.md``. Data are in ``$XCBENCH_DATA``, or ``data/``;
``lshtc1`` may be its synthetic twin, whose precision says nothing about LSHTC1.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

import xcbench
from benchmarks.comparison import write_between

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "reports" / "rivals.csv", ROOT / "docs" / "methods.md"
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
TRAINED_IN = "train_seconds"
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


def main() -> None:
    """Run; after every part write the file and the page's table."""
    table = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=KEYS)
    for run in RUNS:
        methods = lacking(run, table)
        if not methods:
            continue
        wanted = {**COMMON, **run, "method": methods}
        found = xcbench.run(**wanted, data_dir=os.environ.get("XCBENCH_DATA", "data"), verbose=2)
        found["dataset"] = run["dataset"]  # also of a twin
        ended = found["status"] == "done"
        found["status"] = found["status"].where(ended, found.get("message"))
        found["split"] = run.get("dataset__protocol__split", "given")
        found["clock"] = COMMON["budget__clock"]
        columns = [*KEYS, "classes", "status", *PRECISIONS, "clock", *COSTS]
        found = found[[name for name in columns if name in found]]
        table = pd.concat([table, found]).drop_duplicates(KEYS, keep="last")
        table.to_csv(TABLE, index=False)
        write_between(PAGE, "rivals", page(table))


def lacking(run: dict[str, Any], table: pd.DataFrame) -> list[str]:
    """Methods of a run that have no seconds in the table."""
    split = run.get("dataset__protocol__split", "given")
    same = table[["dataset", "split", "seed"]] == [run["dataset"], split, run["seed"]]
    there = set(table["method"][same.all(axis=1) & table[TRAINED_IN].notna()])
    methods = [run["method"]] if isinstance(run["method"], str) else run["method"]
    return [name for name in methods if name not in there]


def page(table: pd.DataFrame) -> str:
    """Means and ranges over seeds of precision in percent, means of the costs."""
    lines = []
    for (dataset, method, split), rows in table.groupby(["dataset", "method", "split"]):
        done = rows[rows[TRAINED_IN].notna()]
        line = [dataset, method, split, len(rows), PUBLISHED.get((dataset, method), "")]
        if done.empty:
            lines.append([*line, rows["status"].iloc[0]])
            continue
        for name in PRECISIONS:
            low, mean, high = (100 * f(done[name]) for f in (min, pd.Series.mean, max))
            spread = f" ({low:.1f} to {high:.1f})" if len(done) > 1 else ""
            line.append("" if np.isnan(mean) else f"{mean:.1f}{spread}")
        if dataset == "lshtc1":  # whose precision would say nothing
            line[-len(PRECISIONS)] = rows["status"].iloc[0]
        timed = done[done["clock"] == COMMON["budget__clock"]]
        costs = timed if len(timed) else done.assign(train_seconds=np.nan)
        lines.append([*line, *(number(costs[name].mean()) for name in COSTS)])
    headers = [
        "data",
        "method",
        "split",
        "seeds",
        "published",
        "P@1, %",
        "P@3, %",
        "P@5, %",
        *COSTS.values(),
    ]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True) + "\n"


def number(value: float) -> str:
    """Three digits; nothing where it was not measured."""
    return "" if np.isnan(value) else f"{value:.3g}"


if __name__ == "__main__":
    main()
