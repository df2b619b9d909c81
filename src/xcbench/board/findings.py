"""Findings that none of the papers states, each a sentence with an effect, and its cause."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from xcbench.board.comparisons import interval
from xcbench.board.conclusions import values
from xcbench.board.protocol import LINES, dataset
from xcbench.board.results import CHOOSING, RANKED, REFERENCE, Board
from xcbench.core.metrics import of_column
from xcbench.store.ordering import best_of_each, best_value
from xcbench.units import count

LOSS = "validation_log_loss"
NUMBERS = ["effect", "low", "high", "unit", "tasks", "least", "most"]


class Finding(NamedTuple):
    """A finding, said of the mean of its numbers.

    Attributes
    ----------
    sentence : with {} where the effect stands.
    numbers : function of the numbers whose mean is the effect, tasks × seeds or searches.
    unit : that of the effect.
    cause : why the effect is above 0, where that surprises.
    """

    name: str
    sentence: str
    numbers: Callable[[Board], pd.DataFrame]
    unit: str = ""
    cause: str = ""


def table(board: Board) -> pd.DataFrame:
    """All findings that the measured tasks have numbers for."""
    lines = []
    for it in FINDINGS:
        numbers = it.numbers(board).replace([np.inf, -np.inf], np.nan).dropna(how="all")
        estimate, of_task = interval(numbers), numbers.mean(axis="columns")
        if estimate.seeds:
            effect = (estimate.mean, estimate.low, estimate.high, it.unit, estimate.seeds)
            ends = (of_task.min(), of_task.max())
            cause = it.cause if estimate.mean > 0 else ""
            lines.append((it.name, *effect, *ends, it.sentence, cause))
    return pd.DataFrame(lines, columns=["finding", *NUMBERS, "sentence", "cause"])


def sentences(findings: pd.DataFrame) -> list[str]:
    """The findings of `table` in words."""
    words = []
    for _, it in findings.iterrows():
        unit = f" {it['unit']}" if it["unit"] else ""
        shown = f"{it['effect']:.3g}{unit} [{it['low']:.3g}, {it['high']:.3g}]"
        ends = (
            f"(mean and 95 % interval over {count(it['tasks'], 'task')} and seeds; by task from "
            f"{it['least']:.3g} to {it['most']:.3g})."
        )
        words.append(f"{it['sentence'].replace('{}', shown)} {ends} {it['cause']}".strip())
    return words


def _searches(board: Board) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Validation losses of the defaults, and of the best trial, on the first rung of searches."""
    trials = board.first_trials.reindex(columns=["task", "method", "seed", "lr", "method.l2", LOSS])
    trials = trials.dropna(subset=[LOSS, "lr"])

    def best(some: pd.DataFrame) -> pd.DataFrame:
        losses = some.groupby(["task", "method", "seed"])[LOSS]
        return losses.agg(best_value, column=LOSS).unstack(["method", "seed"])

    return best(trials[trials["method.l2"] == 0]), best(trials)


def tuning_gain(board: Board) -> pd.DataFrame:
    """Per cent by which the best trial's loss is below that of the defaults, by search."""
    first, best = _searches(board)
    return 100 * (1 - best / first)


def of_defaults(board: Board) -> pd.DataFrame:
    """100 where the defaults were the best trial, else 0, by search."""
    first, best = _searches(board)
    return (100.0 * (best == first)).where(first.notna())


def _chosen(board: Board, tried: pd.DataFrame, column: str) -> pd.DataFrame:
    """What final cells have of a column, beside the lowest and the highest that was tried."""
    search = ["task", "method", "seed"]
    ends = tried.groupby(search)[column].agg(["min", "max", "count"])
    return board.finals.set_index(search)[[column]].join(ends).dropna()


