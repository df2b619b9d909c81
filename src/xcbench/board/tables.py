"""The board's tables, from its committed rows."""

from __future__ import annotations

import pandas as pd

from xcbench.board import advice, comparisons, conclusions, findings, results, tuning
from xcbench.board.results import Board
from xcbench.store.ordering import near_best

NEAR = 0.05  # trials within this share of the best one count as as good


def of_board(board: Board) -> dict[str, pd.DataFrame]:
    """Tables by the name of their file: what the page shows, and what stands beside it."""
    quality = results.anytime(board)
    chosen = advice.in_seconds(board, quality)
    return {
        "board": board.summary,
        "anytime": quality,
        "ranks": comparisons.ranked(board),
        "seconds": chosen,
        "advice": advice.by_seconds(chosen),
        "predicted": comparisons.predicted(board),
        "regrets": comparisons.regrets(board),
        "conclusions": conclusions.judged(board.finals),
        "sensitivity": sensitivity(board),
        "findings": findings.table(board),
        "hours": hours(board),
    }


def hours(board: Board) -> pd.DataFrame:
    """Processor hours of training by task, without evaluations."""
    parts = {"searches": board.trials, "final cells": board.curves}
    took = {
        name: rows.drop_duplicates("cell").groupby("task")["took"].sum() / 3600
        for name, rows in parts.items()
    }
    table = pd.DataFrame(took, board.summary["task"].unique()).fillna(0.0)
    return table.assign(total=table.sum(axis="columns")).rename_axis("task").reset_index()


def sensitivity(board: Board) -> pd.DataFrame:
    """Share of a search's first trials within 5 % of the best validation loss or error."""
    near = []
    for (task, method, _), first in board.first_trials.groupby(["task", "method", "seed"]):
        column = tuning.criterion(first, board.protocol.tasks[str(task)].every_label)
        near.append((task, method, near_best(first[column], column, NEAR).mean()))
    table = pd.DataFrame(near, columns=["task", "method", "share"])
    by_method = table.groupby("method").agg(
        tasks=("task", "nunique"), searches=("share", "size"), share=("share", "mean")
    )
    return by_method.sort_values("share", ascending=False, kind="stable").reset_index()
