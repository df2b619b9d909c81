"""``xcbench paper NAME``: run a paper's grids, then write its report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from omegaconf import OmegaConf

from xcbench import papers
from xcbench.cli.command import Request, flag, several
from xcbench.committed.totals import Totals
from xcbench.config import composing
from xcbench.errors import UserError
from xcbench.papers import PARTS, committed, front, replication, report, run, verdict_changes
from xcbench.plan import sweeps
from xcbench.system.processes import INTERRUPTED
from xcbench.units import duration

REPORT = "report"
ALL = (*PARTS, REPORT)


def paper(request: Request) -> int:
    """Run what is missing of a paper, or a part of it, and write its report.

    Settings: ``part=tuning|runs|report`` or several (default: all, in this order), ``grid=table2``
    (only these experiments), ``force=true`` (run cells again, whatever the committed tables have),
    ``plan=true`` (count what would run; with ``verbose=true`` list it),
    ``workers``, ``executor``, ``reports_dir``. Others override settings of the experiments, such as
    ``dataset=eurlex`` or ``seed=0``.
    """
    settings = dict(request.settings)
    refuse_hydra(settings)
    paper = papers.find(request.words[0])
    grids = [grid.name for grid in paper.grids]
    only = tuple(several(settings, "grid", grids))
    parts = several(settings, "part", ALL) or [*ALL]
    reports = Path(settings.pop("reports_dir", "reports"))
    folder = reports / paper.name
    started = time.monotonic()
    code = 0
    totals = totals_of(settings)
    runner = run.Runner(paper, folder, settings, only, totals)
    for name in PARTS:
        if name in parts and code != INTERRUPTED:
            code = max(code, runner.run(name))
    if parts != [REPORT] and not runner.points:
        filters = " ".join(f"{key}={settings[key]}" for key in settings if run.narrows(key))
        filters = filters or f"part={','.join(parts)} grid={','.join(only)}"
        raise UserError(
            f"no grid of the paper '{paper.name}' has a point with {filters}; "
            f"conf/paper/{paper.name}.yaml lists what they sweep"
        )
    if totals:
        totals.end(paper.name)
    elif REPORT in parts and code != INTERRUPTED:
        measured = run.measured(folder)
        if measured.results.empty:
            raise UserError(
                f"{folder} has no measured rows to report; `xcbench paper {paper.name}` measures "
                "them, or set reports_dir to a folder that has them"
            )
        rows = paper.report(measured, folder)
        replication.write(folder, rows)
        if len(parts) > 1:
            _collected(reports)
        print(report.counted(rows))
        print(f"report: {request.page(folder)}")
    print(f"{paper.name}: {duration(time.monotonic() - started)} in all")
    return code


def refuse_hydra(settings: Mapping[str, str]) -> None:
    """Refuse settings of Hydra, which does not launch the grids of a paper or the board."""
    for name, value in settings.items():
        if name.lstrip("+~").startswith("hydra"):
            raise UserError(
                f"{name}={value} has no effect on these grids; executor=slurm, dask or ray "
                "runs them elsewhere, workers=2 side by side"
            )


def totals_of(settings: dict[str, str]) -> Totals | None:
    """Counts of a launch with ``plan=true``, which runs and writes nothing; else None.

    Takes ``verbose`` out of the settings.
    """
    verbose = flag("verbose", settings.pop("verbose", "false"))
    with sweeps.hydra(settings):
        plan = composing.typed(OmegaConf.create({"plan": settings.get("plan", False)})).plan
    return Totals(verbose) if plan else None


def collect(request: Request) -> int:
    """``xcbench replication``: the printed numbers of all papers, and the first page.

    With ``since=COMMIT``, also those whose verdict has changed since then.
    """
    reports = Path(request.settings.pop("reports_dir", "reports"))
    since = request.settings.pop("since", "")
    request.refuse_others("reports_dir=… and since=…")
    rows = _collected(reports)
    if since:
        changed = verdict_changes.write(reports, rows, since)
        print(f"{len(changed)} verdicts changed: {reports / verdict_changes.NAME}")
    print(rows.groupby(["paper", "verdict"], sort=False).size().to_string())
    print(f"{len(rows)} printed numbers: {reports / 'replication.csv'}")
    print(f"report: {reports / 'index.html'}")
    return 0


def _collected(reports: Path) -> pd.DataFrame:
    """Write what is about all papers; gives the rows of their printed numbers."""
    rows = committed.collect(reports)
    front.write(reports, rows)
    return rows
