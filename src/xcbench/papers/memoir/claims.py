"""What is known of every number that the MEMOIR paper prints."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import published, verdicts
from xcbench.papers.frames import Values, part, values
from xcbench.papers.memoir.frames import in_time, measure, of, remark
from xcbench.papers.memoir.names import (
    DATASETS,
    FACTORS,
    MEMOIR,
    METHODS,
    READINGS,
    WITHOUT_PACKAGE,
    grid,
)
from xcbench.papers.replication import Claim, Key, Reading, absent, command

SIZES = {
    "classes": "shape.classes",
    "dimension": "shape.features",
    "train_size": "shape.train",
    "test_size": "shape.test",
}
TIMES = ("train_time", "predict_time")
NO_SOURCE = "no package of the registry installs it"
HELD_OUT = "held-out rows are not read: T is as printed"
SIZE = "ours is the size of the weights, the paper does not say what it measured"
SIZES_DIFFER = (
    "ours has the constant feature, and classes and features of the training and test rows"
)


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric; of what is printed as NA there is none."""
    made: dict[Key, Claim] = {}
    every = published.numbers()
    own = every[(every["paper"] == "memoir") & (every["value"] != "NA")]
    makers = {"Table 1": _table1, "Table 2": _table2, "Table 3": _table3, "Table 4": _table4}
    for row in own.to_dict("records"):
        key = (row["table"], row["dataset"], row["method"], row["metric"])
        made[key] = makers[row["table"]](results, *key[1:], row["unit"])
    return made


def _claim(
    found: dict[str, Values],
    how: dict[str, str],
    dataset: str,
    reason: str = "",
    late: str = "",
) -> Claim:
    """Claim of the readings that were measured; else why there is no measurement."""
    readings = [Reading(name, own.values, how[name]) for name, own in found.items() if own.values]
    if readings:
        return Claim(readings, reason)
    last = list(how.values())[-1]
    why = next((own.skipped for own in found.values() if own.skipped), "")
    if why == verdicts.NO_DATA:
        return Claim((), absent(dataset), command=last)
    if why == verdicts.NO_PACKAGE:
        return Claim((), "an extra that is not installed", why, last)
    return Claim((), why or late, verdicts.NOT_YET, last)


def _table1(results: pd.DataFrame, printed: str, method: str, metric: str, unit: str) -> Claim:
    dataset = DATASETS[printed]
    how = {"as_text": command("memoir/table1", dataset)}
    if metric not in SIZES:
        return Claim((), HELD_OUT, verdicts.SETTING, how["as_text"])
    found = {"as_text": values(part(results, "table1", dataset=dataset), SIZES[metric])}
    return _claim(found, how, dataset, SIZES_DIFFER if metric == "dimension" else "")


def _table2(results: pd.DataFrame, printed: str, method: str, metric: str, unit: str) -> Claim:
    n = FACTORS[method.removeprefix("MEMOIR |b|=").removesuffix("*sqrt(C)")]
    how = {"as_published": f"{command('memoir/table2', DATASETS[printed])} method.n={n}"}
    if metric.startswith("iterations"):
        return Claim((), "", verdicts.SETTING, how["as_published"])
    if metric in TIMES:
        return Claim((), "", verdicts.TIME, how["as_published"])
    rows = part(results, "table2", dataset=DATASETS[printed])
    if "method.n" in rows:
        rows = rows[rows["method.n"] == n]
    return _claim({"as_published": measure(rows, metric)}, how, DATASETS[printed])


def _table3(results: pd.DataFrame, printed: str, method: str, metric: str, unit: str) -> Claim:
    if method in WITHOUT_PACKAGE:
        return Claim((), NO_SOURCE, verdicts.NO_PACKAGE)
    dataset = DATASETS[printed]
    readings = {reading: reading for reading in READINGS}
    if method not in MEMOIR:  # text and code run the same libraries
        readings = {"as_text": "as_published"}
    how = {
        name: command(f"memoir/{grid(method, reading)}", dataset, METHODS[method])
        for name, reading in readings.items()
    }
    if metric in TIMES:
        return Claim((), "", verdicts.TIME, list(how.values())[-1])
    rows = {name: of(results, dataset, method, reading) for name, reading in readings.items()}
    found = {name: measure(in_time(own), metric, unit) for name, own in rows.items()}
    reason, late = SIZE if metric == "total_memory" else "", remark(pd.concat(rows.values()))
    return _claim(found, how, dataset, reason, late)


def _table4(results: pd.DataFrame, printed: str, method: str, metric: str, unit: str) -> Claim:
    """A setting, with the experiment that has it."""
    if method in WITHOUT_PACKAGE:
        return Claim((), NO_SOURCE, verdicts.SETTING)
    known = {"MEMOIR-*": "MEMOIR-l2"}.get(method, method)
    experiment = "memoir/table4" if metric.endswith(" T") else f"memoir/{grid(known)}"
    dataset = "" if metric.endswith(" T") else DATASETS[printed]
    return Claim((), "", verdicts.SETTING, command(experiment, dataset, METHODS[known]))
