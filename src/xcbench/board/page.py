"""The board's tables, pictures and page, from its committed rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from xcbench.board import advice, checks, conclusions, figures, findings, measures, tuning, variance
from xcbench.board.measures import Board
from xcbench.board.protocol import NAME
from xcbench.committed.results_cache import save
from xcbench.errors import writing
from xcbench.show import ranks, templates
from xcbench.show.effects import effect
from xcbench.store import commits
from xcbench.store.ordering import best_first, near_best
from xcbench.system import durable

TITLE = "Every method on every task"
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
}


MEASURES = {"accuracy": "accuracy", "test_log_loss": "log loss"}  # by which methods are ranked
NEAR = 0.05  # trials within this share of the best one count as as good


def write(folder: Path, board: Board) -> None:
    """Write the page, tables and figures; analyses that need more tasks are left out."""
    partial = folder.name != NAME
    results = tables(board) if partial else {**tables(board), **analyses(board, folder.parent)}
    pictures = drawn(board, folder)
    with writing(folder, "reports_dir"):
        for name, frame in results.items():
            if frame.empty:  # of too few tasks
                continue
            save(frame, folder / f"{name}.csv", 6)
        shown = {name: frame for name, frame in results.items() if name in TOLD and len(frame)}
        text = (
            templates.environment()
            .get_template("board/page.html")
            .render(
                title=TITLE,
                protocol=board.protocol,
                counts=measures.counts(board),
                stale=board.stale,
                code=commits.counted(board.finals),
                energy=measures.energy(),
                findings=[entry.told for entry in findings.of(board)],
                advice=results["advice"],
                tables={TOLD[name]: told(frame) for name, frame in shown.items()},
                checks=told(checks.read(folder)),
                tasks={task.name: _of_task(board, task.name) for task in board.protocol.tasks},
                substitutes=measures.substitutes(board.summary),
                pictures=pictures,
                anova=partial or variance.installed(),
                partial=partial,
            )
        )
        durable.write(folder / "index.html", text)
        durable.write(folder / "tables.md", markdown(board, results, folder))


TOLD = {
    "conclusions": "Which published conclusions survive",
    "ranks": "Average ranks",
    "sensitivity": "Sensitivity: share of trials within 5 % of the method's best one",
    "variance": "What each choice is worth: analysis of variance of the final log loss",
    "design": "Objective and sampler on citeulike: analysis of variance of the log loss of the adv "
    "paper's crossed rows, each objective with the optimizer of its paper",
    "choices": "Objective, sampler and optimizer on bibtex: analysis of variance of the log loss "
    "of all combinations at their best rates, without the tree: its fit takes the whole time limit "
    "(`experiment=board-crossed`)",
}


def tables(board: Board) -> dict[str, pd.DataFrame]:
    """Tables by the name of their file."""
    return {
        "board": board.summary,
        "differences": differences(board),
        "ranks": ranked(board),
        "sensitivity": sensitivity(board),
        "conclusions": conclusions.judged(board.finals),
        "advice": advice.table(board.summary, shapes(board)),
        "findings": pd.DataFrame(
            [
                {"finding": entry.name, "effect": entry.effect.mean, "low": entry.effect.low,
                 "high": entry.effect.high, "unit": entry.unit.strip(),
                 "numbers": entry.effect.seeds, "of": entry.of, "sentence": entry.sentence}
                for entry in findings.of(board)
            ]
        ),
    }  # fmt: skip


def analyses(board: Board, reports: Path) -> dict[str, pd.DataFrame]:
    """Analyses of variance by the name of their file, none without statsmodels."""
    if not variance.installed():
        return {}
    whole, results = _balanced(board.finals[board.finals["method"] != "prior"]), {}
    if whole[["method", "task"]].nunique().min() > 1:
        results["variance"] = variance.shares(whole, "test_log_loss", ["method", "task"])
    return results | {"design": variance.design(reports), "choices": variance.choices(reports)}


def _balanced(finals: pd.DataFrame) -> pd.DataFrame:
    """Rows of the methods with probabilities that have all tasks."""
    some = finals.dropna(subset=["test_log_loss"])
    tasks = some.groupby("method")["task"].nunique()
    return some[some["method"].isin(tasks.index[tasks == some["task"].nunique()])]


def shapes(board: Board) -> pd.DataFrame:
    """Classes, rows and features of the tasks that ran."""
    names = ["classes", "train", "features", "nonzeros_per_row"]
    columns = {f"shape.{name}": name for name in names}
    return board.finals.groupby("task")[list(columns)].first().rename(columns=columns)


def differences(board: Board) -> pd.DataFrame:
    """Difference of every method from the reference of the task, over seeds."""
    lines = []
    for task, reference in measures.references(board.summary).items():
        rows = board.finals[board.finals["task"] == task]
        table = {
            name: rows.pivot_table(index="seed", columns="method", values=name) for name in MEASURES
        }
        for method in sorted({*rows["method"]} - {reference}):
            for name, values in table.items():
                if not {method, reference} <= set(values):
                    continue
                difference = effect([*(values[method] - values[reference]).dropna()])
                lines.append(
                    {"task": task, "method": method, "reference": reference, "measure": name,
                     "difference": difference.mean, "low": difference.low,
                     "high": difference.high, "seeds": difference.seeds}
                )  # fmt: skip
    names = ["task", "method", "reference", "measure", "difference", "low", "high", "seeds"]
    return pd.DataFrame(lines, columns=names)


def _by_task(board: Board, name: str) -> pd.DataFrame:
    return board.summary.pivot(index="task", columns="method", values=name)


def ranked(board: Board) -> pd.DataFrame:
    """Average ranks by accuracy of all methods, and by log loss of those with probabilities."""
    lines = []
    for name in MEASURES:
        table = ranks.ranks(_by_task(board, name), name)
        if table is None:
            continue
        lines += [
            {"measure": name, "method": method, "average rank": rank, "tasks": table.tasks,
             "critical difference": table.difference, "p of Friedman's test": table.p}
            for method, rank in table.average.items()
        ]  # fmt: skip
    return pd.DataFrame(lines)


def sensitivity(board: Board) -> pd.DataFrame:
    """Share of a method's trials within 5 % of its best validation loss or error, over tasks."""
    lines = []
    every = {task.name: task.every_label for task in board.protocol.tasks}
    for (task, method), trials in board.trials.groupby(["task", "method"]):
        column = tuning.criterion(trials, every[str(task)])
        near = near_best(trials[column], column, NEAR)
        lines.append({"task": task, "method": method, "trials": len(trials), "share": near.mean()})
    table = pd.DataFrame(lines)
    table = (
        table[table["trials"] > 1]
        .groupby("method")
        .agg(tasks=("share", "size"), trials=("trials", "sum"), share=("share", "mean"))
    )
    return table.sort_values("share", ascending=False, kind="stable").reset_index()


