"""What a trial came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faults.process import Outcome
from faults.subjects import Shown, Subject

LOST = "lost"  # a result that was there, or announced, is gone or had to be computed again
SILENT = "silent"  # another number than the undisturbed one, and not a word
UNEXPLAINED = "unexplained"  # a traceback, a hang, a process that stays
FOREIGN = "foreign"  # a file of the user, outside of the workspace, was changed or deleted
REFUSED = "refused"  # a sentence said so, and no wrong number was shown
IDENTICAL = "identical"  # the numbers of an undisturbed launch, to the last bit
VERDICTS = (LOST, SILENT, UNEXPLAINED, FOREIGN, REFUSED, IDENTICAL)
ENDED = ("done", "diverged", "timeout")


@dataclass(frozen=True)
class Trial:
    """A fault at one place, and a function that inflicts it in a new folder."""

    scenario: str
    label: str
    run: Callable[[Path], Verdict]


@dataclass(frozen=True)
class Verdict:
    """One of `VERDICTS`, with what shows it."""

    word: str
    why: str = ""


def finished(shown: Shown) -> set[str]:
    """Cells that ended."""
    return {cell for cell, rows in shown.items() if rows[0].get("status") in ENDED}


def wrong(shown: Shown, whole: Shown, older: Shown | None = None) -> str:
    """A cell that is shown with other numbers than undisturbed ones, if there is any."""
    for cell in sorted(finished(shown)):
        if older and shown[cell] == older.get(cell):
            continue
        if cell not in whole:
            return f"an unknown cell {cell}"
        for row in shown[cell]:
            if row not in whole[cell]:
                return f"cell {cell} shows {sorted(set(row.items()) - set(whole[cell][0].items()))}"
    return ""


def incomplete(shown: Shown, whole: Shown) -> str:
    """A cell that is shown without some of its checkpoints, if there is any."""
    short = {cell for cell in finished(shown) & set(whole) if len(shown[cell]) < len(whole[cell])}
    return f"checkpoints of {sorted(short)} are missing" if short else ""


def writes(folder: Path) -> dict[str, int]:
    """When the files of every finished cell were written."""
    files = (folder / "runs" / "cells").glob("[!.]*/cell.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in files}


def judge(
    subject: Subject,
    folder: Path,
    struck: Outcome | None = None,
    promised: int = 0,
    damage: bool = False,
) -> Verdict:
    """Look at the results after a fault, launch again, and look once more.

    Parameters
    ----------
    subject : what was struck, with the numbers of an undisturbed launch.
    folder : the workspace.
    struck : how the command ended that the fault hit.
    promised : number of cells that were there or announced before the fault.
    damage : whether finished files were damaged: then their cells may be computed again.
    """
    said = struck is not None and struck.said
    if struck is not None and struck.traceback:
        return Verdict(UNEXPLAINED, str(struck))
    before, looked = subject.shown(folder)
    said |= looked.said
    if looked.traceback:
        return Verdict(UNEXPLAINED, str(looked))
    if why := wrong(before, subject.whole, subject.older):
        return Verdict(SILENT, f"after the fault: {why}")
    if (why := incomplete(before, subject.whole)) and not looked.said:
        return Verdict(SILENT, f"after the fault: {why}; {looked}")
    if not damage and len(finished(before)) < promised:
        return Verdict(LOST, f"{len(finished(before))} of {promised} cells are left; {looked}")
    written = writes(folder)
    again = subject.rerun(folder)
    said |= again.said
    if again.traceback:
        return Verdict(UNEXPLAINED, str(again))
    if again.code:
        return Verdict(REFUSED, str(again))
    if not damage:
        now = writes(folder)
        if rerun := [cell for cell in finished(before) if now.get(cell) != written.get(cell)]:
            return Verdict(LOST, f"computed again: {rerun}")
    after, looked = subject.shown(folder)
    if looked.traceback:
        return Verdict(UNEXPLAINED, str(looked))
    if why := wrong(after, subject.whole):
        return Verdict(SILENT, f"after the relaunch: {why}")
    if why := incomplete(after, subject.whole):
        return Verdict(REFUSED if looked.said else SILENT, f"after the relaunch: {why}")
    if missing := set(subject.whole) - finished(after):
        return Verdict(REFUSED if looked.said else LOST, f"after the relaunch: no {missing}")
    return Verdict(REFUSED if said else IDENTICAL, str(struck or again))


def announced(out: str) -> int:
    """Number of cells whose end a launch printed; the table of a report names losses too."""
    lines = [line for line in out.splitlines() if line.startswith("[")]
    return sum("log loss" in line or "error 0" in line for line in lines)
