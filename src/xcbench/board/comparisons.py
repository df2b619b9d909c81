"""Comparisons of methods over tasks: ranks, tests, and how far rankings and advice carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from xcbench.board.protocol import dataset
from xcbench.board.results import CHOOSING, MEASURES, Board
from xcbench.core.metrics import of_column
from xcbench.show.effects import CONFIDENCE, Effect, holm, jointly

DRAWS = 20_000  # of a bootstrap
TIES = 7  # digits behind the point up to which numbers are the same: rows keep a digit more
ENDS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
RANKS = ["measure", "method", "average rank", "low", "high", "p", "p by Holm", "result", "tasks"]
LEADER, SAME, BEHIND, AHEAD = "leader", "no difference found", "behind", "ahead"
UNTESTED = "not tested"  # for want of a number on a task


def ranked(board: Board) -> pd.DataFrame:
    """Methods by their average rank, each compared with the leader, for every measure.

    The leader has the best average rank by validation rows. A method without a number on a task
    ranks last there, and has no test.
    """
    tables = []
    for measure in MEASURES:
        values = losses(board, measure)
        lead = leader(board, measure, board.measured)
        if not lead:
            continue
        seeds, times = drawn(by_seed(board.ranked, measure, values), values.index)
        low, high = np.quantile(_average(_ranks(seeds), times), ENDS, axis=0)
        behind = values.sub(values[lead], axis="index")
        p = behind.apply(signed_ranks).where(values.columns != lead)
        table = pd.DataFrame(
            {
                "measure": measure,
                "method": values.columns,
                "average rank": _ranks(values.to_numpy()).mean(axis=0),
                "low": low,
                "high": high,
                "p": p.to_numpy(),
                "p by Holm": holm([*p]),
                "tasks": values.notna().sum().to_numpy(),
            }
        )
        side = np.where(behind.median() > 0, BEHIND, AHEAD)
        table["result"] = np.where(table["p by Holm"] <= 1 - CONFIDENCE, side, SAME)
        table.loc[table["p"].isna(), "result"] = UNTESTED
        table.loc[table["method"] == lead, "result"] = LEADER
        tables.append(table.sort_values("average rank", kind="stable")[RANKS])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=RANKS)


def losses(board: Board, measure: str, column: str = "") -> pd.DataFrame:
    """Means over seeds of the ranked methods, tasks × methods; turned so that less is better."""
    rows = board.ranked.dropna(subset=[column or measure])
    table = rows.pivot_table(index="task", columns="method", values=column or measure).round(TIES)
    return pd.DataFrame(of_column(measure).key(table)).reindex(board.measured).dropna(how="all")


def leader(board: Board, measure: str, tasks: list[str]) -> str:
    """Method of the best average rank on some tasks by validation rows; empty without any."""
    validated = losses(board, measure, CHOOSING[measure]).reindex(tasks).dropna(how="all")
    ranks = _ranks(validated.to_numpy()).mean(axis=0) if len(validated) else ()
    return str(validated.columns[int(np.argmin(ranks))]) if len(ranks) else ""


def by_seed(rows: pd.DataFrame, measure: str, like: pd.DataFrame) -> np.ndarray:
    """Values (tasks, seeds, methods) of the tasks × methods of a table; less is better."""
    table = rows.pivot_table(index=["task", "seed"], columns="method", values=measure)
    every = pd.MultiIndex.from_product([like.index, rows["seed"].unique()])
    keys = of_column(measure).key(table.reindex(index=every, columns=like.columns))
    return np.asarray(keys, float).reshape(len(like), -1, len(like.columns))


def drawn(values: np.ndarray, tasks: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Seeds and datasets drawn with replacement.

    Parameters
    ----------
    values : (tasks, seeds, methods)

    Returns
    -------
    means : over the seeds drawn of each task, (draws, tasks, methods).
    times : that a task is drawn, with all of its dataset, (draws, tasks).
    """
    rng, (count, seeds, _) = np.random.default_rng(0), values.shape
    datasets, of_task = np.unique([dataset(task) for task in tasks], return_inverse=True)
    chosen = rng.multinomial(seeds, np.full(seeds, 1 / seeds), (count, DRAWS)).astype(float)
    there = np.isfinite(values)
    total, number = chosen @ np.where(there, values, 0.0), chosen @ there
    means = np.where(number, total / np.maximum(number, 1), np.nan).round(TIES)
    shares = np.full(len(datasets), 1 / len(datasets))
    times = rng.multinomial(len(datasets), shares, DRAWS)[:, of_task]
    return np.moveaxis(means, 1, 0), times


