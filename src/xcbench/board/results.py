"""Results of every method on every task: measurements, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.board import tuning
from xcbench.board.protocol import Protocol
from xcbench.committed import code_table
from xcbench.committed.results_cache import ResultsCache
from xcbench.core.metrics import of_column
from xcbench.papers.run import tables
from xcbench.store import commits
from xcbench.store.ordering import best_of_each

REFERENCE = "softmax"
SHARES = (95, 99)  # per cent of the reference's accuracy
BY = ["task", "method"]
MEANS = [  # of the final cells, in the order of the columns
    "accuracy",
    "test_log_loss",
    "test_macro_f1",
    "test_precision_at_3",
    "test_precision_at_5",
    "train_seconds",
    "train_mib",
    "model_mib",
    "row_seconds",
]
SPREAD = MEANS[:2]  # with standard deviations
OF_ROWS = ("cell", "grid", "method", "seed", "status", "evaluation.rows", *tuning.POINT)
OF_ROWS += tuple(commits.COLUMNS)


@dataclass(frozen=True)
class Board:
    """The tables of the board.

    Attributes
    ----------
    trials, finals : one row a cell, at the checkpoint chosen by early stopping, with ``task``,
        ``accuracy`` (precision at 1 if every label counts) and ``row_seconds``.
    curves : the checkpoints of the final cells.
    summary : one row for each task and method: means over seeds, or a ``reason``.
    stale : a sentence on rows that today's code did not measure, or nothing.
    """

    protocol: Protocol
    trials: pd.DataFrame
    finals: pd.DataFrame
    curves: pd.DataFrame
    summary: pd.DataFrame
    stale: str = ""

    def by_task(self, column: str) -> pd.DataFrame:
        """Means of a column, tasks × methods, of the tasks that have any."""
        table = self.summary.pivot(index="task", columns="method", values=column)
        return table.reindex(self.summary["task"].unique()).dropna(how="all")


def read(folder: Path, protocol: Protocol) -> Board:
    """Read the board from its committed tables, with the tasks that have rows."""
    caches = tables(folder)
    tried = caches["tuning"].rows.rename(columns={"grid": "task"})
    measured = set(tried["task"])
    protocol = replace(protocol, tasks=tuple(it for it in protocol.tasks if it.name in measured))
    parts = {part: cache.intact for part, cache in caches.items()}
    curves = {part: _checkpoints(cache, protocol) for part, cache in parts.items()}
    trials, finals = (_stopped(curves[part], protocol) for part in ("tuning", "runs"))
    summary = _summary(tried, finals, protocol)
    summary = summary.join(_seconds_to_shares(summary, curves["runs"]), on=BY)
    both = parts["tuning"].joined(parts["runs"])
    stale = code_table.stale(both.rows, both.codes)
    return Board(protocol, trials, finals, curves["runs"], summary, stale)


def _checkpoints(cache: ResultsCache, protocol: Protocol) -> pd.DataFrame:
    """Checkpoints with what the rows say of their cells, and their accuracy."""
    columns = [name for name in cache.rows if name in OF_ROWS or str(name).startswith("shape.")]
    curves = cache.curves.merge(cache.rows[columns], on="cell").rename(columns={"grid": "task"})
    accuracy = 1 - curves["test_error"]
    if "test_precision_at_1" in curves:
        every = curves["task"].isin([task.name for task in protocol.tasks if task.every_label])
        accuracy = accuracy.where(~every, curves["test_precision_at_1"])
    return curves.copy().assign(accuracy=accuracy)


def _stopped(curves: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Cells at the checkpoint that is best by the criterion of their method and task."""
    every = {task.name: task.every_label for task in protocol.tasks}
    ended = curves[curves["status"].isin(tuning.ENDED) & curves["task"].isin(list(every))]
    parts = [
        best_of_each(part, tuning.criterion(part, every[str(task)]), "cell")
        for (task, _), part in ended.groupby(BY)
    ]
    stopped = pd.concat(parts, ignore_index=True) if parts else curves[:0]
    stopped = stopped.reindex(columns=list(dict.fromkeys([*stopped, *MEANS])))
    evaluated = np.minimum(stopped["evaluation.rows"].astype(float), stopped["shape.test"])
    return stopped.assign(row_seconds=stopped["predict_seconds"] / evaluated)


