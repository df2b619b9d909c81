"""What none of the papers states, each with its effect and its interval over tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from xcbench.board.measures import REFERENCE, Board
from xcbench.papers.effects import Effect, effect

STEPS = "lr"  # column of methods that take steps of a rate


@dataclass(frozen=True)
class Finding:
    """A sentence with ``{}`` in the place of its effect, and the effect."""

    name: str
    sentence: str
    effect: Effect
    unit: str

    @property
    def told(self) -> str:
        """The sentence with its numbers."""
        found = self.effect
        interval = f"{found.mean:.3g}{self.unit} [{found.low:.3g}, {found.high:.3g}]"
        return f"{self.sentence.replace('{}', interval)} (mean and 95 % interval, {found.seeds})"


def of(board: Board) -> list[Finding]:
    """All findings that the tables have numbers for on two tasks or more."""
    found = (
        Finding(name, sentence, effect([*values(board).replace([np.inf], np.nan).dropna()]), unit)
        for name, (sentence, values, unit) in FINDINGS.items()
    )
    return [entry for entry in found if entry.effect.seeds > 1]


def tuning_gain(board: Board) -> pd.Series:
    """Per cent by which the best trial's loss is below that of the default rate, of a method."""
    trials = board.trials.dropna(subset=["validation_log_loss", STEPS])
    groups = trials.groupby(["task", "method"])
    first = (
        trials[trials["method.l2"] == 0].groupby(["task", "method"])["validation_log_loss"].min()
    )
    return 100 * (1 - groups["validation_log_loss"].min() / first).groupby("task").mean()


def of_defaults(board: Board) -> pd.Series:
    """Per cent of the methods with rates whose default rate was the best trial."""
    trials = board.trials.dropna(subset=["validation_log_loss", STEPS])
    best = trials.loc[trials.groupby(["task", "method"])["validation_log_loss"].idxmin()]
    return 100 * (best["method.l2"] == 0).groupby(best["task"]).mean()


def best_accuracy(board: Board, of_steps: bool) -> pd.Series:
    """By task, the highest mean accuracy among methods with probabilities or without."""
    table = board.summary.dropna(subset=["accuracy"])
    some = table["test_log_loss"].notna() == of_steps
    return table[some].groupby("task")["accuracy"].max()


def without_probabilities(board: Board) -> pd.Series:
    """Points of accuracy of the best method without probabilities beyond the best with them."""
    return 100 * (best_accuracy(board, False) - best_accuracy(board, True)).dropna()


def class_sums_share(board: Board) -> pd.Series:
    """Per cent of the best accuracy that sums of a class's rows have."""
    table = board.summary.pivot(index="task", columns="method", values="accuracy")
    return 100 * (table["class_sums"] / table.max(axis="columns")).dropna()


def sampled_beside_exact(board: Board) -> pd.Series:
    """Seconds of exact softmax over those of the fastest method that has 95 % of its accuracy."""
    table = board.summary[board.summary["reference"] == REFERENCE].dropna(subset=["seconds_to_95"])
    steps = table[table["test_log_loss"].notna() & (table["method"] != REFERENCE)]
    exact = table[table["method"] == REFERENCE].set_index("task")["seconds_to_95"]
    return (exact / steps.groupby("task")["seconds_to_95"].min()).dropna()


def order_of_two_measures(board: Board) -> pd.Series:
    """Spearman's correlation over methods of accuracy and log likelihood."""
    table = board.summary.dropna(subset=["accuracy", "test_log_loss"])
    table = table[table["method"] != "prior"].assign(likelihood=-table["test_log_loss"])
    return pd.Series(
        {
            task: own["accuracy"].corr(own["likelihood"], method="spearman")
            for task, own in table.groupby("task")
            if len(own) > 3
        }
    )


def outside(board: Board) -> pd.Series:
    """Points of accuracy of `gce` beyond the median of the methods with probabilities."""
    table = board.summary.dropna(subset=["accuracy", "test_log_loss"])
    table = table.pivot(index="task", columns="method", values="accuracy")
    if "gce" not in table:
        return pd.Series(dtype=float)
    return 100 * (table["gce"] - table.drop(columns="gce").median(axis="columns")).dropna()


FINDINGS: dict[str, tuple[str, Callable[[Board], pd.Series], str]] = {
    "tuning": (
        "Three drawn trials beside the default rate lower a method's validation log loss by {}",
        tuning_gain,
        " %",
    ),
    "defaults": (
        "The default rate without weight decay is the best of the trials for {} of the methods "
        "that take steps",
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
        "Exact softmax needs {} times the seconds of the fastest method with probabilities that "
        "reaches 95 % of its accuracy",
        sampled_beside_exact,
        "",
    ),
    "measures": (
        "Accuracy and log likelihood order the methods with a rank correlation of {}",
        order_of_two_measures,
        "",
    ),
    "outside": (
        "Generalised cross-entropy, a package from outside made for noisy labels, has an accuracy "
        "of {} beyond the median of the methods with probabilities",
        outside,
        " points",
    ),
}
