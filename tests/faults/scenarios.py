"""The scenarios of the campaign, each of them a function that gives its trials."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from faults import (
    damage,
    full,
    links,
    operations,
    overlap,
    power,
    process,
    signals,
    store,
    subjects,
)
from faults.subjects import OWN, ZIPF, Paper, Report, Subject, Tracked, launch
from faults.verdicts import Trial

Scenario = Callable[[Path, np.random.Generator], Iterator[Trial]]
DISKS = {"on a full disk": errno.ENOSPC, "with an I/O error": errno.EIO}


def small_launch() -> Subject:
    """Two cells with weights, their data prepared on the way."""
    return launch("launch", *ZIPF, "method=umax,ove", "save_weights=true")


def at_each_operation(subject: Subject, folder: Path, name: str) -> Iterator[Trial]:
    """Killed, refused by the disk, without power at each operation of a subject."""
    subject, done = operations.record(subject, folder / name)
    yield from operations.trials(f"{name} killed at each operation", subject, done)
    for words, error in DISKS.items():
        yield from operations.trials(f"{name} {words}", subject, done, error)
    yield from power.trials(f"{name}: power lost", subject, folder / name, done)


def launches(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """A launch in an empty workspace."""
    yield from at_each_operation(small_launch(), folder, "launch")


def forced(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Finished cells computed again."""
    subject, _ = operations.record(small_launch(), folder / "finished")
    again = subject.words
    forcing = replace(subject, words=(*again, "force=true"), again=again, base=folder / "finished")
    yield from at_each_operation(forcing, folder, "force=true")