def _summary(tried: pd.DataFrame, finals: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Of every task and method, from the rows of its trials and from its final cells."""
    methods = sorted({*tried["method"], *finals["method"]})
    every = pd.MultiIndex.from_product([[task.name for task in protocol.tasks], methods], names=BY)
    cells = finals.groupby(BY)
    counts = {
        "trials": tried[tried["status"].isin((*tuning.ENDED, "diverged"))].groupby(BY).size(),
        "seeds": cells.size(),
        "capped": finals[finals["status"] == "timeout"].groupby(BY).size(),
    }
    spread = cells[SPREAD].std().add_suffix("_sd")
    means = cells[MEANS].mean().join(spread)
    ordered = [it for name in MEANS for it in (name, f"{name}_sd") if it in means]
    table = pd.DataFrame(counts, every).fillna(0).astype(int).join(means[ordered])
    points = cells.head(1).set_index(BY).reindex(every, columns=tuning.POINT)
    table["settings"] = [_words(point) for _, point in points.iterrows()]
    table = table.reset_index()
    trials: dict[Any, pd.DataFrame] = dict(iter(tried.groupby(BY)))
    table["reason"] = [
        "" if seeds else _reason(task, trials.get((task, method), tried[:0]))
        for task, method, seeds in zip(table["task"], table["method"], table["seeds"], strict=True)
    ]
    return table


def _words(point: pd.Series) -> str:
    """Tuned settings that are not 0."""
    return " ".join(
        f"{str(name).removeprefix('method.')}={value:g}"
        for name, value in point.dropna().items()
        if value
    )


def _reason(task: str, tried: pd.DataFrame) -> str:
    """Why a method has no final cells on a task."""
    if tried.empty:
        return f"not run: its turn has not come; `xcbench board task={task}` runs it"
    messages = tried.loc[tried["status"].isin(["skipped", "failed"]), "message"]
    if len(messages):
        return str(messages.iloc[0])
    if (tried["status"] == "diverged").all():
        return "all trials diverged"
    return f"not run: its final cells; `xcbench board task={task}` runs them"


def references(summary: pd.DataFrame) -> dict[str, str]:
    """Method that the others are compared with, by task: exact softmax, else the most accurate."""
    names, accuracy = {}, of_column("accuracy")
    for task, entries in summary.dropna(subset=["accuracy"]).groupby("task", sort=False):
        keys = accuracy.key(entries.set_index("method")["accuracy"])
        names[str(task)] = REFERENCE if REFERENCE in keys else str(keys.idxmin())
    return names


def substitutes(summary: pd.DataFrame) -> dict[str, str]:
    """A sentence for every task on which another method is the reference."""
    return {
        task: f"The reference is {name}, the most accurate method: {REFERENCE} has no result here."
        for task, name in references(summary).items()
        if name != REFERENCE
    }


def _seconds_to_shares(summary: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Mean seconds to shares of the reference's accuracy; none where a seed does not reach it."""
    accuracy, key = summary.set_index(BY)["accuracy"].dropna(), of_column("accuracy").key
    names = references(summary)
    table = pd.DataFrame({"reference": [names[task] for task, _ in accuracy.index]}, accuracy.index)
    goals = curves["task"].map({task: accuracy[task, name] for task, name in names.items()})
    of_cell = [curves[name] for name in (*BY, "cell")]
    for share in SHARES:
        reached = key(curves["accuracy"]) <= key(share / 100 * goals)
        first = curves["train_seconds"].where(reached).groupby(of_cell).min()
        by_method = first.groupby(BY)
        table[f"seconds_to_{share}"] = by_method.agg(lambda values: values.mean(skipna=False))
    return table
