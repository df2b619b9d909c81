"""``xcbench board``: every method on every task under one protocol."""

from __future__ import annotations

import time
from pathlib import Path

from xcbench.board import checks, launch, protocol, variance
from xcbench.board.protocol import NAME, PARTS
from xcbench.cli.command import Request
from xcbench.cli.paper import refuse_hydra, totals_of
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.system import threads
from xcbench.system.processes import INTERRUPTED
from xcbench.units import duration

CHECK, REPORT = "check", "report"
PARTIAL = f"{NAME}-partial"  # folder of a board of some tasks or methods
ALL = (*PARTS, CHECK, REPORT)


def board(request: Request) -> int:
    """Run what is missing of the board, or a part of it, and write its page.

    Settings: ``part=tuning|runs|check|report`` (or several), ``task=…``, ``method=…``, ``name=…``
    (the report's folder), ``reports_dir``, and settings of the launch such as ``runs_dir``.
    With ``task`` or ``method`` the board is partial: it leaves the folder of the whole board alone.
    """
    settings = dict(request.settings)
    refuse_hydra(settings)
    tasks, methods = (
        [word for word in settings.pop(name, "").split(",") if word] for name in ("task", "method")
    )
    some = bool(tasks or methods)
    name = settings.pop("name", PARTIAL if some else NAME)
    partial = name != NAME
    check_name("name", name)
    default = [part for part in ALL if part != CHECK or not partial]
    parts = [word for word in settings.pop("part", ",".join(default)).split(",") if word]
    for part in parts:
        if part not in ALL:
            raise UserError(f"part={part} is not possible: it is one of {', '.join(ALL)}")
    if some and not partial:
        raise UserError(
            f"name={NAME} is the whole board: choose another name, or no task and method"
        )
    if partial and CHECK in parts:
        raise UserError("part=check checks the whole board: leave out task, method and name")
    reports = Path(settings.pop("reports_dir", "reports"))
    folder, official = reports / name, reports / NAME
    totals = totals_of(settings)
    if REPORT in parts and not totals:
        refuse_loss(folder)
    committed = official if partial else None
    run = launch.Launch(protocol.read(), folder, settings, tasks, methods, committed, totals)
    started, code = time.monotonic(), 0
    if measured := [part for part in PARTS if part in parts]:
        if not totals:
            protocol.write(folder)
        code = run.run(measured)
    if totals:
        totals.end(NAME)
    if CHECK in parts and code != INTERRUPTED and not totals:
        code = max(code, checks.run(run))
    if REPORT in parts and code != INTERRUPTED and not totals:
        written(folder)
        print(f"report: {request.page(folder)}")
    print(f"{NAME}: {duration(time.monotonic() - started)} in all")
    return code


def refuse_loss(folder: Path) -> None:
    """Refuse to write a page again without the analysis of variance that it has.

    Raises
    ------
    UserError
        If statsmodels, which computes the analysis, is not installed.
    """
    path = folder / "variance.csv"
    if path.exists() and not variance.installed():
        raise UserError(
            f"{path} needs statsmodels, without which the report would lose it: "
            "pip install 'xcbench[board]'"
        )


def written(folder: Path) -> None:
    """Write the page from the measured rows, of the tasks that have any."""
    from xcbench.board import page, results  # drawing takes a second to import

    board = results.read(folder, protocol.read())
    if board.finals.empty:
        raise UserError(f"{folder} has no measured rows to report; `xcbench board` measures them")
    with threads.one():
        page.write(folder, board)
    for task, sentence in results.substitutes(board.summary).items():
        print(f"{task}: {sentence}")
