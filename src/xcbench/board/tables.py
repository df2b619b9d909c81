"""Tables of the board by the name of their file: what the page shows, and what stands beside it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from xcbench.board import advice, conclusions, findings, results, tuning, variance
from xcbench.board.results import Board
from xcbench.show import ranks
from xcbench.show.effects import effect
from xcbench.store.ordering import near_best

MEASURES = {"accuracy": "accuracy", "test_log_loss": "log loss"}  # by which methods are ranked
NEAR = 0.05  # trials within this share of the best one count as as good


def of(board: Board) -> dict[str, pd.DataFrame]:
    """Tables that need the board alone."""
    return {
        "board": board.summary,
        "differences": differences(board),
        "ranks": ranked(board),
        "sensitivity": sensitivity(board),
        "conclusions": conclusions.judged(board.finals),
        "advice": advice.table(board.summary, shapes(board)),
        "findings": findings.table(board),
    }


def analyses(board: Board, reports: Path) -> dict[str, pd.DataFrame]:
    """Analyses of variance, none without statsmodels."""
    if not variance.installed():
        return {}
    some = board.finals[board.finals["method"] != "prior"].dropna(subset=["test_log_loss"])
    tasks = some.groupby("method")["task"].transform("nunique")
    balanced = some[tasks == some["task"].nunique()]
    several = balanced[["method", "task"]].nunique().min() > 1
    by_task = variance.shares(balanced, "test_log_loss", ["method", "task"]) if several else None
    tables = {"design": variance.design(reports), "choices": variance.choices(reports)}
    return tables if by_task is None else {"variance": by_task, **tables}


def shapes(board: Board) -> pd.DataFrame:
    """Classes, rows and features of the tasks that ran."""
    names = ["classes", "train", "features", "nonzeros_per_row"]
    columns = {f"shape.{name}": name for name in names}
    return board.finals.groupby("task")[list(columns)].first().rename(columns=columns)


def differences(board: Board) -> pd.DataFrame:
    """Difference of every method from the reference of the task, over seeds."""
    lines = []
    for task, reference in results.references(board.summary).items():
        rows = board.finals[board.finals["task"] == task]
        for method in sorted({*rows["method"]} - {reference}):
            for name in MEASURES:
                table = rows.pivot_table(index="seed", columns="method", values=name)
                if {method, reference} <= set(table):
                    it = effect([*(table[method] - table[reference]).dropna()])
                    head = (task, method, reference, name)
                    lines.append((*head, it.mean, it.low, it.high, it.seeds))
    names = ["task", "method", "reference", "measure", "difference", "low", "high", "seeds"]
    return pd.DataFrame(lines, columns=names)


def ranked(board: Board) -> pd.DataFrame:
    """Average ranks by accuracy of all methods, and by log loss of those with probabilities."""
    ranked = {name: ranks.ranks(board.by_task(name), name) for name in MEASURES}
    return pd.DataFrame(
        {
            "measure": name,
            "method": method,
            "average rank": rank,
            "tasks": it.tasks,
            "critical difference": it.difference,
            "p of Friedman's test": it.p,
        }
        for name, it in ranked.items()
        if it
        for method, rank in it.average.items()
    )


def sensitivity(board: Board) -> pd.DataFrame:
    """Share of a method's trials within 5 % of its best validation loss or error, over tasks."""
    every = {task.name: task.every_label for task in board.protocol.tasks}
    near = []
    for (task, method), trials in board.trials.groupby(["task", "method"]):
        column = tuning.criterion(trials, every[str(task)])
        if len(trials) > 1:
            share = near_best(trials[column], column, NEAR)
            near.append((method, len(share), share.mean()))
    table = pd.DataFrame(near, columns=["method", "size", "mean"])
    by_method = table.groupby("method")
    shares = by_method.agg(tasks=("size", "size"), trials=("size", "sum"), share=("mean", "mean"))
    shares = shares.astype({"trials": int})
    return shares.sort_values("share", ascending=False, kind="stable").reset_index()
