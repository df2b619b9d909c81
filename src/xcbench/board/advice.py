"""Which method to use: the best of a table of measures under what is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

NEAR = (
    0.02  # accuracies within this share of the best one, and losses, count as as good: faster wins
)


@dataclass(frozen=True)
class Needs:
    """What is needed.

    Attributes
    ----------
    probabilities : whether classes must have them.
    seconds, mib, row_seconds : of training, of the model, of predicting a row, at most.
    """

    probabilities: bool = False
    seconds: float | None = None
    mib: float | None = None
    row_seconds: float | None = None


WISHES: Mapping[str, Needs] = {
    "any method": Needs(),
    "with probabilities": Needs(probabilities=True),
    "trained in 0.1 s": Needs(seconds=0.1),
    "probabilities in 0.1 s": Needs(probabilities=True, seconds=0.1),
    "a model of at most 1 MiB": Needs(mib=1.0),
}


def choice(entries: pd.DataFrame, needs: Needs) -> pd.Series | None:
    """The method to use of those with measures; None where none meets the needs.

    The lowest log loss where probabilities are needed, else the highest accuracy; of methods that
    are about as good the one that trains fastest.
    """
    some = entries.dropna(subset=["accuracy"])
    for column, most in (
        ("train_seconds", needs.seconds),
        ("model_mib", needs.mib),
        ("row_seconds", needs.row_seconds),
    ):
        if most is not None:
            some = some[some[column] <= most]
    if needs.probabilities:
        some = some.dropna(subset=["test_log_loss"])
    if some.empty:
        return None
    if needs.probabilities:
        near = some[some["test_log_loss"] <= (1 + NEAR) * some["test_log_loss"].min()]
    else:
        near = some[some["accuracy"] >= (1 - NEAR) * some["accuracy"].max()]
    return near.sort_values(["train_seconds", "method"], kind="stable").iloc[0]


def table(summary: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """For every task, from few classes to many, what to use under every wish."""
    return pd.DataFrame(_lines(summary, shapes))


def _lines(summary: pd.DataFrame, shapes: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for task, shape in shapes.sort_values(["classes", "train"], kind="stable").iterrows():
        own = summary[summary["task"] == task]
        line = {
            "task": task,
            "K": int(shape["classes"]),
            "N": int(shape["train"]),
            "density": shape["nonzeros_per_row"] / shape["features"],
        }
        for wish, needs in WISHES.items():
            found = choice(own, needs)
            line[wish] = "none" if found is None else _told(found, needs)
        yield line


def _told(found: pd.Series, needs: Needs) -> str:
    value = (
        f"log loss {found['test_log_loss']:.3f}"
        if needs.probabilities
        else f"{100 * found['accuracy']:.1f} %"
    )
    return f"{found['method']} ({value}, {found['train_seconds']:.2g} s)"
