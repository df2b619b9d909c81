"""A finished cell as one flat run of MLflow.

Time stamps are start + training clock, so the duration of a run is its training time. The UI's
relative time axis then shows training seconds since the first value of a curve.

MLflow makes a section of charts of the metrics with the same word before a slash. Sections are in
alphabetical order, metrics without a slash come last. So the page opens on ``loss/…``, the curves
of log losses; ``summary/best_…`` and ``summary/last_…`` are single numbers; other curves follow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xcbench.store import checkpoints
from xcbench.store.cell import ENDED, Cell
from xcbench.store.checkpoints import Checkpoint
from xcbench.store.results import flatten

ENDINGS = {"done": "FINISHED", "timeout": "FINISHED", "diverged": "FAILED", "failed": "FAILED"}
LONGEST = 6000  # characters MLflow keeps of a value
CONTEXT = ("mlflow.data.context", "training")  # tag of a dataset among the inputs of a run
LOSS, SUMMARY = "loss/", "summary/"  # sections of metrics
BEST_BY = "best_by"  # tag: column that chose the best checkpoint
SINGLE = 0  # step of a number that is no curve; MLflow draws it as a bar
FOLDER = "runs_folder"  # tag: identity of the folder of runs that a run on a server comes from

Point = tuple[str, float, int, int]  # metric, value, time in ms, step


@dataclass
class Run:
    """Content of a run; times are in ms, and ``data`` are the fields of MLflow's `Dataset`."""

    name: str
    status: str
    start: int
    end: int
    tags: dict[str, str]
    params: dict[str, str]
    points: list[Point]
    data: dict[str, str]


class Entry(NamedTuple):
    """A run in the store: its id, its status, and the tags that identify its cell."""

    run: str
    status: str
    cell: str
    started: str | None
    grid: str | None

    @property
    def complete(self) -> bool:
        """Whether it was written completely."""
        return self.status != "RUNNING"


def of(cell: Cell, grid: str = "") -> Run:
    """The run of a cell.

    Parameters
    ----------
    grid : names of the grids that the cell belongs to, with commas.
    """
    rate = [] if cell.lr is None else [f"lr={cell.lr:g}"]
    settings = flatten({**cell.config, "shape": cell.shape})
    settings |= {} if cell.rate is None else {"lr": cell.rate}  # method.lr is auto
    points = [*_points(cell), *_summary(cell)]
    begin = round(1000 * cell.started)
    return Run(
        name=" ".join([cell.dataset, cell.method, *rate, f"seed={cell.seed}"]),
        status=ENDINGS[cell.status],
        start=begin,
        end=max((stamp for _, _, stamp, _ in points), default=begin),
        tags=_tags(cell, grid),
        params={key: _cut(value) for key, value in settings.items()},
        points=points,
        data={
            "name": cell.dataset,
            "digest": cell.dataset_digest[:36],
            "source_type": "xcbench",
            "source": json.dumps(cell.config.get("dataset", {})),  # what the digest is made of
            "schema": "",
            "profile": json.dumps(cell.shape),
        },
    )


def _tags(cell: Cell, grid: str) -> dict[str, str]:
    names = ("cell", "status", "dataset", "dataset_digest", "method", "method_version", "seed")
    version, commit = cell.environment.get("xcbench"), cell.environment.get("git_commit")
    best = _best(cell)
    tags = {
        **{name: vars(cell)[name] for name in (*names, "engine", "message")},
        "grid": grid or None,
        "git_commit": commit,
        "started": repr(cell.started),
        "git_commit_missing": None if commit else cell.commit_source,
        BEST_BY: best.by if best else None,
        "mlflow.source.name": f"xcbench {version}" if version else "xcbench",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.git.commit": commit,
    }
    return {name: _cut(value) for name, value in tags.items() if value is not None}


def _points(cell: Cell) -> Iterator[Point]:
    """Take a curve apart: every finite number, at the time of the training clock."""
    curve = dict(zip(cell.curve, cell.curve.to_numpy(object).T.tolist(), strict=True))
    steps = list(map(int, curve.pop("iteration")))
    stamps = _stamps(cell)
    for name, column in curve.items():  # seconds of training too, to choose as an axis
        metric = f"{LOSS}{name}" if "log_loss" in str(name) else str(name)
        for step, stamp, value in zip(steps, stamps, column, strict=True):
            if _is_number(value):
                yield metric, float(value), stamp, step


def _summary(cell: Cell) -> Iterator[Point]:
    """Every finite number of the best checkpoint and of the last one, under names of their own."""
    last = Checkpoint(len(cell.curve) - 1) if len(cell.curve) else None
    for word, checkpoint in ((checkpoints.BEST, _best(cell)), (checkpoints.LAST, last)):
        if checkpoint is not None:
            stamp = _stamps(cell)[checkpoint.place]
            for name, value in cell.curve.iloc[checkpoint.place].items():
                if _is_number(value):
                    yield f"{SUMMARY}{word}_{name}", float(value), stamp, SINGLE


def _best(cell: Cell) -> Checkpoint | None:
    """Best checkpoint of a cell that ended, by validation, else by training."""
    return checkpoints.best(cell.curve) if cell.status in ENDED else None


def _stamps(cell: Cell) -> list[int]:
    """Time of every checkpoint in ms.

    Iterations of L-BFGS have no clock; they stand at the time of the row before them.
    """
    clock = cell.curve["train_seconds"].ffill().fillna(0.0)
    return [round(1000 * (cell.started + seconds)) for seconds in clock]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