def drawn(board: Board, folder: Path) -> dict[str, str]:
    """Draw the figures; returns their files with captions."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    pictures: dict[str, str] = {}

    def keep(name: str, figure: object, caption: str) -> None:
        figures.save(figure, folder / "figures" / f"{name}.svg")  # type: ignore[arg-type]
        pictures[f"figures/{name}.svg"] = caption

    keep("overview", figures.overview(board.summary),
         "Accuracy (precision at 1 where every label counts) in per cent of the best of the task. "
         "A dash marks a method without a number; the tables have the reason.")  # fmt: skip
    for name, what in MEASURES.items():
        table = ranks.ranks(_by_task(board, name), name)
        if table is not None:
            keep(f"ranks-{name}", figures.differences(table, f"average ranks by {what}"),
                 f"Average ranks by {what} over {table.tasks} tasks. Methods joined by a bar do "
                 "not differ (Nemenyi, 95 %); a method without a number ranks last.")  # fmt: skip
    loss = _by_task(board, "test_log_loss").dropna(how="all").dropna(how="all", axis="columns")
    error = (1 - _by_task(board, "accuracy")).dropna(how="all").dropna(how="all", axis="columns")
    if len(loss):
        keep("profile-loss", figures.profile(loss, "log loss"),
             "Performance profile of the log loss: share of tasks on which a method is within a "
             "ratio of the best.")  # fmt: skip
    keep("profile-error", figures.profile(error, "error"), "Performance profile of the error.")
    keep("front-seconds", figures.fronts(board.summary, "train_seconds", "training seconds"),
         "Accuracy against training time. A line joins the Pareto front, whose methods are named "
         "above the panel.")  # fmt: skip
    keep("front-mib", figures.fronts(board.summary, "model_mib", "model MiB"),
         "Accuracy against the size of the model, with the Pareto front.")  # fmt: skip
    return pictures


def _of_task(board: Board, task: str) -> pd.DataFrame:
    """The table of a task, the best first; a method without numbers has its reason."""
    rows = board.summary[board.summary["task"] == task]
    rows = best_first(rows.sort_values("method", kind="stable"), "accuracy")
    text = rows.set_index("method")[list(SHOWN)].rename(columns=SHOWN)
    shown = told(text.reset_index())
    shown["note"] = rows["reason"].to_numpy()
    return shown.loc[:, (shown != "").any()]


def told(frame: pd.DataFrame) -> pd.DataFrame:
    """Format numbers; a missing one is an empty string."""
    return frame.map(_number)


def _number(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return "" if value is None else str(value)


def markdown(board: Board, results: dict[str, pd.DataFrame], folder: Path) -> str:
    """The tables as Markdown."""
    parts = [f"# {TITLE}", "[Protocol](PROTOCOL.md), [page](index.html)", "## Findings"]
    parts.append("\n".join(f"- {entry.told}." for entry in findings.of(board)))
    parts += ["## Which method should I use?", _grid(results["advice"])]
    for name, heading in TOLD.items():
        if name in results and len(results[name]):
            parts += [f"## {heading}", _grid(results[name])]
    checked = checks.read(folder)
    if len(checked):
        parts += ["## Checks", _grid(checked)]
    substitutes = measures.substitutes(board.summary)
    for task in board.protocol.tasks:
        parts += [f"## {task.name}"]
        parts += [substitutes[task.name]] if task.name in substitutes else []
        parts += [_grid(_of_task(board, task.name))]
    return "\n\n".join(parts) + "\n"


def _grid(frame: pd.DataFrame) -> str:
    return str(told(frame).to_markdown(index=False, disable_numparse=True))
