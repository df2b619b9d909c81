"""Recommend a method: the best of a table of measurements that meets the user's needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from xcbench.store.ordering import best_first, near_best

NEAR = (
    0.02  # accuracies within this share of the best one, and losses, count as as good: faster wins
)


@dataclass(frozen=True)
class Needs:
    """What the user needs.

    Attributes
    ----------
    probabilities : whether the method must give class probabilities.
    seconds, mib, row_seconds : limits on training time, model size and prediction time per row.
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


def measure(needs: Needs) -> str:
    """Column that says how good a method is: its log loss if probabilities are needed."""
    return "test_log_loss" if needs.probabilities else "accuracy"


def best_of_methods(entries: pd.DataFrame, needs: Needs) -> pd.DataFrame:
    """The best row of every method, the best method first; of equals that of lower log loss."""
    order = entries.sort_values(["test_log_loss", "method"], kind="stable")
    return best_first(order, measure(needs)).drop_duplicates("method")


def choice(entries: pd.DataFrame, needs: Needs, resolution: float = 0.0) -> pd.Series | None:
    """Choose a method from the table; None if no method meets the needs.

    The method with the lowest log loss wins if probabilities are needed, else the one with the
    highest accuracy. Among methods that are about as good, the fastest to train wins.

    Parameters
    ----------
    resolution : training times below so many seconds count as equal; the better method wins.
    """
    some = entries.dropna(subset=["accuracy", measure(needs)])
    for column, most in (
        ("train_seconds", needs.seconds),
        ("model_mib", needs.mib),
        ("row_seconds", needs.row_seconds),
    ):
        if most is not None:
            some = some[some[column] <= most]
    if some.empty:
        return None
    best = best_of_methods(some, needs)
    near = best[near_best(best[measure(needs)], measure(needs), NEAR)]
    seconds = near["train_seconds"].clip(lower=resolution)
    return near.assign(order=seconds).sort_values("order", kind="stable").iloc[0]


def table(summary: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """Recommended method for every task and set of needs, ordered by the number of classes."""
    return pd.DataFrame(_lines(summary, shapes))


def _lines(summary: pd.DataFrame, shapes: pd.DataFrame) -> Iterator[dict[str, object]]:
    for task, shape in shapes.sort_values(["classes", "train"], kind="stable").iterrows():
        rows = summary[summary["task"] == task]
        line = {
            "task": task,
            "K": int(shape["classes"]),
            "N": int(shape["train"]),
            "density": shape["nonzeros_per_row"] / shape["features"],
        }
        for wish, needs in WISHES.items():
            best = choice(rows, needs)
            line[wish] = "none" if best is None else _words(best, needs)
        yield line


def _words(row: pd.Series, needs: Needs) -> str:
    value = (
        f"log loss {row['test_log_loss']:.3f}"
        if needs.probabilities
        else f"{100 * row['accuracy']:.1f} %"
    )
    return f"{row['method']} ({value}, {row['train_seconds']:.2g} s)"
