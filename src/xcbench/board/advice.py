"""Recommend a method: the best of a table of measurements that meets the user's needs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from xcbench.board.results import CHOOSING, MEASURES, RANKED, Board
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


def in_seconds(board: Board, quality: pd.DataFrame) -> pd.DataFrame:
    """Method that validation rows recommend for every measured task and time, by classes and rows.

    Parameters
    ----------
    quality : of `results.anytime`.
    """
    shapes = board.finals.groupby("task")[["shape.classes", "shape.train"]].first()
    some = quality[quality["role"].eq(RANKED) & quality["task"].isin(board.measured)]
    tables = []
    for measure, column in CHOOSING.items():
        known = some.rename(columns={column: measure}).dropna(subset=[measure])
        best = best_first(known, measure).drop_duplicates(["task", "seconds"])
        tables.append(best.assign(measure=measure, quality=best[measure]))
    table = pd.concat(tables).join(shapes.astype(int).set_axis(["K", "N"], axis=1), on="task")
    order = ["measure", "K", "N", "seconds", "task"]
    columns = ["task", "K", "N", "measure", "seconds", "method", "quality"]
    return table.sort_values(order, ignore_index=True)[columns]


def by_seconds(chosen: pd.DataFrame) -> pd.DataFrame:
    """The methods of `in_seconds`, with their quality: tasks by classes and rows, a column a time.

    The page of the board shows it, and the first page of the reports (``advice.csv``).
    """
    pairs = zip(chosen["method"], chosen["quality"], strict=True)
    cells = chosen.assign(
        cell=[f"{method} ({quality:.3f})" for method, quality in pairs],
        measure=chosen["measure"].map(MEASURES),
    )
    index = ["measure", "K", "N", "task"]
    table = cells.pivot(index=index, columns="seconds", values="cell").reset_index()
    table.columns = [it if isinstance(it, str) else f"in {it:g} s" for it in table.columns]
    return table
