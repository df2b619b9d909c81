"""``xcbench board``: every method on every task under one protocol."""

from __future__ import annotations

import time
from pathlib import Path

from xcbench.board import checks, launch, protocol, results
from xcbench.board.protocol import NAME
from xcbench.board.results import Board
from xcbench.cli.command import Request, several
from xcbench.cli.paper import refuse_hydra, totals_of
from xcbench.errors import UserError
from xcbench.options import check_name
from xcbench.system import threads
from xcbench.system.processes import INTERRUPTED
from xcbench.units import duration

CELLS, CHECK, REPORT = ALL = "cells", "check", "report"
PARTIAL = f"{NAME}-partial"  # folder of a board of some tasks or methods
LAUNCH = (  # settings of a launch; the protocol has those of cells
    *("runs_dir", "data_dir", "fetch", "workers", "executor", "executor_address", "slurm"),
    *("lockstep", "force", "plan"),
)


def board(request: Request) -> int:
    """Run what is missing of the board, or a part of it, and write its page.

    Settings: ``part=cells|check|report`` (or several), ``task=…``, ``method=…``, ``name=…``
    (the report's folder), ``reports_dir``, ``plan=true`` (count what would run, and its hours; with
    ``verbose=true`` list it), and settings of the launch such as ``runs_dir``, ``data_dir``,
    ``force=true``. With ``task`` or ``method`` the board is partial: it leaves the folder of the
    whole board alone.
    """
    settings, known = dict(request.settings), protocol.read()
    refuse_hydra(settings)
    tasks = several(settings, "task", [*known.tasks])
    methods = several(settings, "method", [*known.methods])
    some = bool(tasks or methods)
    name = settings.pop("name", PARTIAL if some else NAME)
    partial = name != NAME
    check_name("name", name)
    default = [part for part in ALL if part != CHECK or not partial]
    parts = several(settings, "part", ALL) or default
    if some and not partial:
        raise UserError(
            f"name={NAME} is the whole board: choose another name, or no task and method"
        )
    if partial and CHECK in parts:
        raise UserError("part=check checks the whole board: leave out task, method and name")
    reports = Path(settings.pop("reports_dir", "reports"))
    folder, official = reports / name, reports / NAME
    totals = totals_of(settings)
    for setting, value in settings.items():
        if setting.partition(".")[0] not in LAUNCH:
            raise UserError(
                f"{setting}={value} is not possible: the protocol has the settings of cells "
                f"(conf/experiment/{NAME}.yaml); a launch has {', '.join(LAUNCH)}"
            )
    run = launch.Launch(
        known, folder, settings, tasks, methods, official if partial else None, totals
    )
    started, code = time.monotonic(), 0
    if CELLS in parts:
        code = run.run()
    if totals:
        totals.end(NAME)
    if CHECK in parts and code != INTERRUPTED and not totals:
        checks.run(run, measured(folder))
    if REPORT in parts and code != INTERRUPTED and not totals:
        written(folder)
        print(f"report: {request.page(folder)}")
    print(f"{NAME}: {duration(time.monotonic() - started)} in all")
    return code


def written(folder: Path) -> None:
    """Write the protocol, and the page from the measured rows."""
    from xcbench.board import page  # drawing takes a second to import

    board = measured(folder)
    protocol.write(folder)
    with threads.one():
        page.write(folder, board)


def measured(folder: Path) -> Board:
    """The board of a folder.

    Raises
    ------
    UserError
        If it has no final cell.
    """
    board = results.read(folder, protocol.read())
    if board.finals.empty:
        raise UserError(f"{folder} has no measured rows to report; `xcbench board` measures them")
    return board
