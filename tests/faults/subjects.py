"""What the campaign breaks: a launch, a report, the tables of a paper."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from faults import process
from faults.process import ROOT, RUN, Before, Outcome, Running

CLOCKS = ("train_seconds", "curve_checksum", "commit")  # and what is made of them
Shown = dict[str, list[dict[str, str]]]  # of every cell its checkpoints, without clocks

QUIET = ("mlflow=false", "engine=numpy", "budget.epochs=1", "budget.checkpoints=2")
TINY = ("train=200", "test=50", "features=30", "classes=10", "nonzeros=4")
ZIPF = ("dataset=zipf", *(f"dataset.synthetic.{setting}" for setting in TINY))
OWN = ("dataset=file", "dataset.train=own.txt", "dataset.test=own.txt")


def nothing() -> None:
    """Do nothing before a command."""


@dataclass(frozen=True)
class Subject:
    """A command of the product, and what the product shows of its results.

    Attributes
    ----------
    words : the command; ``again`` is the one that goes on where it was cut off.
    under : folder in the workspace whose operations count.
    look : the command that shows the results; ``shown`` takes them out of what it printed.
    base : a workspace to start from, or none for an empty one.
    home : folder in the workspace for what the product caches for a user.
    before_again : called before the command that goes on.
    whole : what is shown when nothing was disturbed; ``older`` was shown before the command.
    """

    name: str
    words: tuple[str, ...]
    under: str = "runs"
    look: tuple[str, ...] = ("xcbench", "results", "--curves")
    base: Path | None = None
    again: tuple[str, ...] = ()
    home: str = ""
    before_again: Before = nothing
    whole: Shown = field(default_factory=dict, compare=False)
    older: Shown = field(default_factory=dict, compare=False)

    def place(self, folder: Path) -> None:
        """Begin a workspace."""
        if self.base:
            shutil.copytree(self.base, folder, symlinks=True)
        else:
            folder.mkdir(parents=True)
            own_data(folder)

    def run(self, folder: Path, before: Before = lambda: None) -> Outcome:
        """Run the command."""
        return self.start(folder, before).end()

    def rerun(self, folder: Path) -> Outcome:
        """Run the command that goes on."""
        self.before_again()
        return replace(self, words=self.again or self.words).run(folder)

    def start(self, folder: Path, before: Before = lambda: None, name: str = "") -> Running:
        """Begin to run the command."""

        def prepare() -> None:
            if self.home:
                os.environ["XDG_CACHE_HOME"] = str(folder / self.home)
            before()

        return Running(folder, self.words, prepare, name)

    def shown(self, folder: Path) -> tuple[Shown, Outcome]:
        """What the product shows now."""
        outcome = process.command(folder, self.look)
        return table(outcome.out), outcome


@dataclass(frozen=True)
class Tracked(Subject):
    """A launch that is recorded in MLflow: the runs of its store are a result too."""

    store: str = "runs/mlflow.db"

    def shown(self, folder: Path) -> tuple[Shown, Outcome]:
        """Cells, and the runs in the store once there is one for each cell."""
        shown, outcome = super().shown(folder)
        uri = f"file:{folder / self.store}?mode=ro"  # else it would make an empty one
        with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as opened:
            ((runs,),) = opened.execute("SELECT count(*) FROM runs")
            if runs == len(shown):
                shown["runs in MLflow"] = [{"status": "done", "number": str(runs)}]
        return shown, outcome


@dataclass(frozen=True)
class Paper(Subject):
    """One grid of a tiny paper, whose committed tables are the results.

    ``look`` is the command that writes the report.
    """

    under: str = "reports"

    def shown(self, folder: Path) -> tuple[Shown, Outcome]:
        """Rows and checkpoints as the product reads them for a report."""
        seen = [folder / "reports" / "tiny" / name for name in ("seen.csv", "seen-curves.csv")]
        for path in seen:
            path.unlink(missing_ok=True)
        outcome = process.command(folder, self.look)
        shown: Shown = {}
        for path in seen if outcome.code == 0 else ():
            for cell, rows in table(path.read_text() if path.exists() else "").items():
                shown.setdefault(cell, []).extend(rows)
        return shown, outcome


@dataclass(frozen=True)
class Report(Subject):
    """A report that replaces another one: all its files are one result."""

    under: str = "reports"

    def shown(self, folder: Path) -> tuple[Shown, Outcome]:
        """The digest of all files, if there is any."""
        where = folder / "reports" / "last"
        files = sorted(path for path in where.rglob("*") if path.is_file())
        content = [(str(path.relative_to(where)), path.read_bytes()) for path in files]
        digest = hashlib.sha256(repr(content).encode()).hexdigest()
        shown = {"report": [{"status": "done", "digest": digest}]} if where.exists() else {}
        return shown, Outcome(0, "", "")


def launch(name: str, *words: str) -> Subject:
    """A sweep of tiny cells; of a setting that is said twice the later one holds."""
    settings = dict(word.split("=", 1) for word in (*QUIET, *words))
    return Subject(name, (RUN, "-m", *(f"{key}={value}" for key, value in settings.items())))


def paper(conf: Path) -> Paper:
    """The tiny paper; its data stand beside its configuration."""
    script = str(ROOT / "tests" / "tiny_paper.py")
    words = (script, str(conf), "paper", "tiny")
    settings = (f"data_dir={conf.parent / 'data'}", "engine=numpy", "grid=sums", "part=runs")
    return Paper("paper", (*words, *settings), look=(*words, "part=report"))


def table(text: str) -> Shown:
    """Rows of a CSV by their cell; a column without a value is no column."""
    shown: Shown = {}
    rows = csv.DictReader(io.StringIO(text))
    for row in rows if "cell" in (rows.fieldnames or ()) else ():
        values = {name: exact(text) for name, text in row.items() if text and name not in CLOCKS}
        shown.setdefault(row["cell"], []).append(values)
    return shown


def exact(text: str) -> str:
    """A value without its format: what stands beside it in a column may make 0 a 0.0."""
    try:
        return repr(float(text))
    except ValueError:
        return text


def own_data(folder: Path) -> None:
    """A file of one's own: 60 rows, 6 classes."""
    rng = np.random.default_rng(0)
    labels: Sequence[int] = rng.integers(0, 6, 60).tolist()
    lines = [f"{label} {label + 1}:1 {rng.integers(7, 14)}:0.3" for label in labels]
    (folder / "own.txt").write_text("\n".join(lines) + "\n")
