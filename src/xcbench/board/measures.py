"""Results of every method on every task: measurements, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.board import tuning
from xcbench.board.protocol import Protocol, Task
from xcbench.committed import code_table
from xcbench.committed.results_cache import ResultsCache
from xcbench.core.metrics import of_column
from xcbench.papers.run import tables
from xcbench.store import commits
from xcbench.store.ordering import best_of_each

REFERENCE = "softmax"
SHARES = (95, 99)  # per cent of the reference's accuracy
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
OF_ROWS = ("cell", "grid", "method", "seed", "status", "evaluation.rows", *tuning.POINT)
OF_ROWS += tuple(commits.COLUMNS)
POWER = Path("/sys/class/powercap")


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


def read(folder: Path, protocol: Protocol) -> Board:
    """Read the board from its committed tables, with the tasks that have rows."""
    caches = tables(folder)
    measured = set(caches["tuning"].rows["grid"])
    protocol = replace(protocol, tasks=tuple(it for it in protocol.tasks if it.name in measured))
    trials, finals = (_stopped(caches[part].intact, protocol) for part in ("tuning", "runs"))
    curves = _with_accuracy(_joined(caches["runs"].intact), protocol)
    rows = caches["tuning"].rows[["grid", "method", "status", "message"]]
    methods = sorted({*rows["method"], *finals["method"]})
    by_rows, by_finals = (
        dict(iter(frame.groupby([name, "method"])))
        for frame, name in ((rows, "grid"), (finals, "task"))
    )
    summary = pd.DataFrame(
        [
            _entry(
                task,
                method,
                by_rows.get((task.name, method), rows[:0]),
                by_finals.get((task.name, method), finals[:0]),
            )
            for task in protocol.tasks
            for method in methods
        ]
    )
    summary = summary.merge(_times(summary, curves, protocol), how="left", on=["task", "method"])
    both = caches["tuning"].intact.joined(caches["runs"].intact)
    stale = code_table.stale(both.rows, both.codes)
    return Board(protocol, trials, finals, curves, summary, stale)


def energy() -> str:
    """Energy measurements, or why there are none."""
    if any(POWER.glob("*/energy_uj")):
        return "Energy: the machine measures it, but the cells do not record it yet."
    return "Energy is not shown: this machine does not measure it."


def _joined(cache: ResultsCache) -> pd.DataFrame:
    """Checkpoints with what the rows say of their cells."""
    columns = [name for name in cache.rows if name in OF_ROWS or str(name).startswith("shape.")]
    return (
        cache.curves.merge(cache.rows[columns], on="cell").rename(columns={"grid": "task"}).copy()
    )


def _with_accuracy(curves: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    every = curves["task"].isin([task.name for task in protocol.tasks if task.every_label])
    accuracy = 1 - curves["test_error"]
    if "test_precision_at_1" in curves:
        accuracy = accuracy.where(~every, curves["test_precision_at_1"])
    return curves.copy().assign(accuracy=accuracy)


def _stopped(cache: ResultsCache, protocol: Protocol) -> pd.DataFrame:
    """Cells at the checkpoint that is best by the criterion of their method and task."""
    whole = _with_accuracy(_joined(cache), protocol)
    every = {task.name: task.every_label for task in protocol.tasks}
    parts = [
        best_of_each(part, tuning.criterion(part, every[str(task)]), "cell")
        for (task, _), part in whole[whole["status"].isin(tuning.ENDED)].groupby(["task", "method"])
        if str(task) in every
    ]
    ended = pd.concat(parts, ignore_index=True) if parts else whole
    ended = ended.reindex(columns=list(dict.fromkeys([*ended, *MEANS])))
    evaluated = np.minimum(ended["evaluation.rows"].astype(float), ended["shape.test"])
    return ended.assign(row_seconds=ended["predict_seconds"] / evaluated)


def _entry(task: Task, method: str, tried: pd.DataFrame, finals: pd.DataFrame) -> dict[str, Any]:
    """What is told of a method on a task: of the rows of its trials, and of its final cells."""
    entry: dict[str, Any] = {
        "task": task.name,
        "method": method,
        "trials": int(tried["status"].isin((*tuning.ENDED, "diverged")).sum()),
        "seeds": len(finals),
        "capped": int((finals["status"] == "timeout").sum()),
    }
    for name in MEANS:
        entry[name] = finals[name].mean()
        if name in ("accuracy", "test_log_loss"):
            entry[f"{name}_sd"] = finals[name].std()
    settings = finals.reindex(columns=[name for name in tuning.POINT if name in finals])
    entry["settings"] = " ".join(
        f"{str(name).removeprefix('method.')}={values.iloc[0]:g}"
        for name, values in settings.items()
        if len(values) and pd.notna(values.iloc[0]) and values.iloc[0]
    )
    entry["reason"] = "" if len(finals) else _reason(task, tried)
    return entry


def _reason(task: Task, tried: pd.DataFrame) -> str:
    """Why a method has no final cells on a task."""
    if tried.empty:
        return f"not run: its turn has not come; `xcbench board task={task.name}` runs it"
    said = tried.loc[tried["status"].isin(["skipped", "failed"]), "message"]
    if len(said):
        return str(said.iloc[0])
    if (tried["status"] == "diverged").all():
        return "all trials diverged"
    return f"not run: its final cells; `xcbench board task={task.name}` runs them"


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


def _times(summary: pd.DataFrame, curves: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Seconds to shares of the reference's accuracy; nothing where a seed does not reach it."""
    lines: list[dict[str, Any]] = []
    for task, name in references(summary).items():
        entries = summary[summary["task"] == task].set_index("method")
        by_method = entries["accuracy"].dropna()
        for method in by_method.index:
            checkpoints = curves[(curves["task"] == task) & (curves["method"] == method)]
            line = {"task": task, "method": method, "reference": name}
            for share in SHARES:
                goal = share / 100 * by_method[name]
                line[f"seconds_to_{share}"] = _first(checkpoints, goal)
            lines.append(line)
    return pd.DataFrame(lines, columns=["task", "method", "reference", *_columns()])


def _columns() -> list[str]:
    return [f"seconds_to_{share}" for share in SHARES]


def _first(curves: pd.DataFrame, goal: float) -> float:
    """Mean seconds until the accuracy is reached, if it is in every cell."""
    key = of_column("accuracy").key
    reached = curves[key(curves["accuracy"]) <= key(goal)].groupby("cell")["train_seconds"].min()
    return float(reached.mean()) if len(reached) == curves["cell"].nunique() else float("nan")


def counts(board: Board) -> Mapping[str, int]:
    """Number of cells of the board, and number of those that reached their time limit."""
    return {
        "trials": len(board.trials),
        "trials that met the cap": int((board.trials["status"] == "timeout").sum()),
        "final cells": len(board.finals),
        "final cells that met the cap": int((board.finals["status"] == "timeout").sum()),
    }
