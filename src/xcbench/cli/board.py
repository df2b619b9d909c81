"""``xcbench board``: every method on every task under one protocol."""

from __future__ import annotations

import time
from pathlib import Path

from xcbench.board import launch, protocol
from xcbench.board.protocol import NAME, PARTS
from xcbench.cli.command import Request
from xcbench.errors import UserError
from xcbench.units import duration

REPORT = "report"


def board(request: Request) -> int:
    """Run what is missing of the board, or a part of it, and write its page.

    Settings: ``part=tuning|runs|report`` (else all), ``task=…`` and ``method=…`` (these alone),
    ``reports_dir``, and settings of the launch such as ``runs_dir``.
    """
    settings = dict(request.settings)
    part = settings.pop("part", "")
    if part and part not in (*PARTS, REPORT):
        raise UserError(f"part={part} is not possible: it is one of {', '.join((*PARTS, REPORT))}")
    folder = Path(settings.pop("reports_dir", "reports")) / NAME
    tasks, methods = (
        [word for word in settings.pop(name, "").split(",") if word] for name in ("task", "method")
    )
    started, code = time.monotonic(), 0
    if part != REPORT:
        protocol.write(folder)
        run = launch.Launch(protocol.read(), folder, settings, tasks, methods)
        code = run.run([part] if part else PARTS)
    print(f"{NAME}: {duration(time.monotonic() - started)} in all")
    return code
