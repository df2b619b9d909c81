"""Results of every method on every task: measurements, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.board import tuning
from xcbench.board.protocol import CELLS, LATE, LINES, PARTS, REFERENCE, Protocol
from xcbench.committed import code_table
from xcbench.committed.results_cache import ResultsCache
from xcbench.papers.run import tables
from xcbench.store import commits
from xcbench.store.cell import ENDED
from xcbench.store.ordering import best_of_each

RANKED, LINE, ONCE, OVER = "ranked", "line", "one run", "over its seconds"  # roles of a method
BY = ["task", "method"]
MEASURES = {"test_log_loss": "log loss", "accuracy": "precision"}  # by which methods are ranked
CHOOSING = {"test_log_loss": "validation_log_loss", "accuracy": "validation_accuracy"}
MEANS = [  # of the final cells, in the order of the columns
    "accuracy",
    "test_log_loss",
    "test_macro_f1",
    "test_precision_at_3",
    "test_precision_at_5",
    *CHOOSING.values(),
    "train_seconds",
    "took",
    "train_mib",
    "model_mib",
    "row_seconds",
]
OF_ROWS = ("cell", *BY, "seed", "status", "budget.seconds", "budget.epochs", "budget.patience")
OF_ROWS += (*tuning.POINT, *commits.COLUMNS)


@dataclass(frozen=True)
class Board:
    """The tables of the board.

    Attributes
    ----------
    rows : of trials and final cells, by part, with ``task`` and ``method``.
    trials, finals : one row a trial, or a seed of the final cells, that ended, at the checkpoint
        chosen by early stopping, with ``accuracy`` (precision at 1 if every label counts),
        ``row_seconds`` and ``took`` (seconds of the whole training). Where a seed has several
        trainings, the row is of the one that validation rows choose; it has the ``role``.
    curves : the checkpoints of all final cells, with the ``role`` of their method.
    summary : one row for each task and method: means over seeds, or a ``reason``.
    stale : a sentence on rows that today's code did not measure, or nothing.
    """

    protocol: Protocol
    rows: dict[str, pd.DataFrame]
    trials: pd.DataFrame
    finals: pd.DataFrame
    curves: pd.DataFrame
    summary: pd.DataFrame
    stale: str = ""

    @property
    def measured(self) -> list[str]:
        """Tasks of which every method and seed has rows; what does not run here does not count."""
        rows = self.rows["runs"].drop_duplicates(["task", "method", "seed"])
        here = rows["method"].isin([*self.protocol.methods])
        some = (rows[here] if here.any() else rows).groupby("task").size()
        return [name for name in self.protocol.tasks if some.get(name, 0) == some.max()]

    @property
    def unmeasured(self) -> list[str]:
        """The other tasks."""
        return [name for name in self.protocol.tasks if name not in self.measured]

    def of_measured(self) -> Board:
        """The board without rows of the other tasks, of which some methods ran so far."""

        def some(table: pd.DataFrame) -> pd.DataFrame:
            return table[table["task"].isin(self.measured)]

        return replace(
            self,
            rows={part: some(table) for part, table in self.rows.items()},
            trials=some(self.trials),
            finals=some(self.finals),
            curves=some(self.curves),
            summary=some(self.summary),
        )

    @property
    def first_trials(self) -> pd.DataFrame:
        """Trials with which searches begin, but for those too short to train anything."""
        first = first_rung(self.trials)
        return first[first["epoch"] > 0]

    @property
    def ranked(self) -> pd.DataFrame:
        """Final cells that count in rankings, of the measured tasks."""
        some = self.finals["role"].eq(RANKED) & self.finals["task"].isin(self.measured)
        return self.finals[some]


def read(folder: Path, protocol: Protocol) -> Board:
    """Read the board from its committed tables."""
    tasks = [tables(folder / CELLS / name) for name in protocol.tasks]
    parts = {part: reduce(ResultsCache.joined, (it[part].intact for it in tasks)) for part in PARTS}
    rows = {part: _of_grids(cache.rows) for part, cache in parts.items()}
    seconds = rows["tuning"].reindex(columns=["budget.seconds"])["budget.seconds"]
    rows["tuning"] = rows["tuning"][~seconds.isin(protocol.pace)]
    curves = {part: _checkpoints(rows[part], it.curves, protocol) for part, it in parts.items()}
    trials, finals = (_stopped(curves[part], protocol) for part in ("tuning", "runs"))
    finals = _chosen(finals, protocol, partial(best_of_each, by="seed"))  # passes, or a decay
    finals = finals.assign(role=_roles(finals, protocol))
    roles = finals.drop_duplicates(BY)[[*BY, "role"]]
    summary = _summary(rows, finals, protocol)
    both = parts["tuning"].joined(parts["runs"])
    stale = code_table.stale(both.rows, both.codes)
    checkpoints = curves["runs"].merge(roles, how="left", on=BY)
    return Board(protocol, rows, trials, finals, checkpoints, summary, stale)


def _of_grids(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with task and method, which the name of their grid has."""
    pairs = [str(name).partition("/") for name in rows["grid"]]
    task, method = ([pair[place] for pair in pairs] for place in (0, 2))
    return rows.copy().assign(task=task, method=method)


