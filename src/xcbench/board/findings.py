"""Findings that none of the papers states, each a sentence with an effect and its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.board.results import REFERENCE, Board
from xcbench.core.metrics import of_column
from xcbench.show.effects import effect
from xcbench.store.ordering import best_of_each, best_value

LOSS = "validation_log_loss"
STEPS = "lr"  # column of methods that take steps of a rate
COLUMNS = ["finding", "effect", "low", "high", "unit", "numbers", "of", "sentence"]


@dataclass(frozen=True)
class Finding:
    """What was found.

    Attributes
    ----------
    sentence : with a placeholder ``{}`` for the effect.
    numbers : function that gives the numbers whose mean is the effect.
    unit : of the effect.
    of : what the numbers are.
    """

    name: str
    sentence: str
    numbers: Callable[[Board], pd.Series]
    unit: str = ""
    of: str = "seeds, over these tasks"


def table(board: Board) -> pd.DataFrame:
    """All findings of at least two different numbers."""
    lines = []
    for it in FINDINGS:
        numbers = it.numbers(board).replace([np.inf, -np.inf], np.nan).dropna()
        measured = effect([*numbers])
        if measured.high > measured.low:
            interval = (measured.mean, measured.low, measured.high)
            lines.append((it.name, *interval, it.unit, measured.seeds, it.of, it.sentence))
    return pd.DataFrame(lines, columns=COLUMNS)


def sentences(findings: pd.DataFrame) -> list[str]:
    """The findings of `table` in words."""
    words = []
    for _, it in findings.iterrows():
        unit = f" {it['unit']}" if it["unit"] else ""
        shown = f"{it['effect']:.3g}{unit} [{it['low']:.3g}, {it['high']:.3g}]"
        ends = f"(mean and 95 % interval, of {it['numbers']} {it['of']})"
        words.append(f"{it['sentence'].replace('{}', shown)} {ends}.")
    return words


def _searches(board: Board) -> pd.DataFrame:
    """Validation losses of the first trial and of the best, of every search of a rate."""
    by = ["task", "method"]
    trials = board.trials.reindex(columns=[*by, STEPS, "method.l2", LOSS])
    trials = trials.dropna(subset=[LOSS, STEPS])
    groups = (some.groupby(by)[LOSS] for some in (trials[trials["method.l2"] == 0], trials))
    first, best = (losses.agg(best_value, column=LOSS) for losses in groups)
    return pd.DataFrame({"first": first, "best": best}).dropna()


def tuning_gain(board: Board) -> pd.Series:
    """Per cent by which the best trial's loss is below that of the default rate, by search."""
    table = _searches(board)
    return 100 * (1 - table["best"] / table["first"])


def of_defaults(board: Board) -> pd.Series:
    """100 where the default rate was the best trial, else 0, by search."""
    table = _searches(board)
    return 100.0 * (table["best"] == table["first"])


def _accuracy(board: Board, methods: str | pd.Series) -> pd.Series:
    """Accuracy by task and seed of a method, or of one a task; empty if the board lacks it."""
    rows = board.finals[board.finals["method"] == methods]
    return rows.set_index(["task", "seed"])["accuracy"]


def _best(board: Board, some: pd.Series) -> pd.Series:
    """Accuracy by task and seed of the method that is best on the task's average."""
    best = best_of_each(board.summary[some], "accuracy", "task").set_index("task")["method"]
    return _accuracy(board, board.finals["task"].map(best))


def by_seed(values: pd.Series) -> pd.Series:
    """Means over tasks, one number a seed."""
    return values.unstack("seed").dropna().mean()


def without_probabilities(board: Board) -> pd.Series:
    """Accuracy of the best method without probabilities minus the best with them, in points."""
    probable = board.summary["test_log_loss"].notna()
    return by_seed(100 * (_best(board, ~probable) - _best(board, probable)))


def class_sums_share(board: Board) -> pd.Series:
    """Accuracy of class sums as a percentage of the best accuracy."""
    best = _best(board, board.summary["accuracy"].notna())
    return by_seed(100 * _accuracy(board, "class_sums") / best)


def best_less_exact(board: Board) -> pd.Series:
    """Accuracy of the best method minus that of exact softmax, in points, if the board has both."""
    best = _best(board, board.summary["accuracy"].notna())
    return by_seed(100 * (best - _accuracy(board, REFERENCE)).dropna())


def order_of_two_measures(board: Board) -> pd.Series:
    """Spearman's correlation over methods of accuracy and log likelihood."""
    measures = ["accuracy", "test_log_loss"]
    rows = board.finals[board.finals["method"] != "prior"].dropna(subset=measures)
    if rows.empty:
        return pd.Series(dtype=float)
    keys = rows[measures].apply(lambda values: of_column(str(values.name)).key(values))
    tables = keys.groupby([rows["task"], rows["seed"]]).corr(method="spearman")
    correlations = tables.xs("accuracy", level=2)
    return by_seed(correlations["test_log_loss"])


def outside(board: Board) -> pd.Series:
    """Accuracy of `gce` minus the median of methods with probabilities, in points."""
    some = board.finals[board.finals["test_log_loss"].notna()]
    table = some.pivot_table(index=["task", "seed"], columns="method", values="accuracy")
    if "gce" not in table:
        return pd.Series(dtype=float)
    return by_seed(100 * (table["gce"] - table.drop(columns="gce").median(axis="columns")))


FINDINGS = (
    Finding(
        "tuning",
        "Drawn rates and weight decays lower a method's validation log loss by {} below that of "
        "its default rate",
        tuning_gain,
        "%",
        "searches",
    ),
    Finding(
        "defaults",
        "The default rate without weight decay stays the best trial in {} of the searches",
        of_defaults,
        "%",
        "searches",
    ),
    Finding(
        "probabilities",
        "The best method without probabilities has an accuracy higher by {} than the best one "
        "with probabilities",
        without_probabilities,
        "points",
    ),
    Finding(
        "class_sums",
        "Sums of the rows of each class, which need no training, have {} of the best accuracy",
        class_sums_share,
        "%",
    ),
    Finding(
        "exact",
        "The best method has an accuracy higher by {} than exact softmax with the same seconds, "
        "where that ended",
        best_less_exact,
        "points",
    ),
    Finding(
        "measures",
        "Accuracy and log likelihood order the methods with a rank correlation of {}",
        order_of_two_measures,
    ),
    Finding(
        "outside",
        "Generalised cross-entropy, a package from outside made for noisy labels, differs in "
        "accuracy by {} from the median of the methods with probabilities",
        outside,
        "points",
    ),
)
