"""``xcbench board``: every method on every task under one protocol."""

from __future__ import annotations

import time
from pathlib import Path

from xcbench import threads
from xcbench.board import checks, launch, protocol
from xcbench.board.protocol import NAME, PARTS
from xcbench.cli.command import Request
from xcbench.cli.paper import plans, refuse_hydra
from xcbench.errors import UserError
from xcbench.run.processes import INTERRUPTED
from xcbench.units import duration

CHECK, REPORT = "check", "report"
ALL = (*PARTS, CHECK, REPORT)


def board(request: Request) -> int:
    """Run what is missing of the board, or a part of it, and write its page.

    Settings: ``part=tuning|runs|check|report`` (or several), ``task=…``, ``method=…``,
    ``reports_dir``, and settings of the launch such as ``runs_dir``.
    """
    settings = dict(request.settings)
    refuse_hydra(settings)
    parts = [word for word in settings.pop("part", ",".join(ALL)).split(",") if word]
    for part in parts:
        if part not in ALL:
            raise UserError(f"part={part} is not possible: it is one of {', '.join(ALL)}")
    folder = Path(settings.pop("reports_dir", "reports")) / NAME
    tasks, methods = (
        [word for word in settings.pop(name, "").split(",") if word] for name in ("task", "method")
    )
    planned = plans(settings)
    run = launch.Launch(protocol.read(), folder, settings, tasks, methods, planned)
    started, code = time.monotonic(), 0
    if measured := [part for part in PARTS if part in parts]:
        if not planned:
            protocol.write(folder)
        code = run.run(measured)
    if CHECK in parts and code != INTERRUPTED and not planned:
        code = max(code, checks.run(run))
    if REPORT in parts and code != INTERRUPTED and not planned:
        written(folder)
        print(f"report: {request.page(folder)}")
    print(f"{NAME}: {duration(time.monotonic() - started)} in all")
    return code


def written(folder: Path) -> None:
    """Write the page from the measured rows."""
    from xcbench.board import measures, page  # drawing takes a second to import

    board = measures.read(folder, protocol.read())
    if board.finals.empty:
        raise UserError(f"{folder} has no measured rows to report; `xcbench board` measures them")
    with threads.one():
        page.write(folder, board)
    for task, sentence in measures.substitutes(board.summary).items():
        print(f"{task}: {sentence}")
