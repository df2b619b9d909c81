"""The board's page, with its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from xcbench.board import checks, comparisons, figures, findings, tables
from xcbench.board.comparisons import AHEAD, BEHIND, LEADER, SAME, UNTESTED
from xcbench.board.protocol import NAME
from xcbench.board.results import MEASURES, ONCE, RANKED, Board
from xcbench.committed.results_cache import save
from xcbench.errors import writing
from xcbench.show import pictures, section
from xcbench.show.effects import CONFIDENCE
from xcbench.show.pictures import Picture
from xcbench.show.section import Section
from xcbench.show.table import Table, numeric
from xcbench.store import commits
from xcbench.store.ordering import best_first
from xcbench.system import durable
from xcbench.units import count

TITLE = "Every method on every task"
HOME = "[All reports](../index.html)"
QUESTIONS = {
    "test_log_loss": "Which method when log loss counts?",
    "accuracy": "Which method when precision counts?",
}
SECONDS = "Which method when seconds count?"
INTRO = (
    "All methods of xcbench run on every task under [one protocol](PROTOCOL.md), which also "
    "says what changed after first results. All see the same rows, features and labels. Each that "
    "can be stopped and tuned has {studies} searches of {trials} trials, and {seeds} seeds of "
    "final cells."
)
TIMES = (
    "Times are processor seconds of the training process. Other programs ran on the machine, so "
    "short times are rough."
)
CRITERIA = (
    " Methods with probabilities are tuned and stopped by log loss, the others by precision, which "
    "favours the latter here."
)
LACKING = "Without a number on a task, where they rank last, and not tested: {}. "
LEAST = " (none can be: a pair that differs the same way on each task has p = {:.2g})"
PARTIAL = (
    "A partial board: rows of the chosen tasks and methods, beside committed rows of the "
    "[whole board](../board/index.html)."
)
MISSING = "Not measured yet: {}. All that is said here is of the other tasks."
USE = "For your own data, run `xcbench advise dataset=file dataset.train=FILE`."
SHOWN = {  # columns of a task's table, and their headings
    "accuracy": "accuracy or P@1",
    "test_precision_at_3": "P@3",
    "test_precision_at_5": "P@5",
    "test_log_loss": "log loss",
    "test_macro_f1": "macro-F1",
    "train_seconds": "training s",
    "took": "s in all",
    "train_mib": "training MiB",
    "model_mib": "model MiB",
    "row_seconds": "prediction s a row",
    "role": "role",
    "stopped": "ended by themselves",
    "trials": "trials on all rungs",
    "settings": "settings of seed 0",
    "reason": "note",
}
CAPTIONS = {  # of tables, by their file; what stands before the colon is the title of a section
    "predicted": "Do ranks carry over: Kendall's tau of ranks on the other tasks and on those held "
    "out",
    "regrets": "Does advice carry over: loss on test rows against the best ranked method, of the "
    "method that a task's validation rows recommend, and of the leader of the other tasks",
    "conclusions": "Which published conclusions survive",
    "sensitivity": "Sensitivity: share of a search's trials within 5 % of its best one",
    "hours": "Core hours: processor hours of training by task, without evaluations",
    "checks": "Checks",
}


def write(folder: Path, board: Board) -> None:
    """Write the page, tables and figures, of the tasks that are measured."""
    board, partial = board.of_measured(), folder.name != NAME
    written = tables.of_board(board)
    with writing(folder, "reports_dir"):
        for name, frame in written.items():
            save(frame, folder / f"{name}.csv", 6)
        with durable.new_folder(folder / "figures") as scratch:
            drawn = pictures.save(figures.every(board, written), scratch)
        written["checks"] = pd.concat([checks.of_rows(board), checks.read(folder)])
        parts = [*sections(board, written, drawn)]
        missing = [MISSING.format(", ".join(board.unmeasured))] if board.unmeasured else []
        notices = [*missing, TIMES, *([PARTIAL] if partial else []), *filter(None, [board.stale])]
        said = intro(board)
        text = section.render(TITLE, said, parts, notices=notices, home=HOME)
        durable.write(folder / "index.html", text)
        head = [f"# {TITLE}", "[Protocol](PROTOCOL.md), [page](index.html)", *said, *notices]
        durable.write(folder / "tables.md", "\n\n".join([*head, section.markdown(parts)]))


def intro(board: Board) -> list[str]:
    """What the board is, and how many cells it has."""
    p, runs = board.protocol, board.rows["runs"]
    ended = (runs["status"] == "done").sum()
    early = runs["message"].astype(str).str.startswith("stopped at epoch").sum()
    return [
        INTRO.format(studies=p.studies, trials=p.trials, seeds=p.seeds),
        f"{len(board.trials)} trials; {len(runs)} final cells, of which {early} ended as "
        f"validation rows no longer gained, and {ended - early} after all their passes. Commits "
        f"of the final cells' code: {commits.counted(board.finals)}.",
    ]


def sections(
    board: Board, frames: Mapping[str, pd.DataFrame], drawn: Mapping[str, Picture]
) -> Iterator[Section]:
    """All sections of the page, the questions first."""
    for measure, question in QUESTIONS.items():
        ranks = frames["ranks"]
        some = ranks[ranks["measure"] == measure].drop(columns="measure")
        figure = [drawn[name] for name in (f"ranks-{measure}",) if name in drawn]
        yield Section(question, [leading(board, measure, some)], [_table(question, some)], figure)
    text = [in_time(frames["seconds"], frames["regrets"]), USE]
    yield Section(SECONDS, text, [_table(SECONDS, frames["advice"])], [drawn["front-seconds"]])
    yield Section(
        "Findings that none of the papers states", items=findings.sentences(frames["findings"])
    )
    yield Section("At a glance", figures=[drawn["overview"], drawn["front-mib"]])
    for name, caption in CAPTIONS.items():
        if len(frames[name]):
            yield Section(caption.partition(":")[0], tables=[_table(caption, frames[name])])
    for task in dict.fromkeys(board.summary["task"]):
        yield Section(task, tables=[_table(task, _of_task(board, task))])


def leading(board: Board, measure: str, ranks: pd.DataFrame) -> str:
    """Who leads by a measure, and from whom it is told apart."""
    lead = ranks[ranks["result"] == LEADER]
    if lead.empty:
        return "No two methods can be compared yet."
    (_, it), tested = next(lead.iterrows()), int(ranks["p"].notna().sum())
    of_result = {result: [*some["method"]] for result, some in ranks.groupby("result")}
    behind, ahead = (len(of_result.get(result, ())) for result in (BEHIND, AHEAD))
    same, untested = (of_result.get(result, []) for result in (SAME, UNTESTED))
    decided = comparisons.decided_pairs(board, measure)
    note = CRITERIA + unranked(board) if measure == "accuracy" else ""
    return (
        f"Validation rows choose `{it['method']}`: by the {MEASURES[measure]} of test rows its "
        f"average rank is {it['average rank']:.1f} [{it['low']:.1f}, {it['high']:.1f}] over "
        f"{count(it['tasks'], 'task')}. {behind} of the {count(tested, 'other')} tested are behind "
        f"it{f', {ahead} ahead' if ahead else ''}{_possible(it['tasks'], tested)}; no difference "
        f"was found to {', '.join(f'`{name}`' for name in same[:5]) or 'any'}"
        f"{f' and {len(same) - 5} more' if len(same) > 5 else ''}. "
        f"{LACKING.format(', '.join(f'`{name}`' for name in untested)) if untested else ''}"
        f"Of all {count(decided.pairs, 'pair')}, joint tests tell {decided.jointly} apart"
        f"{LEAST.format(decided.least) if decided.least > 1 - CONFIDENCE else ''}, and Holm's "
        f"correction {decided.by_holm}{_possible(it['tasks'], decided.pairs)}.{note}"
    )


def unranked(board: Board) -> str:
    """How often the best method that cannot be stopped is better than the best ranked one."""
    roles = board.summary[board.summary["task"].isin(board.measured)]
    best = roles.pivot_table(index="task", columns="role", values="accuracy", aggfunc="max")
    if not {ONCE, RANKED} <= {*best}:
        return ""
    wins, tasks = int((best[ONCE] > best[RANKED]).sum()), count(len(best), "task")
    return (
        " Libraries that cannot be stopped run once, at their defaults, and are not ranked; on "
        f"{wins} of {tasks} the best of them is better on test rows than the best ranked method."
    )


def _possible(tasks: int, pairs: int) -> str:
    """Says so where Holm's correction cannot tell any pair apart, whatever the numbers."""
    possible = comparisons.decidable(tasks, pairs)
    return "" if possible else f" (by Holm none of {pairs} can be, on {count(tasks, 'task')})"


