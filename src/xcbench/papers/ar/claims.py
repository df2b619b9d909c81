"""What is known of every number that the A&R paper prints."""

from __future__ import annotations

import pandas as pd

from xcbench.papers import published, verdicts
from xcbench.papers.ar.frames import METRICS, READINGS, measured, pace, seconds
from xcbench.papers.ar.names import DATASETS, EXACT, METHODS, grid
from xcbench.papers.frames import Values, part, values
from xcbench.papers.replication import Claim, Key, Reading, absent, command

SIZES = {
    "train_examples": "shape.train",
    "test_examples": "shape.test",
    "covariates": "shape.features",
    "classes": "shape.classes",
}
SYNTHETIC = {
    "train_examples": "shape.train",
    "classes_generated": "dataset.categories.classes",
    "classes_effective": "shape.classes",
}
SPLIT = {
    "classes": "Mulan's split has 146 training classes; the paper's own split is not known",
    "test_examples": "2,513 rows have a label that is a class of training; 2,413 looks like a slip",
}
SECONDS = {"s": 1, "minutes": 60, "h": 3600}
EVALUATION = (
    "published evaluation: losses clipped at 26 nats, probit and logistic by importance sampling"
)
DRAWN = (
    "the paper says neither which drawings train nor how they were made smaller; "
    "drawers 17 to 20 as the test part come nearer"
)
ANOTHER_DRAW = "another draw of the same recipe; its seed is not printed"


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric."""
    return {**_table1(results), **_times(results), **_table3(results), **_synthetic(results)}


def _command(dataset: str, method: str, reading: str = "as_published") -> str:
    return command(f"ar/{grid(dataset, method, reading)}", dataset, method)


def _claim(
    found: dict[str, Values], how: dict[str, str], dataset: str, reason: str = "", note: str = ""
) -> Claim:
    """Claim of the readings that were measured; else that data are absent, or nothing ran yet."""
    readings = [
        Reading(name, own.values, how[name], note if name == "as_published" else "")
        for name, own in found.items()
        if own.values
    ]
    if readings:
        return Claim(readings, reason)
    last = list(how.values())[-1]
    if any(own.skipped for own in found.values()):
        return Claim((), absent(dataset), command=last)
    return Claim((), "", verdicts.NOT_YET, last)


def _table1(results: pd.DataFrame) -> dict[Key, Claim]:
    made = {}
    for printed, dataset in DATASETS.items():
        names = {reading: grid(dataset, "ar_softmax", reading) for reading in READINGS}
        names = {reading: name for reading, name in names.items() if name}
        how = {reading: _command(dataset, "ar_softmax", reading) for reading in names}
        for metric, column in SIZES.items():
            found = {
                reading: values(part(results, name, dataset=dataset).head(1), column)
                for reading, name in names.items()
            }
            reason = SPLIT.get(metric, "") if printed == "Bibtex" else ""
            made["Table 1", printed, "", metric] = _claim(found, how, dataset, reason)
        for metric in ("minibatch_observations", "minibatch_classes", "iterations"):
            claim = Claim((), "", verdicts.SETTING, how["as_published"])
            made["Table 1", printed, "", metric] = claim
    return made


def _times(results: pd.DataFrame) -> dict[Key, Claim]:
    """Times in the printed unit, which are never judged."""
    table = published.numbers()
    own = table[(table["paper"] == "ar") & (table["metric"] == "time_per_epoch")]
    made = {}
    for row in own.to_dict("records"):
        ours = METHODS[row["method"]]
        if row["table"] == "Table 2":
            dataset = DATASETS[row["dataset"]]
            how, found = command("ar/table2", dataset, ours), seconds(results, dataset, ours)
        else:
            how, found = command("ar/synthetic"), pace(part(results, "synthetic", method=ours))
        of_unit = SECONDS[row["unit"].split()[0]]
        measured = [value / of_unit for value in found.values]
        readings = [Reading("as_published", measured, how)] if measured else []
        key = (row["table"], row["dataset"], row["method"], row["metric"])
        made[key] = Claim(readings, "", verdicts.TIME, how)
    return made


def _table3(results: pd.DataFrame) -> dict[Key, Claim]:
    made = {}
    for printed, dataset in DATASETS.items():
        for method, ours in METHODS.items():
            if method == EXACT and printed not in ("MNIST", "Bibtex"):
                continue  # not printed
            readings = [reading for reading in READINGS if grid(dataset, ours, reading)]
            how = {reading: _command(dataset, ours, reading) for reading in readings}
            for metric in METRICS:
                found = {
                    reading: measured(results, printed, method, metric, reading)
                    for reading in readings
                }
                note = EVALUATION if metric == "test_log_likelihood" else ""
                reason = DRAWN if printed == "Omniglot" else ""
                claim = _claim(found, how, dataset, reason, note)
                made["Table 3", printed, method, metric] = claim
    return made


def _synthetic(results: pd.DataFrame) -> dict[Key, Claim]:
    made: dict[Key, Claim] = {}
    how = {"as_published": command("ar/synthetic")}
    rows = part(results, "synthetic")
    for metric, name in SYNTHETIC.items():
        found = {"as_published": values(rows.head(1), name)}
        reason = ANOTHER_DRAW if metric == "classes_effective" else ""
        made["Section 4.1", "synthetic", "", metric] = _claim(found, how, "", reason)
    for metric in ("minibatch_observations", "minibatch_classes", "iterations"):
        claim = Claim((), "", verdicts.SETTING, how["as_published"])
        made["Section 4.1", "synthetic", "", metric] = claim
    for method in ("A&R softmax", "OVE"):
        own = rows[rows["method"] == METHODS[method]]
        sizes = {
            "bound": values(own.assign(whole=own.get("bound", 0) * own["shape.train"]), "whole"),
            "mean_abs_error_of_probabilities": mean_error(own),
        }
        for metric, value in sizes.items():
            claim = _claim({"as_published": value}, how, "")
            made["Section 4.1", "synthetic", method, metric] = claim
    return made


def mean_error(rows: pd.DataFrame) -> Values:
    """Mean over the classes of |estimated probability - empirical frequency|."""
    error = rows.get("train_l1_error", pd.Series(float("nan"), rows.index))
    return values(rows.assign(error=error / rows["shape.classes"]), "error")
