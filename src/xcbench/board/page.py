"""The board's tables, figures and page, from its committed rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from xcbench.board import checks, figures, findings, results, tables, variance
from xcbench.board.protocol import NAME
from xcbench.board.results import Board
from xcbench.committed.results_cache import save
from xcbench.errors import writing
from xcbench.show import pictures, section
from xcbench.show.pictures import Picture
from xcbench.show.section import Section
from xcbench.show.table import Table, numeric
from xcbench.store import commits
from xcbench.store.ordering import best_first
from xcbench.system import durable

TITLE = "Every method on every task"
ADVICE = "Which method should I use?"
HOME = "[All reports](../index.html)"
INTRO = (
    "All methods of xcbench, and one from an outside package, run on every task under "
    "[one protocol](PROTOCOL.md), which was fixed before the runs. All see the same rows, features "
    "and labels. Each has {trials} trials and {seeds} final cells, within the same limit of "
    "processor seconds."
)
TIMES = (
    "Times are processor seconds of the training process. Other programs ran on the machine, so "
    "short times are rough. The budgets are short: the board shows what a method reaches in "
    "seconds, not in an hour. Energy is not recorded."
)
PARTIAL = (
    "A partial board: rows of the chosen tasks and methods, beside committed rows of the "
    "[whole board](../board/index.html)."
)
WITHOUT = "The analysis of variance needs statsmodels: `pip install 'xcbench[board]'`."
USE = (
    "Among methods that are about as good, the table names the one that trains fastest. Each task "
    "links to its results. For your own data, run "
    "`xcbench advise dataset=file dataset.train=FILE`."
)
SHOWN = {  # columns of a task's table, and their headings
    "accuracy": "accuracy or P@1",
    "test_precision_at_3": "P@3",
    "test_precision_at_5": "P@5",
    "test_log_loss": "log loss",
    "test_macro_f1": "macro-F1",
    "train_seconds": "training s",
    "train_mib": "training MiB",
    "model_mib": "model MiB",
    "row_seconds": "prediction s a row",
    "seconds_to_95": "s to 95 %",
    "seconds_to_99": "s to 99 %",
    "capped": "at the cap",
    "trials": "trials",
    "settings": "settings",
    "reason": "note",
}
CAPTIONS = {  # of tables, by their file; what stands before the colon is the title of a section
    "conclusions": "Which published conclusions survive",
    "ranks": "Average ranks",
    "sensitivity": "Sensitivity: share of trials within 5 % of the method's best one",
    "variance": "What each choice is worth: analysis of variance of the final log loss",
    "design": "Objective and sampler on citeulike: analysis of variance of the log loss of the adv "
    "paper's crossed rows, each objective with the optimizer of its paper",
    "choices": "Objective, sampler and optimizer on bibtex: analysis of variance of the log loss "
    "of all combinations at their best rates, without the tree: its fit takes the whole time limit "
    "(`experiment=board-crossed`)",
    "checks": "Checks",
}


def write(folder: Path, board: Board) -> None:
    """Write the page, tables and figures; analyses that need more tasks are left out."""
    partial = folder.name != NAME
    written = tables.of(board) | ({} if partial else tables.analyses(board, folder.parent))
    with writing(folder, "reports_dir"):
        for name, frame in written.items():
            if len(frame):  # else of too few tasks
                save(frame, folder / f"{name}.csv", 6)
        with pictures.replacing(folder / "figures") as scratch:
            drawn = figures.draw(board, scratch)
        parts = [*sections(board, written | {"checks": checks.read(folder)}, drawn)]
        notices = [TIMES, *([PARTIAL] if partial else []), *filter(None, [board.stale])]
        notices += [] if partial or variance.installed() else [WITHOUT]
        text = section.render(TITLE, intro(board), parts, notices=notices, home=HOME)
        durable.write(folder / "index.html", text)
        head = f"# {TITLE}\n\n[Protocol](PROTOCOL.md), [page](index.html)\n\n"
        durable.write(folder / "tables.md", head + section.markdown(parts))


def intro(board: Board) -> list[str]:
    """What the board is, and how many cells it has."""
    cells = {"trials": board.trials, "final cells": board.finals}
    counts = [
        f"{len(rows)} {name}, of which {(rows['status'] == 'timeout').sum()} met the cap"
        for name, rows in cells.items()
    ]
    return [
        INTRO.format(trials=board.protocol.trials, seeds=board.protocol.seeds),
        f"{'; '.join(counts)}. Commits of the final cells' code: {commits.counted(board.finals)}.",
    ]


def sections(
    board: Board, frames: Mapping[str, pd.DataFrame], drawn: Sequence[Picture]
) -> Iterator[Section]:
    """All sections of the page."""
    use = frames["advice"].assign(
        task="[" + frames["advice"]["task"] + "](#" + frames["advice"]["task"] + ")"
    )
    yield Section(ADVICE, [USE], [_table(ADVICE, use)])
    yield Section(
        "Findings that none of the papers states", items=findings.sentences(frames["findings"])
    )
    yield Section("At a glance", figures=[*drawn])
    for name, caption in CAPTIONS.items():
        if len(frames.get(name, ())):
            yield Section(caption.partition(":")[0], tables=[_table(caption, frames[name])])
    substitutes = results.substitutes(board.summary)
    for task in board.protocol.tasks:
        text = [substitutes[task.name]] if task.name in substitutes else []
        yield Section(task.name, text, [_table(task.name, _of_task(board, task.name))])


def _table(caption: str, frame: pd.DataFrame) -> Table:
    return Table(caption, frame, numeric(frame), digits=4)


def _of_task(board: Board, task: str) -> pd.DataFrame:
    """The results of a task, the best first; a method without numbers has its reason."""
    rows = board.summary[board.summary["task"] == task].sort_values("method", kind="stable")
    shown = best_first(rows, "accuracy").set_index("method")[list(SHOWN)].rename(columns=SHOWN)
    return shown.loc[:, (shown.notna() & (shown != "")).any()].reset_index()