def in_time(seconds: pd.DataFrame, regrets: pd.DataFrame) -> str:
    """Which methods are chosen most often at each time, by precision."""
    some = seconds[seconds["measure"] == "accuracy"]
    if some.empty:
        return "No method is ranked yet."
    words = []
    for at, rows in some.groupby("seconds"):
        times = rows["method"].value_counts()
        most = times.index[times == times.max()]
        names, tasks = " and ".join(f"`{name}`" for name in most), count(len(rows), "task")
        chosen = f"{names} ({times.max()} of {tasks}{' each' * (len(most) > 1)})"
        differ = len(most) == len(rows) > 1
        words.append(f"in {at:g} s " + (f"another one on each of {tasks}" if differ else chosen))
    lost = 100 * regrets.loc[regrets["measure"] == "accuracy", "regret"]
    return (
        f"By precision, validation rows choose most often: {'; '.join(words)}. After all its "
        f"seconds the chosen method is, on test rows, {lost.mean():.1f} points below the best "
        "ranked one, on average."
    )


def _table(caption: str, frame: pd.DataFrame) -> Table:
    return Table(caption, frame, numeric(frame), digits=4)


def _of_task(board: Board, task: str) -> pd.DataFrame:
    """The results of a task, the best first; a method without numbers has its reason."""
    rows = board.summary[board.summary["task"] == task].sort_values("method", kind="stable")
    shown = best_first(rows, "accuracy").set_index("method")[list(SHOWN)].rename(columns=SHOWN)
    return shown.loc[:, (shown.notna() & (shown != "")).any()].reset_index()
