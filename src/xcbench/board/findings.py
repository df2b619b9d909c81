"""Findings that none of the papers states, each with an effect and an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.board.measures import REFERENCE, Board
from xcbench.core.metrics import of_column
from xcbench.show.effects import Effect, effect
from xcbench.store.ordering import best_of_each, best_value

LOSS = "validation_log_loss"
STEPS = "lr"  # column of methods that take steps of a rate


@dataclass(frozen=True)
class Finding:
    """A sentence with a placeholder ``{}`` for its effect, and the effect."""

    name: str
    sentence: str
    effect: Effect
    unit: str
    of: str

    @property
    def told(self) -> str:
        """The sentence with its numbers."""
        effect = self.effect
        interval = f"{effect.mean:.3g}{self.unit} [{effect.low:.3g}, {effect.high:.3g}]"
        told = self.sentence.replace("{}", interval)
        return f"{told} (mean and 95 % interval, of {effect.seeds} {self.of})"


def of(board: Board) -> list[Finding]:
    """All findings for which the tables have at least two different numbers."""
    findings = (
        Finding(name, sentence, _effect(values(board)), unit, _of(name))
        for name, (sentence, values, unit) in FINDINGS.items()
    )
    return [entry for entry in findings if entry.effect.high > entry.effect.low]


def _effect(values: pd.Series) -> Effect:
    return effect([*values.replace([np.inf, -np.inf], np.nan).dropna()])


def _of(name: str) -> str:
    """What an interval is over."""
    return "searches" if name in ("tuning", "defaults") else "seeds, over these tasks"


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


def _accuracy(board: Board, method: str) -> pd.Series:
    """Accuracy of a method by task and seed; empty where the board lacks it."""
    rows = board.finals[board.finals["method"] == method]
    return rows.set_index(["task", "seed"])["accuracy"]


def _best(board: Board, some: pd.Series) -> pd.Series:
    """Accuracy by task and seed of the method that is best on the task's average."""
    best = best_of_each(board.summary[some], "accuracy", "task").set_index("task")["method"]
    rows = board.finals[board.finals["method"] == board.finals["task"].map(best)]
    return rows.set_index(["task", "seed"])["accuracy"]


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


def exact_beside_best(board: Board) -> pd.Series:
    """Accuracy of the best method minus that of exact softmax, in points, if the board has both."""
    best = _best(board, board.summary["accuracy"].notna())
    return by_seed(100 * (best - _accuracy(board, REFERENCE)).dropna())


def order_of_two_measures(board: Board) -> pd.Series:
    """Spearman's correlation over methods of accuracy and log likelihood."""
    measures = ["accuracy", "test_log_loss"]
    table = board.finals[board.finals["method"] != "prior"].dropna(subset=measures)
    if table.empty:
        return pd.Series(dtype=float)
    correlations = {}
    for task_and_seed, rows in table.groupby(["task", "seed"]):
        one, other = (of_column(name).key(rows[name]) for name in measures)
        correlations[task_and_seed] = one.corr(other, method="spearman")
    return by_seed(pd.Series(correlations).rename_axis(["task", "seed"]))


def outside(board: Board) -> pd.Series:
    """Accuracy of `gce` minus the median of methods with probabilities, in points."""
    some = board.finals[board.finals["test_log_loss"].notna()]
    table = some.pivot_table(index=["task", "seed"], columns="method", values="accuracy")
    if "gce" not in table:
        return pd.Series(dtype=float)
    return by_seed(100 * (table["gce"] - table.drop(columns="gce").median(axis="columns")))


FINDINGS: dict[str, tuple[str, Callable[[Board], pd.Series], str]] = {
    "tuning": (
        "Drawn rates and weight decays lower a method's validation log loss by {} below that of "
        "its default rate",
        tuning_gain,
        " %",
    ),
    "defaults": (
        "The default rate without weight decay stays the best trial in {} of the searches",
        of_defaults,
        " %",
    ),
    "probabilities": (
        "The best method without probabilities has an accuracy higher by {} than the best one "
        "with probabilities",
        without_probabilities,
        " points",
    ),
    "class_sums": (
        "Sums of the rows of each class, which need no training, have {} of the best accuracy",
        class_sums_share,
        " %",
    ),
    "exact": (
        "The best method has an accuracy higher by {} than exact softmax with the same seconds, "
        "where that ended",
        exact_beside_best,
        " points",
    ),
    "measures": (
        "Accuracy and log likelihood order the methods with a rank correlation of {}",
        order_of_two_measures,
        "",
    ),
    "outside": (
        "Generalised cross-entropy, a package from outside made for noisy labels, differs in "
        "accuracy by {} from the median of the methods with probabilities",
        outside,
        " points",
    ),
}
