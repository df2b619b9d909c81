"""``xcbench paper NAME``: run a paper's grids, then write its report."""

from __future__ import annotations

import time
from pathlib import Path

from xcbench import papers
from xcbench.commands import Given
from xcbench.errors import UserError
from xcbench.papers import PARTS, replication, run
from xcbench.units import duration

REPORT = "report"


def paper(given: Given) -> int:
    """Run what is missing of a paper, or a part of it, and write its report.

    Settings: ``part=tuning|runs|report`` (else all, in this order), ``force=true`` (rows of the
    committed tables count for nothing, cells run again), ``workers``, ``reports_dir``, and
    overrides of its experiments such as ``dataset=eurlex`` or ``seed=0``.
    """
    found = papers.find(given.words[0])
    settings = dict(given.settings)
    part = settings.pop("part", "")
    if part and part not in (*PARTS, REPORT):
        raise UserError(f"part={part} is not possible: it is one of {', '.join((*PARTS, REPORT))}")
    reports = Path(settings.pop("reports_dir", "reports"))
    again = settings.get("force", "false") == "true"
    started = time.monotonic()
    code = 0
    for name in PARTS:
        if part in ("", name) and code != 130:
            runner = run.Runner(found, reports / found.name, settings, again)
            code = max(code, runner.run(name))
    if part in ("", REPORT) and code != 130:
        rows = found.report(run.measured(reports / found.name), reports / found.name)
        replication.write(reports, found.name, rows)
        print(f"report: {reports / found.name / 'index.html'}, {reports / 'replication.csv'}")
    print(f"{found.name}: {duration(time.monotonic() - started)} in all")
    return code