def at_an_end(board: Board) -> pd.DataFrame:
    """100 where the lowest or the highest rate of a search is chosen, less what chance gives."""
    chosen = _chosen(board, board.first_trials, "lr")
    ends = chosen[["min", "max"]].eq(chosen["lr"], axis="index").any(axis="columns")
    return (100 * (ends - 2 / chosen["count"])).unstack(["method", "seed"])


def _two(board: Board) -> pd.DataFrame:
    """Passes of the training chosen of seeds that have two, beside those of both."""
    chosen = _chosen(board, board.curves, "budget.epochs")
    return chosen[chosen["min"] < chosen["max"]]


def shorter(board: Board) -> pd.DataFrame:
    """100 where validation rows choose the training of fewer passes of a seed's two, else 0."""
    two = _two(board)
    return (100.0 * two["budget.epochs"].eq(two["min"])).unstack(["method", "seed"])


def closer(board: Board) -> pd.DataFrame:
    """100 where the longer training ends with the lower training loss, of those not chosen."""
    two = _two(board)
    preferred = two.index[two["budget.epochs"] == two["min"]]
    cells = board.curves.sort_values("epoch").groupby([*two.index.names, "budget.epochs"])
    ends = cells["train_log_loss"].last().groupby(two.index.names).agg(["first", "last"])
    both = ends.reindex(preferred).dropna()
    return (100.0 * (both["last"] < both["first"])).unstack(["method", "seed"])


