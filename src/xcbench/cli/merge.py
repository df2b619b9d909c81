"""``xcbench merge``: bring the cells of another runs folder into this one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from xcbench.cli.command import Request, flag
from xcbench.errors import UserError
from xcbench.run import merging
from xcbench.run.merging import BETTER, BUSY, DIFFERS, NEW, REFUSED, SAME, Outcome
from xcbench.units import count, printable

ORDER = (NEW, BETTER, SAME, DIFFERS, BUSY, REFUSED)


def merge(request: Request) -> int:
    """Bring cells, grids and launches of another folder, and say what became of them.

    Returns
    -------
    int
        1 if anything was refused, else 0.
    """
    runs_dir, other = request.runs_dir(), Path(request.words[0])
    plan = flag("plan", request.settings.pop("plan", "false"))
    keep = request.settings.pop("keep", merging.OURS)
    request.refuse_others("runs_dir=…, keep=ours|theirs and plan=true")
    if keep not in (merging.OURS, merging.THEIRS):
        raise UserError(f"keep={keep} is not possible: it must be ours or theirs")
    _check(other, runs_dir)
    parts = {
        "cell": list(_printed(merging.bring_cells(other, runs_dir, keep, plan), keep)),
        "grid": list(_printed(merging.bring_grids(other, runs_dir, plan), keep)),
        "launch": list(_printed(merging.bring_launches(other, runs_dir, plan), keep)),
    }
    for noun, outcomes in parts.items():
        print(_counted(noun, outcomes))
    brought = any(outcome.brought for outcome in parts["cell"])
    if plan:
        print(f"plan=true: nothing was written to {runs_dir}")
    elif brought and (runs_dir / "mlflow.db").exists():
        print("MLflow does not show them yet: `xcbench track` rebuilds its store from the cells")
    return int(any(it.kind == REFUSED for outcomes in parts.values() for it in outcomes))


def _check(other: Path, runs_dir: Path) -> None:
    """Refuse a folder that is no other folder of runs.

    Raises
    ------
    UserError
        If it is none.
    """
    if not (other / "cells").is_dir():
        raise UserError(f"{other} has no folder cells: name the runs folder of another machine")
    if runs_dir.exists() and other.samefile(runs_dir):
        raise UserError(f"{other} is runs_dir itself: name the runs folder of another machine")


def _printed(outcomes: Iterable[Outcome], keep: str) -> Iterable[Outcome]:
    """Print a line for what differs, is busy or was refused, as soon as it is known."""
    for outcome in outcomes:
        if outcome.kind == DIFFERS:
            kept = f"keep={keep} takes {'those' if outcome.brought else 'these'}"
            print(printable(f"differs: {outcome.what}: {outcome.reason}; {kept}"))
        elif outcome.kind in (BUSY, REFUSED):
            reason = f": {outcome.reason}" if outcome.reason else ""
            print(printable(f"{outcome.kind}: {outcome.what}{reason}"))
        yield outcome


def _counted(noun: str, outcomes: list[Outcome]) -> str:
    """``5 cells: 3 new here, 2 here already, with the same numbers``."""
    counts = Counter(outcome.kind for outcome in outcomes)
    kinds = "; ".join(f"{counts[kind]} {kind}" for kind in ORDER if kind in counts)
    plural = "launches" if noun == "launch" and len(outcomes) != 1 else ""
    head = f"{len(outcomes)} {plural}" if plural else count(len(outcomes), noun)
    return f"{head}: {kinds}" if kinds else head
