"""Findings that none of the papers states, each a sentence with an effect, and its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from xcbench.board.comparisons import interval
from xcbench.board.conclusions import values
from xcbench.board.protocol import LINES
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
    ends = tried.groupby(search)[column].agg(["min", "max"])
    return board.finals.set_index(search)[[column]].join(ends).dropna()


def at_an_end(board: Board) -> pd.DataFrame:
    """100 where the lowest or the highest rate of a search is chosen, else 0, by search."""
    chosen = _chosen(board, board.first_trials, "lr")
    ends = chosen[["min", "max"]].eq(chosen["lr"], axis="index").any(axis="columns")
    return (100.0 * ends).unstack(["method", "seed"])


def shorter(board: Board) -> pd.DataFrame:
    """100 where validation rows choose the training of fewer passes of a seed's two, else 0."""
    chosen = _chosen(board, board.curves, "budget.epochs")
    two = chosen[chosen["min"] < chosen["max"]]
    return (100.0 * two["budget.epochs"].eq(two["min"])).unstack(["method", "seed"])


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
    sums = values(board.finals, "class_sums", "accuracy")
    return 100 * sums / _best(board, board.summary)


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


def whitened(board: Board) -> pd.DataFrame:
    """Log loss of ADV with a tree on whitened components minus that with plain ones."""
    return values(board.finals, "adv_whitened_tree", "test_log_loss") - values(
        board.finals, "negative_sampling", "test_log_loss"
    )


def rivals(board: Board) -> pd.DataFrame:
    """Points of precision of one-vs-rest SVMs above Crammer and Singer's, of multi-label tasks."""
    every = [task.name for task in board.protocol.tasks.values() if task.every_label]
    one, other = (values(board.finals, name, "accuracy") for name in ("svm_ovr", "svm_cs"))
    return 100 * (one - other).filter(every, axis="index")


def equal_passes(board: Board) -> pd.DataFrame:
    """Per cent of the pairs of methods whose order by log loss depends on what is equal."""
    turned = {}
    for task, before in board.passes[board.passes["task"].isin(board.measured)].groupby("task"):
        after = board.summary[board.summary["task"] == task]
        both = before.merge(after, on="method", suffixes=("", "_after"))
        both = both.dropna(subset=["test_log_loss", "test_log_loss_after"])
        tau = stats.kendalltau(both["test_log_loss"], both["test_log_loss_after"]).statistic
        turned[task] = 50 * (1 - tau)
    return pd.DataFrame({"turned": turned}, dtype=float)


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
        "The lowest or the highest rate that was drawn is chosen in {} of the searches; by chance "
        "it would be as often as any other two",
        at_an_end,
        "%",
    ),
    Finding(
        "shorter",
        "Of the trainings whose rate falls over their seconds, validation rows prefer those of the "
        "seconds of a trial to the longer ones in {} of the seeds",
        shorter,
        "%",
        "Most of the longer ones fit the training rows more closely, and new rows worse: fewer "
        "passes are a penalty, which a weight decay tuned for short trials does not replace. Those "
        "of css, css_rff, gce and lse_softplus end higher on the training rows too; their "
        "objectives are not the log loss.",
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
        "On delicious, one pass takes css and lse_softplus above the prior on training rows too. "
        "On words, few classes have most of the rows, uniform draws seldom meet them, and steps of "
        "scent are noisy: with method.sampler=frequency it ends below the prior. The bound of "
        "ove_grouped has an optimum of its own, which gives classes outside its group too little: "
        "training takes it above the prior at lower rates too. css_rff makes less than one pass "
        "over the labels of delicious, and stays near the prior that it begins at. "
        "ADV's tree on whitened components has a finding of its own.",
    ),
    Finding(
        "whitened",
        "The log loss of ADV is higher by {} if its tree sees whitened components instead of plain "
        "ones",
        whitened,
        "nats",
        "ADV adds the tree's log-probabilities to its scores. Whitening gives rare words the scale "
        "of common ones; on sparse counts such a tree is sure of the wrong classes of test rows. "
        "The scores alone have a low loss.",
    ),
    Finding(
        "rivals",
        "Where every label of a row counts, one-vs-rest SVMs have a precision higher by {} than "
        "Crammer and Singer's SVM, of which each training sample has one label",
        rivals,
        "points",
        "A row trains once for each of its labels, and its other labels are rivals then: steps "
        "contradict one another. MEMOIR has the same formula. Softmax bears it: the labels of a "
        "row share its probability.",
    ),
    Finding(
        "passes",
        "Of the pairs of methods, {} change their order by log loss if all have equal seconds "
        "(at most 1000 passes) instead of 50 passes each",
        equal_passes,
        "%",
        "After 50 passes, which some methods make in far less than a second, many had not "
        "converged. Methods that touch few classes make more passes in the same seconds.",
    ),
)