def reports(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """A report that replaces another one."""
    process.preload("matplotlib.figure", "matplotlib.backends.backend_agg")
    finished = folder / "finished"
    operations.record(small_launch(), finished)
    process.command(finished, ("xcbench", "report", "method=umax"))
    subject = Report("report", ("xcbench", "report"), base=finished)
    subject = replace(subject, older=subject.shown(finished)[0])
    yield from at_each_operation(subject, folder, "report")


def papers(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """The tables of a paper, written for the first time and again, by one and by two launches."""
    paper = finished_paper(folder)
    assert paper.base
    cells = folder / "cells"
    shutil.copytree(paper.base, cells, ignore=shutil.ignore_patterns("reports"))
    first = replace(paper, base=cells)
    yield from at_each_operation(first, folder, "paper")
    words = (*paper.words, "force=true")
    grid = replace(paper, words=words, again=paper.words)
    yield from at_each_operation(grid, folder, "grid of a paper")
    yield from overlap.trials("two launches of a paper", first, 6, rng)


def finished_paper(folder: Path) -> Paper:
    """The tiny paper, finished."""
    import tiny_paper

    paper = subjects.paper(tiny_paper.write(folder / "tiny"))
    finished, _ = operations.record(paper, folder / "finished")
    return replace(finished, base=folder / "finished")


def damages(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Finished files damaged at random."""
    words = launch("own", *OWN, "method=umax,ove", "save_weights=true", "grid=own").words
    look = ("xcbench", "results", "--curves", "grid=own")
    subject, _ = operations.record(damage.Readings("own", words, look=look), folder / "own")
    runs = folder / "own" / "runs"
    subject = replace(subject, base=folder / "own")
    cells = files(runs / "cells") + files(runs / "grids")
    yield from damage.trials("a cell's file damaged", subject, cells, 120, rng, damage.of_cells)
    data = files(runs / "cache")
    yield from damage.trials("prepared data damaged", subject, data, 60, rng, damage.of_data)
    paper = finished_paper(folder)
    assert paper.base
    tables = sorted((paper.base / "reports" / "tiny").glob("*s.csv"))
    yield from damage.trials("a paper's table damaged", paper, tables, 40, rng)


def compiled(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Compiled code damaged at random."""
    process.preload("numba")
    own = launch("compiled", *ZIPF, "method=umax,ove", "engine=numba")
    subject, _ = operations.record(replace(own, home="home"), folder / "compiled")
    subject = replace(subject, base=folder / "compiled")
    paths = files(folder / "compiled" / "home")
    yield from damage.trials("compiled code damaged", subject, paths, 24, rng, damage.of_data)


def signalled(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Launches with two workers."""
    subject = launch("workers", *ZIPF, "method=umax,ove", "seed=0,1,2", "budget.epochs=60")
    subject, _ = operations.record(subject, folder / "workers")
    yield from signals.trials("signal to a launch of 2 workers", subject, 20, rng)


def swept(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """A grid of 40 cells in lockstep with two workers, against the same cells one by one."""
    rates = ",".join(f"{rate:.3g}" for rate in np.geomspace(1e-3, 10, 10))
    words = *ZIPF, "engine=numba", "method=umax,ove", f"method.lr={rates}", "seed=0,1"
    alone = launch("grid", *words, "dataset.synthetic.train=4000", "budget.epochs=20")
    one_by_one = replace(alone, words=(*alone.words, "lockstep=false"))
    recorded, _ = operations.record(one_by_one, folder / "grid")
    subject = replace(recorded, words=alone.words)
    yield from signals.trials("signal to a grid of 40 cells in lockstep", subject, 200, rng)


def overlapping(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Two launches at once."""
    subject = launch("launch", *ZIPF, "method=umax,ove", "seed=0,1")
    subject, _ = operations.record(subject, folder / "launch")
    yield from overlap.trials("two launches at once", subject, 20, rng)


def tracking(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Launches that are recorded in MLflow."""
    process.preload("mlflow.tracking", "mlflow.store.tracking.sqlalchemy_store")
    subject = launch("tracked", *ZIPF, "method=umax,ove", "mlflow=true")
    subject, _ = operations.record(subject, folder / "tracked")
    yield from store.trials("MLflow store harmed", subject)


def disks(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """Each folder on a disk of its own that is full: cells, data, code, MLflow, reports."""
    uri = "tracking_uri=sqlite:///store/mlflow.db"
    subjects = written(folder, Tracked("tracked", tracked(uri), store="store/mlflow.db"), "store")
    for name, (subject, place) in subjects.items():
        subject, _ = operations.record(subject, folder / name)
        yield from full.trials(
            f"{name} on a full disk of its own", subject, place, folder / name, 8
        )


def linked(folder: Path, rng: np.random.Generator) -> Iterator[Trial]:
    """A link in each place that a command writes."""
    store = [f"runs/mlflow.db{end}" for end in ("", "-journal", "-wal", "-shm")]
    subjects = written(folder, Tracked("tracked", tracked()), "runs/mlflow")
    for name, (subject, place) in subjects.items():
        subject, done = operations.record(replace(subject, under=""), folder / name)
        mine = [one for one in done if f"/{place}" in one.path + one.other]
        more = store if name == "MLflow" else ()
        yield from links.trials(f"links in place of {name}", subject, folder / name, mine, more)


def tracked(*words: str) -> tuple[str, ...]:
    """A launch that is recorded in MLflow."""
    return launch("tracked", *ZIPF, "method=umax,ove", "mlflow=true", *words).words


def written(folder: Path, store: Tracked, place: str) -> dict[str, tuple[Subject, str]]:
    """What writes into each folder, and the folder; of MLflow as it is given."""
    process.preload("matplotlib.figure", "matplotlib.backends.backend_agg", "numba")
    process.preload("mlflow.tracking", "mlflow.store.tracking.sqlalchemy_store")
    compiling = launch("compiled", *ZIPF, "method=umax,ove", "engine=numba")
    finished = folder / "finished"
    operations.record(small_launch(), finished)
    return {
        "cells": (small_launch(), "runs/cells"),
        "prepared data": (small_launch(), "runs/cache"),
        "compiled functions": (replace(compiling, home="home"), "home"),
        "MLflow": (store, place),
        "reports": (Report("report", ("xcbench", "report"), base=finished), "reports"),
    }


def files(folder: Path) -> list[Path]:
    """Every file below a folder that holds something."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


MOST = {
    "links": 40,
    "launches": 70,
    "forced": 50,
    "reports": 10,
}  # trials of each kind, to end in ten minutes

SCENARIOS: dict[str, Scenario] = {
    "launches": launches,
    "forced": forced,
    "reports": reports,
    "papers": papers,
    "damages": damages,
    "compiled": compiled,
    "signals": signalled,
    "lockstep": swept,
    "overlap": overlapping,
    "tracking": tracking,
    "disks": disks,
    "links": linked,
}
