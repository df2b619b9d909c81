"""What the tables of the A&R report take from the measured rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from xcbench.papers import published
from xcbench.papers.ar.names import DATASETS, LATENT, METHODS, grid
from xcbench.papers.frames import Values, part, values

READINGS = ("as_text", "as_published")
METRICS = ("test_log_likelihood", "test_accuracy")
LOSS = "test_log_loss"
SYNTHETIC = ("ove", "ar_softmax")


def column(method: str, reading: str) -> str:
    """Log loss of a reading: by the integral and without clip, or as the published code took it."""
    if reading == "as_text":
        return LOSS
    return f"{LOSS}_importance" if method in LATENT else f"{LOSS}_clipped"


def negative(found: Values) -> Values:
    """Log likelihoods from log losses."""
    return replace(found, values=tuple(-value for value in found.values))


def accuracy(rows: pd.DataFrame) -> Values:
    """Share of test rows whose class has the highest score."""
    found = values(rows, "test_error")
    return replace(found, values=tuple(1 - value for value in found.values))


def measured(results: pd.DataFrame, dataset: str, method: str, metric: str, reading: str) -> Values:
    """A number of Table 3, dataset and method as printed."""
    ours = METHODS[method]
    name = grid(DATASETS[dataset], ours, reading)
    return of(part(results, name, dataset=DATASETS[dataset], method=ours), metric, reading)


def of(rows: pd.DataFrame, metric: str, reading: str) -> Values:
    """A number of Table 3 from the rows of one method."""
    if metric == "test_accuracy":
        return accuracy(rows)
    method = str(rows["method"].iloc[0]) if len(rows) else ""
    return negative(values(rows, column(method, reading)))


def seconds(results: pd.DataFrame, dataset: str, method: str) -> Values:
    """Training seconds an epoch, dataset and method in our names."""
    return pace(part(results, "table2", dataset=dataset, method=method))


def pace(rows: pd.DataFrame) -> Values:
    """Training seconds an epoch."""
    return values(rows.assign(pace=rows["train_seconds"] / rows["epoch"]), "pace")


printed = partial(published.number, "ar")  # by table, dataset, method, metric
