"""What measures the numbers that the MEMOIR paper prints, and why some differ."""

from __future__ import annotations

import pandas as pd

from xcbench.papers.claims import Number, Rule, Source, build
from xcbench.papers.frames import Values, values
from xcbench.papers.memoir.names import (
    DATASETS,
    FACTORS,
    MEASURES,
    MEMOIR,
    METHODS,
    READINGS,
    WITHOUT_PACKAGE,
    grid,
    in_time,
)
from xcbench.papers.replication import Claim, Key, command
from xcbench.papers.verdicts import SETTING, TIME

SIZES = {
    "classes": "shape.classes",
    "dimension": "shape.features",
    "train_size": "shape.train",
    "test_size": "shape.test",
}
HELD_OUT = ("heldout_size", "n_total")
NO_SOURCE = "no package of the registry installs it"
REASONS = {  # by metric
    **dict.fromkeys(HELD_OUT, "held-out rows are not read: T is as printed"),
    "dimension": "ours has the constant feature, and classes and features of the training and test "
    "rows",
    "total_memory": "ours is the size of the weights, the paper does not say what it measured",
}


def _reason(it: Number) -> str:
    return NO_SOURCE if it.method in WITHOUT_PACKAGE else REASONS.get(it.metric, "")


def _table1(it: Number) -> dict[str, Source]:
    return {"as_text": Source("table1", DATASETS[it.dataset])}


def _table2(it: Number) -> dict[str, Source]:
    n = FACTORS[it.method.removeprefix("MEMOIR |b|=").removesuffix("*sqrt(C)")]
    dataset = DATASETS[it.dataset]
    launch = f"{command('memoir/table2', dataset)} method.n={n}"
    return {"as_published": Source("table2", dataset, where={"method.n": n}, command=launch)}


def _table3(it: Number) -> dict[str, Source]:
    """Both readings of MEMOIR; text and code run the same libraries."""
    if it.method in WITHOUT_PACKAGE:
        return {}
    own = READINGS if it.method in MEMOIR else ("as_published",)
    at = DATASETS[it.dataset], METHODS[it.method]
    return {
        reading: Source(grid(it.method, name), *at)
        for reading, name in zip(READINGS, own, strict=False)
    }


def _table4(it: Number) -> dict[str, Source]:
    """The experiment that has a setting."""
    if it.method in WITHOUT_PACKAGE:
        return {}
    method = {"MEMOIR-*": "MEMOIR-l2"}.get(it.method, it.method)
    if it.metric.endswith(" T"):
        return {"as_published": Source("table4", method=METHODS[method])}
    return {"as_published": Source(grid(method), DATASETS[it.dataset], METHODS[method])}


def _memory(it: Number, reading: str, rows: pd.DataFrame) -> Values:
    in_gb = " / 1000 *" if it.unit == "GB" else " *"
    return values(rows, MEASURES["total_memory"].replace(" *", in_gb))


RULES = {
    "Table 1": Rule(_table1, {**SIZES, **dict.fromkeys(HELD_OUT, SETTING)}, _reason),
    "Table 2": Rule(_table2, {it: MEASURES[it] for it in ("accuracy", "macro_f1")}),
    "Table 3": Rule(
        _table3,
        {**MEASURES, "total_memory": _memory, "train_time": TIME, "predict_time": TIME},
        _reason,
        rows=in_time,
    ),
    "Table 4": Rule(_table4, {}, _reason),
}


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric; of what is printed as NA there is none."""
    return build("memoir", results, RULES)
