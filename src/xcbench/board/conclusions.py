"""Which published conclusions survive under one protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from xcbench.board.comparisons import interval
from xcbench.board.protocol import dataset
from xcbench.core.metrics import of_column
from xcbench.show.effects import Effect

DRAWN = 0.01  # two standard errors of an end of an interval, by its width: its draws are random


class Conclusion(NamedTuple):
    """A paper's claim, about its own data, that one method beats another by a measure."""

    paper: str
    claim: str
    better: str
    worse: str
    measure: str


PUBLISHED = (
    Conclusion("ove", "one-vs-each predicts better than Bouchard's bound",
               "ove", "bouchard", "test_log_loss"),
    Conclusion("ove", "exact softmax predicts at least as well as one-vs-each",
               "softmax", "ove", "accuracy"),
    Conclusion("ar", "softmax augment-and-reduce has a higher likelihood than one-vs-each",
               "ar_softmax", "ove", "test_log_loss"),
    Conclusion("umax", "implicit steps beat U-max", "implicit", "umax", "test_log_loss"),
    Conclusion("umax", "implicit steps beat one-vs-each", "implicit", "ove", "test_log_loss"),
    Conclusion("umax", "implicit steps beat noise-contrastive estimation",
               "implicit", "nce", "test_log_loss"),
    Conclusion("umax", "implicit steps beat importance sampling",
               "implicit", "is", "test_log_loss"),
    Conclusion("umax", "U-max beats plain steps on the double sum",
               "umax", "vanilla", "test_log_loss"),
    # The tree sees plain components, as in the text; whitened ones, of the code, are a finding.
    Conclusion("adv", "adversarial negatives beat noise-contrastive estimation (uniform noise)",
               "negative_sampling", "nce", "accuracy"),
    Conclusion("adv", "adversarial negatives beat one-vs-each",
               "negative_sampling", "ove", "accuracy"),
    Conclusion("adv", "adversarial negatives beat augment-and-reduce",
               "negative_sampling", "ar_softmax", "accuracy"),
    Conclusion("memoir", "MEMOIR-l2 has a higher macro-F1 than one-vs-rest",
               "memoir_l2", "svm_ovr", "test_macro_f1"),
    Conclusion("memoir", "MEMOIR-l1 has a higher macro-F1 than RecallTree",
               "memoir_l1", "recall_tree", "test_macro_f1"),
    Conclusion("memoir", "MEMOIR-l1 has a higher macro-F1 than FastXML",
               "memoir_l1", "fastxml", "test_macro_f1"),
    Conclusion("memoir", "MEMOIR-l1's model is smaller than one-vs-rest's",
               "memoir_l1", "svm_ovr", "model_mib"),
)  # fmt: skip


def gains(finals: pd.DataFrame, better: str, worse: str, measure: str) -> pd.DataFrame:
    """Gain of the first method over the second, tasks × seeds, of the tasks that have both."""
    one, other = (values(finals, method, measure) for method in (better, worse))
    return of_column(measure).key(other - one).dropna()


def values(finals: pd.DataFrame, method: str | pd.Series, measure: str) -> pd.DataFrame:
    """Numbers of a method, or of one a cell, tasks × seeds; a missing seed has the task's mean."""
    rows = finals[finals["method"] == method]
    seeds = sorted(finals["seed"].unique())
    table = rows.pivot_table(index="task", columns="seed", values=measure)
    return table.reindex(columns=seeds).T.fillna(table.mean(axis="columns")).T


def judged(finals: pd.DataFrame) -> pd.DataFrame:
    """One row a published conclusion: the tasks on which it holds, the gain and the verdict.

    The gain is the mean over tasks; its interval is over tasks and seeds together.
    """
    return pd.DataFrame(_rows(finals))


def _rows(finals: pd.DataFrame) -> Iterator[dict[str, object]]:
    for it in PUBLISHED:
        gain = gains(finals, it.better, it.worse, it.measure)
        measured = interval(gain)
        holds = int((gain.mean(axis="columns") > 0).sum())
        yield {
            "paper": it.paper,
            "conclusion": it.claim,
            "measure": it.measure,
            "tasks": len(gain),
            "holds on": holds,
            "gain": measured.mean,
            "low": measured.low,
            "high": measured.high,
            "verdict": verdict(measured, holds, [*map(str, gain.index)]),
        }


def verdict(measured: Effect, holds: int, tasks: Sequence[str]) -> str:
    """Whether the paper's order holds: on all tasks, on average, or not; or nobody can tell.

    An end of the interval that is as close to 0 as other draws of its bootstrap may be tells
    nothing.
    """
    noise = DRAWN * (measured.high - measured.low)
    if len({*map(dataset, tasks)}) < 2 or not np.isfinite(measured.low):
        return "too few datasets"
    if measured.low > noise:
        return "survives" if holds == len(tasks) else "survives on average"
    if measured.high < -noise:
        return "does not survive" if holds == 0 else "does not survive on average"
    return "undecided"
