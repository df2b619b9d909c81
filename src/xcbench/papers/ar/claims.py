"""What measures the numbers that the A&R paper prints, and why some differ."""

from __future__ import annotations

import pandas as pd

from xcbench.papers.ar.names import (
    BOUND,
    DATASETS,
    MEAN_ERROR,
    METHODS,
    PACE,
    READINGS,
    column,
    grid,
)
from xcbench.papers.claims import Number, Rule, Source, build, once
from xcbench.papers.frames import Values, values
from xcbench.papers.replication import Claim, Key

SECONDS = {"s": 1, "minutes": 60, "h": 3600}
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
EVALUATION = (
    "published evaluation: losses clipped at 26 nats, probit and logistic by importance sampling"
)
DRAWN = (
    "the paper says neither which drawings train nor how they were made smaller; "
    "drawers 17 to 20 as the test part come nearer"
)
ANOTHER_DRAW = "another draw of the same recipe; its seed is not printed"


def _table3(it: Number) -> dict[str, Source]:
    """Cells under both readings; sizes are those of softmax A&R."""
    dataset, method = DATASETS[it.dataset], METHODS.get(it.method, "ar_softmax")
    grids = {reading: grid(dataset, method, reading) for reading in READINGS}
    return {reading: Source(name, dataset, method) for reading, name in grids.items() if name}


def _table2(it: Number) -> dict[str, Source]:
    return {"as_published": Source("table2", DATASETS[it.dataset], METHODS[it.method])}


def _synthetic(it: Number) -> dict[str, Source]:
    where = {"method": METHODS[it.method]} if it.method else {}
    return {"as_published": Source("synthetic", where=where)}


def _time(it: Number, reading: str, rows: pd.DataFrame) -> Values:
    return values(rows, f"{PACE} / {SECONDS[it.unit.split()[0]]}")


def _score(it: Number, reading: str, rows: pd.DataFrame) -> Values:
    return values(rows, column(it.metric, METHODS[it.method], reading))


def _note(it: Number, reading: str, rows: pd.DataFrame) -> str:
    clipped = (it.metric, reading) == ("test_log_likelihood", "as_published")
    return EVALUATION if clipped else ""


RULES = {
    "Table 1": Rule(
        _table3,
        once(SIZES),
        reason=lambda it: SPLIT.get(it.metric, "") if it.dataset == "Bibtex" else "",
    ),
    "Table 2": Rule(_table2, {"time_per_epoch": _time}),
    "Table 3": Rule(
        _table3,
        {"test_log_likelihood": _score, "test_accuracy": _score},
        reason=lambda it: DRAWN if it.dataset == "Omniglot" else "",
        note=_note,
    ),
    "Section 4.1": Rule(
        _synthetic,
        {
            **once(SYNTHETIC),
            "bound": BOUND,
            "mean_abs_error_of_probabilities": MEAN_ERROR,
            "time_per_epoch": _time,
        },
        reason=lambda it: ANOTHER_DRAW if it.metric == "classes_effective" else "",
    ),
}


def claims(results: pd.DataFrame) -> dict[Key, Claim]:
    """Claims by table, dataset, method and metric."""
    return build("ar", results, RULES)