def _average(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Means over the tasks drawn that have a number, (draws, methods); nan without any."""
    there = np.isfinite(values) * times[:, :, None]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0) * there).sum(axis=1) / there.sum(axis=1)


def interval(values: pd.DataFrame) -> Effect:
    """Mean of a table of tasks × seeds, with an interval over datasets and seeds together."""
    if values.empty:
        return Effect(np.nan, np.nan, np.nan, 0)
    means = _average(*drawn(values.to_numpy(float)[:, :, None], values.index))[:, 0]
    low, high = np.nanquantile(means, ENDS)  # of draws that have any number
    return Effect(float(values.mean(axis="columns").mean()), float(low), float(high), len(values))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last axis, those without a number last."""
    return np.asarray(stats.rankdata(np.where(np.isnan(values), np.inf, values), axis=-1))


def signed_ranks(differences: pd.Series) -> float:
    """P of Wilcoxon's signed ranks; nan where a task has no number, 1 where none differs."""
    if differences.isna().any():
        return np.nan
    return float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0


class Decided(NamedTuple):
    """How many pairs of methods Wilcoxon's test tells apart.

    Attributes
    ----------
    by_holm, jointly : after Holm's correction, and by joint tests.
    least : joint p of a pair that differs the same way on each task; none has a smaller one.
    """

    by_holm: int
    jointly: int
    pairs: int
    least: float


def decided_pairs(board: Board, measure: str) -> Decided:
    """Pairs of methods that are told apart."""
    values = losses(board, measure).dropna(axis="columns")
    pairs = [values[one] - values[other] for one, other in combinations(values, 2)]
    if not pairs:
        return Decided(0, 0, 0, np.nan)
    datasets, clear = [*map(dataset, values.index)], np.arange(1.0, len(values) + 1)
    together = jointly(np.transpose(pairs), datasets)
    by_holm, joint = (
        sum(it <= 1 - CONFIDENCE for it in p) for p in (holm([*map(signed_ranks, pairs)]), together)
    )
    least = float(jointly(np.transpose([*pairs, clear]), datasets)[-1])
    return Decided(by_holm, joint, len(pairs), least)


def decidable(tasks: int, comparisons: int) -> bool:
    """Whether Wilcoxon's smallest p over some tasks stays small after Holm's factor."""
    return comparisons * 2.0 ** (1 - tasks) <= 1 - CONFIDENCE


def predicted(board: Board) -> pd.DataFrame:
    """Kendall's tau of average ranks on the other tasks and ranks on each task held out."""
    aside = [name for name in board.measured if board.protocol.tasks[name].held_out]
    lines = []
    for measure in MEASURES:
        values = losses(board, measure)
        others = values.drop(index=aside, errors="ignore")
        for task in aside if len(others) else ():
            of_task = values.loc[task].dropna()
            average = _ranks(others[of_task.index].to_numpy()).mean(axis=0)
            tau = stats.kendalltau(average, of_task)
            lines.append((measure, task, tau.statistic, tau.pvalue, len(of_task), len(others)))
    return pd.DataFrame(lines, columns=["measure", "task", "tau", "p", "methods", "other tasks"])


def regrets(board: Board) -> pd.DataFrame:
    """What recommendations lose on the test rows of every task, against its best ranked method.

    Of all methods, the best by the task's own validation rows is recommended, of equal ones each as
    often; or, untried, the leader of the other tasks.
    """
    lines = []
    for measure in MEASURES:
        tested, validated = losses(board, measure), losses(board, measure, CHOOSING[measure])
        for task in tested.index:
            tried = _lowest(validated.loc[task]) if task in validated.index else []
            others = leader(board, measure, [it for it in board.measured if it != task])
            regret = tested.loc[task] - tested.loc[task].min()
            numbers = [
                it for names in (tried, [others]) for it in (", ".join(names), _mean(regret, names))
            ]
            lines.append((measure, task, ", ".join(_lowest(tested.loc[task])), *numbers))
    columns = ["measure", "task", "best", "tried", "regret", "untried", "regret untried"]
    return pd.DataFrame(lines, columns=columns)


def _lowest(losses: pd.Series) -> list[str]:
    """The methods that have the lowest loss."""
    return [str(name) for name in losses.index[losses == losses.min()]]


def _mean(regret: pd.Series, names: Sequence[str]) -> float:
    """Mean over methods; nan if one has no number."""
    return float(regret.reindex([*names]).mean(skipna=False))
