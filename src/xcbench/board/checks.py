"""Checks that can fail: of the rows, of today's settings, and of cells that are trained again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from xcbench.board import tuning
from xcbench.board.launch import Launch
from xcbench.board.protocol import REFERENCE, UNTIMED, Conditions
from xcbench.board.results import ONCE, OVER, RANKED, Board, first_rung
from xcbench.committed.results_cache import save
from xcbench.committed.totals import Totals
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.plan import planning, sweeps
from xcbench.run import runner
from xcbench.show.table import Table, markdown, numeric
from xcbench.store import results
from xcbench.store.cell import ENDED
from xcbench.units import count

NAME = "checks"
RERUNS = 5
ROUNDING = 1e-4  # of losses after 1e4 steps: older rows kept weights that were rounded then
PACKAGE = "no package"  # of a reason: what is not installed is no failure
LEAST = {  # shares of all that are to hold
    "final cells that ended by themselves": 0.9,
    "pairs of a task and a method with a number": 0.95,
    "pairs with probabilities below the log loss of the prior": 0.97,
}


def run(launch: Launch, board: Board) -> None:
    """Run the checks that plan or train, and write their table, also if one fails."""
    planned = [*missing(launch, board.measured)]
    with sweeps.hydra(launch.overrides):
        conditions = Conditions(launch.protocol, launch.overrides)
        ran = pd.DataFrame([*planned, *again(conditions, board)])
    save(ran, launch.folder / f"{NAME}.csv", 6)
    table = pd.concat([of_rows(board), ran])
    print(markdown(Table(NAME, table, numeric(table), verbatim=True)))


def read(folder: Path) -> pd.DataFrame:
    """Read the table of checks that plan or train; empty if they have not run."""
    path = folder / f"{NAME}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame()


def of_rows(board: Board) -> pd.DataFrame:
    """Checks of the measured tasks that need their rows alone."""
    board = board.of_measured()
    return pd.DataFrame([*_counted(board), *_optima(board), *_shares(board), *_within(board)])


def _row(check: str, what: str, number: float, limit: float, holds: bool) -> dict[str, object]:
    return {
        "check": check,
        "of": what,
        "number": number,
        "beside": limit,
        "result": "holds" if holds else "fails",
    }


def _counted(board: Board) -> Iterator[dict[str, object]]:
    """Every search has the same number of trials on its first rung that trained."""
    rung, trials = first_rung(board.rows["tuning"]), board.protocol.trials
    trained = rung["status"].isin(ENDED) & (rung["epoch"] > 0) | (rung["status"] == "diverged")
    sizes = trained.groupby([rung[name] for name in ("task", "method", "seed")]).sum()
    for number, searches in sizes.groupby(sizes):
        pairs = dict.fromkeys(f"{task} {method}" for task, method, _ in searches.index)
        of = count(len(searches), "search", "es")
        of += f": {', '.join(pairs)}" * (number != trials)
        yield _row("trials of a search that trained", of, number, trials, number == trials)


def _optima(board: Board) -> Iterator[dict[str, object]]:
    """Exact softmax is at its optimum: the largest |gradient| per row is within its tolerance."""
    tolerance = registry.find(REFERENCE).thing.schema(name=REFERENCE).tolerance
    exact = board.finals[board.finals["role"] == REFERENCE]
    for task in board.measured:
        gradient = exact.loc[exact["task"] == task].reindex(columns=["largest_gradient"])
        largest = float(gradient.max().iloc[0])
        yield _row("optimum of exact softmax", task, largest, tolerance, largest <= tolerance)


def _shares(board: Board) -> Iterator[dict[str, object]]:
    """Shares of cells and pairs."""
    cells, summary = board.curves.drop_duplicates("cell"), board.summary
    finals = cells[cells["role"].isin([RANKED, OVER])]
    pairs = summary[~summary["reason"].str.contains(PACKAGE)]
    prior = summary[summary["method"] == "prior"].set_index("task")["test_log_loss"]
    probable = pairs[pairs["role"].isin([RANKED, ONCE, OVER])].dropna(subset=["test_log_loss"])
    below = probable["test_log_loss"] < probable["task"].map(prior).astype(float)
    shares = (finals["status"] == "done", pairs["accuracy"].notna(), below)
    for (what, least), holds in zip(LEAST.items(), shares, strict=True):
        if len(holds):
            share = float(holds.mean())
            yield _row("share", f"{len(holds)} {what}", share, least, share >= least)
    for _, pair in probable[~below].iterrows():
        of = f"{pair['task']} {pair['method']}"
        yield _row("above the prior", of, pair["test_log_loss"], prior[pair["task"]], False)


def _within(board: Board) -> Iterator[dict[str, object]]:
    """Pairs that took more than their seconds, and are not ranked."""
    over = board.summary[board.summary["role"] == OVER]
    if len(over):
        names = over["task"] + " " + over["method"]
        yield _row("over the cap, not ranked", ", ".join(names), len(over), 0, False)


def missing(launch: Launch, tasks: Sequence[str]) -> Iterator[dict[str, object]]:
    """Cells of today's defaults, protocol, data and code that have no row."""
    for task in tasks:
        totals = Totals()
        replace(launch, tasks=[task], totals=totals).run()
        yield _row("cells to run", task, totals.total.missing, 0, not totals.total.missing)


def again(conditions: Conditions, board: Board) -> Iterator[dict[str, object]]:
    """Train random final cells of installed methods again, and compare them with the tables.

    They are of those that ended by themselves, and train to their best evaluation, or to their end
    where the rate falls over all passes: so the clock of a machine changes nothing.
    """
    protocol, ranked = board.protocol, board.ranked
    ended = ranked[ranked["method"].isin([*protocol.methods]) & (ranked["status"] == "done")]
    for _, row in ended.sample(min(RERUNS, len(ended)), random_state=0).iterrows():
        task = protocol.tasks[row["task"]]
        settings = conditions.final(task, row["method"], int(row["seed"]), *UNTIMED)
        point = {name: row[name] for name in tuning.POINT if pd.notna(row[name])}
        passes = row["budget.epochs"] if tuning.falls(settings, protocol) else row["epoch"]
        budget = replace(settings.budget, seconds=None, epochs=passes, checkpoints=1)
        settings = replace(tuning.with_options(settings, point), budget=budget)
        (job,) = planning.jobs([settings], complete=False)
        (cell,) = runner.run([job])
        if cell.status not in ENDED:
            raise UserError(
                f"{row['task']} {row['method']} cannot be trained again: {cell.message}"
            )
        curve = results.frame([cell], curves=True)
        before = board.curves[board.curves["cell"] == row["cell"]]
        yield compared(row, curve, before, tuning.criterion(curve, task.every_label))


def compared(
    row: pd.Series, curve: pd.DataFrame, before: pd.DataFrame, column: str
) -> dict[str, object]:
    """Compare the end of a training with its evaluation after as many passes before.

    Parameters
    ----------
    row : of the cell.
    curve, before : checkpoints of the training, and those of the tables.
    column : criterion of the method, of validation rows.
    """
    new = curve.sort_values("epoch").iloc[-1]
    old = before.loc[(before["epoch"] - new["epoch"]).abs().idxmin()]
    change = float(abs(new[column] - old[column]))
    of = f"{row['task']} {row['method']} seed={row['seed']}: {column}, {new['epoch']:.4g} passes"
    return _row("trained again", of, change, ROUNDING, change < ROUNDING)