def _checkpoints(rows: pd.DataFrame, curves: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Checkpoints with what the rows say of their cells, and their accuracy."""
    columns = [name for name in rows if name in OF_ROWS or str(name).startswith("shape.")]
    curves = curves.merge(rows[columns], on="cell")
    every = curves["task"].isin([it.name for it in protocol.tasks.values() if it.every_label])
    more = {"took": curves.groupby("cell")["train_seconds"].transform("max")}
    for role, name in (("test", "accuracy"), ("validation", CHOOSING["accuracy"])):
        first = curves.reindex(columns=[f"{role}_precision_at_1", f"{role}_error"])
        more[name] = first.iloc[:, 0].where(every, 1 - first.iloc[:, 1])
    return curves.assign(**more)


def _stopped(curves: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Cells at the checkpoint that is best by the criterion of their method and task."""
    stopped = _chosen(curves[curves["status"].isin(ENDED)], protocol, tuning.stopped)
    needed = [*stopped, *MEANS, *OF_ROWS, "predict_seconds", "shape.test"]
    stopped = stopped.reindex(columns=list(dict.fromkeys(needed)))
    return stopped.assign(row_seconds=stopped["predict_seconds"] / stopped["shape.test"])


def _chosen(
    rows: pd.DataFrame, protocol: Protocol, choose: Callable[[pd.DataFrame, str], pd.DataFrame]
) -> pd.DataFrame:
    """Rows that are chosen by the criterion of their method and task."""
    parts = [
        choose(part, tuning.criterion(part, protocol.tasks[str(task)].every_label))
        for (task, _), part in rows.groupby(BY)
    ]
    return pd.concat(parts, ignore_index=True) if parts else rows


def _roles(finals: pd.DataFrame, protocol: Protocol) -> np.ndarray:
    """What the cells of a method are on a task."""
    slower = {name: task.slower for name, task in protocol.tasks.items()}
    limits = protocol.over * protocol.seconds * finals["task"].map(slower)
    over = finals.groupby(BY)["took"].transform("mean") > limits
    method, once = finals["method"], finals["budget.patience"].isna()
    roles = {REFERENCE: method == REFERENCE, LINE: method.isin(LINES), ONCE: once, OVER: over}
    return np.select([*roles.values()], [*roles], RANKED)


def _summary(
    rows: dict[str, pd.DataFrame], finals: pd.DataFrame, protocol: Protocol
) -> pd.DataFrame:
    """Of every task and method, from its rows and from its final cells."""
    tried, runs = rows["tuning"], rows["runs"]
    methods = sorted({*tried["method"], *runs["method"]})
    measured = [name for name in protocol.tasks if name in set(runs["task"])]
    every = pd.MultiIndex.from_product([measured, methods], names=BY)
    cells = finals.groupby(BY)
    counts = {
        "trials": tried[tried["status"].isin((*ENDED, "diverged"))].groupby(BY).size(),
        "seeds": cells.size(),
        "stopped": finals[finals["status"] == "done"].groupby(BY).size(),
    }
    spread = cells[[*MEASURES]].std().add_suffix("_sd")
    table = pd.DataFrame(counts, every).fillna(0).astype(int)
    table = table.join([cells["role"].first(), cells[MEANS].mean(), spread])
    points = cells.head(1).set_index(BY).reindex(every, columns=list(tuning.POINT))
    table["settings"] = [_words(point) for _, point in points.iterrows()]
    reasons: dict[Any, str] = {pair: _reason(some) for pair, some in runs.groupby(BY)}
    table = table.reset_index()
    table["reason"] = [
        ""
        if seeds
        else reasons.get((task, method), f"not run: `xcbench board task={task}` runs it")
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


def _reason(runs: pd.DataFrame) -> str:
    """Why a method has no final cell that ended on a task."""
    messages = runs["message"].dropna()
    return str(messages.iloc[0]) if len(messages) else f"all {len(runs)} final cells diverged"


def first_rung(trials: pd.DataFrame) -> pd.DataFrame:
    """The shortest trials of every task and method, with which its searches begin."""
    rows = trials.reindex(columns=list(dict.fromkeys([*trials, "budget.seconds", "epoch"])))
    return rows[rows["budget.seconds"] == rows.groupby(BY)["budget.seconds"].transform("min")]


def anytime(board: Board) -> pd.DataFrame:
    """Validation quality at seconds of the protocol: of the best checkpoint so far, over seeds.

    Test rows are all measured at the best checkpoint of the whole training alone.
    """
    curves = board.curves[board.curves["status"].isin(ENDED) & (board.curves["epoch"] > 0)]
    means = [*CHOOSING.values(), "train_seconds"]
    lines = []
    for (task, method), some in curves.groupby(BY):
        column = tuning.criterion(some, board.protocol.tasks[str(task)].every_label)
        for at in board.protocol.at:
            early = some[some["train_seconds"] <= LATE * at]
            if early["seed"].nunique() == some["seed"].nunique():
                best = best_of_each(early, column, "seed").reindex(columns=means)
                lines.append([task, method, at, some["role"].iloc[0], *best.mean()])
    return pd.DataFrame(lines, columns=[*BY, "seconds", "role", *means])
