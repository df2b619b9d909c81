"""What very many cells cost besides their training: launched, listed, reported, tracked."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from hydra import compose

from benchmarks.commands import seconds
from benchmarks.table import Row
from xcbench.run import cells, composing, plan, sweeps

TINY = ["dataset=blobs", "method=umax", "engine=numpy", "budget.epochs=1", "budget.checkpoints=1"]
LAUNCHED = 1_000
COUNTS = (2_000, 20_000)
MINUTE = 60.0


def launch(runs: Path, number: int, *words: str) -> float:
    """Wall time of a launch of tiny cells."""
    return seconds("run.py", "-m", *TINY, f"seed=range({number})", f"runs_dir={runs}", *words)


def fill(runs: Path, number: int) -> None:
    """Save cells as a launch would have left them: the curve of the first one is that of all."""
    with tempfile.TemporaryDirectory() as folder:
        launch(Path(folder), 1, "mlflow=false")
        (first,) = cells.load_all(Path(folder))
        with sweeps.hydra():
            settings = composing.read(compose("config", overrides=[*TINY, f"runs_dir={runs}"]))
        jobs = plan.jobs([replace(settings, seed=seed) for seed in range(number)])
        assert first.cell == jobs[0].cell.cell  # the launch that follows finds them
        for job in jobs:
            cell = replace(job.cell, status=first.status, started=first.started, curve=first.curve)
            cells.save(runs, replace(cell, seconds=first.seconds, environment=first.environment))


def run() -> list[Row]:
    """Cells a second of a launch, and seconds of the commands that read all cells."""
    os.environ.setdefault("XCBENCH_FETCH", "0")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for tracking in ("mlflow=false", "mlflow=true"):
            where, words = Path(folder) / tracking.replace("=", "-"), (tracking, "workers=2")
            spent = launch(where, LAUNCHED, *words)
            shape = f"{LAUNCHED:,} cells, {', '.join(words)}"
            rows.append(_row("cells/s", shape, LAUNCHED / spent, 20.0, at_least=True))
            rows.append(_row("launch again, s", shape, launch(where, LAUNCHED, *words), 0.0))
        for number in COUNTS:
            runs = Path(folder) / str(number)
            fill(runs, number)
            shape = f"{number:,} cells"
            for command, *options in (
                ("results",),
                ("report", f"reports_dir={runs / 'reports'}"),
                ("track",),
            ):
                spent = seconds("-m", "xcbench", command, f"runs_dir={runs}", *options)
                rows.append(_row(f"xcbench {command}, s", shape, spent, MINUTE))
            if number == COUNTS[0]:
                rows.append(_row("launch again, s", shape, launch(runs, number), 0.0))
    return rows


def _row(name: str, shape: str, value: float, goal: float, at_least: bool = False) -> Row:
    if not goal:
        return Row(name, shape, value)
    held = value >= goal if at_least else value <= goal
    return Row(name, shape, value, verdict=(f"{'>=' if at_least else '<='} {goal:g}", held))