def _best(board: Board, some: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """A measure, tasks × seeds, of the ranked method that the task's validation rows choose."""
    ranked = some.assign(**{measure: some[CHOOSING[measure]]})[some["role"] == RANKED]
    best = best_of_each(ranked, measure, "task").set_index("task")["method"]
    return values(board.finals, board.finals["task"].map(best), measure)


def without_probabilities(board: Board) -> pd.DataFrame:
    """Accuracy of the best method without probabilities minus the best with them, in points."""
    probable = board.summary["test_log_loss"].notna()
    one, other = (_best(board, board.summary[some]) for some in (~probable, probable))
    return 100 * (one - other)


def class_sums_share(board: Board) -> pd.DataFrame:
    """Accuracy of class sums as a percentage of that of the best ranked method."""
    return 100 * values(board.finals, "class_sums", "accuracy") / _best(board, board.summary)


def best_less_exact(board: Board) -> pd.DataFrame:
    """Log loss of exact softmax minus that of the best ranked method."""
    exact = values(board.finals, REFERENCE, "test_log_loss")
    return (exact - _best(board, board.summary, "test_log_loss")).dropna(how="all")


def order_of_two_measures(board: Board) -> pd.DataFrame:
    """Spearman's correlation over methods of accuracy and log likelihood."""
    measures = ["accuracy", "test_log_loss"]
    rows = board.finals[~board.finals["method"].isin(LINES)].dropna(subset=measures)
    if rows.empty:
        return pd.DataFrame()
    keys = rows[measures].apply(lambda numbers: of_column(str(numbers.name)).key(numbers))
    tables = keys.groupby([rows["task"], rows["seed"]]).corr(method="spearman")
    return tables.xs("accuracy", level=2)["test_log_loss"].unstack("seed")


def above_prior(board: Board) -> pd.DataFrame:
    """Per cent of the ranked methods with a log loss whose log loss is above the class prior's."""
    rows = board.ranked.dropna(subset=["test_log_loss"])
    prior = values(board.finals, "prior", "test_log_loss").mean(axis="columns")
    above = 100.0 * (rows["test_log_loss"] >= rows["task"].map(prior).astype(float))
    return above.groupby([rows["task"], rows["seed"]]).mean().unstack("seed")


def more_loss(board: Board, method: str, other: str) -> pd.DataFrame:
    """Log loss of a method minus that of another."""
    return values(board.finals, method, "test_log_loss") - values(
        board.finals, other, "test_log_loss"
    )


def rivals(board: Board) -> pd.DataFrame:
    """Points of precision of one-vs-rest SVMs above Crammer and Singer's, of multi-label tasks.

    Less those of the task of the same data where one label of a row counts.
    """
    one, other = (values(board.finals, name, "accuracy") for name in ("svm_ovr", "svm_cs"))
    lead = 100 * (one - other)
    every = [task.name for task in board.protocol.tasks.values() if task.every_label]
    return lead.reindex(every) - lead.reindex([*map(dataset, every)]).to_numpy()


FINDINGS = (
    Finding(
        "tuning",
        "Drawn rates and weight decays lower a method's validation log loss by {} below that of "
        "its defaults, in the seconds of a first trial",
        tuning_gain,
        "%",
    ),
    Finding(
        "defaults",
        "In the seconds of a first trial, the defaults are the best in {} of the searches of "
        "methods with probabilities",
        of_defaults,
        "%",
    ),
    Finding(
        "ends",
        "The share of searches that choose their lowest or highest rate, less that of chance, is "
        "{}",
        at_an_end,
        "points",
    ),
    Finding(
        "shorter",
        "Of the trainings whose rate falls over their seconds, validation rows prefer those of the "
        "seconds of a trial to the longer ones in {} of the seeds",
        shorter,
        "%",
    ),
    Finding(
        "closer",
        "Where they do, the longer one ends with the lower training loss in {} of the seeds",
        closer,
        "%",
        "There fewer passes are a penalty, which a weight decay tuned in short trials does not "
        "replace.",
    ),
    Finding(
        "probabilities",
        "The best ranked method without probabilities has an accuracy higher by {} than the best "
        "one with them",
        without_probabilities,
        "points",
        "The former are tuned and stopped by precision or error, the latter by log loss.",
    ),
    Finding(
        "class_sums",
        "Sums of the rows of each class, which need no training, have {} of the accuracy of the "
        "best ranked method",
        class_sums_share,
        "%",
    ),
    Finding(
        "exact",
        "The log loss of exact softmax at its optimum, less that of the best ranked method, is {}",
        best_less_exact,
        "nats",
        "The optimum is that of the training rows and a weight decay in steps of half a decade, "
        "the same for all classes; early stopping is a penalty of another shape, tuned finer. ADV "
        "adds the log-probabilities of a tree, which no linear model has.",
    ),
    Finding(
        "measures",
        "Accuracy and log likelihood order the methods with a rank correlation of {}",
        order_of_two_measures,
    ),
    Finding(
        "prior",
        "Of the methods with probabilities, {} end above the log loss of the class prior",
        above_prior,
        "%",
        "The checks name them. The objectives of css, lse_softplus and gce are not the log loss: "
        "the logarithm of a sum over few drawn classes, a softplus in its place, a bounded loss. "
        "ADV's tree on whitened components has a finding of its own.",
    ),
    Finding(
        "whitened",
        "The log loss of ADV is higher by {} if its tree sees whitened components instead of plain "
        "ones",
        partial(more_loss, method="adv_whitened_tree", other="negative_sampling"),
        "nats",
        "ADV adds the tree's log-probabilities to its scores. The page of the paper (adv) has the "
        "scores alone beside the sums.",
    ),
    Finding(
        "augmented",
        "The log loss of softmax A&R, less that of probit A&R, is {}",
        partial(more_loss, method="ar_softmax", other="ar_probit"),
        "nats",
        "The exponentials of a few classes drawn uniformly are noisy where classes are many. More "
        "classes, or those drawn by frequency, lower its loss on citeulike; and there the rate "
        "that is best in a trial is too low for the whole training (reports/notes.md).",
    ),
    Finding(
        "rivals",
        "The lead in precision of one-vs-rest SVMs over Crammer and Singer's SVM, which is not "
        "tuned, is larger by {} where every label of a row counts than where one does",
        rivals,
        "points",
        "Each label of a row is a training sample then, and the row's other labels are among its "
        "rivals. MEMOIR has the same formula.",
    ),
)
