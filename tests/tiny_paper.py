"""A paper of three tiny grids, and the command line with it: ``python tiny_paper.py CONF paper …``.

Its experiments stand in a copy of ``conf/``, with a dataset whose files can be taken away.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from xcbench import options, papers
from xcbench.cli import main
from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.papers import Grid, Measured, Paper, replication
from xcbench.store import cells

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# @package _global_
mlflow: false
dataset: {missing: skip}
budget: {epochs: 1, checkpoints: 1}
hydra:
  mode: MULTIRUN
  sweeper:
    params:
"""
EXPERIMENTS = {
    "search": HEAD
    + """\
      dataset: small
      method: ove,umax
      method.lr: 0.001,0.01
      seed: 0,1
""",
    "tuned": HEAD
    + """\
      dataset: small
      method: ove,umax
      seed: 0,1
""",
    "sums": HEAD
    + """\
      dataset: digits,small
      method: umax
      method.double_sum: proposed,raman
      method.step: gradient
      method.lr: 0.01
      seed: 0,1
""",
}
SMALL = """\
defaults: [/schema/dataset@_here_: dataset, _self_]
name: small
reader: repository
folders: [small]
files: {train: train.txt, test: test.txt}
synthetic: {train: 40, test: 10, features: 8, classes: 6, nonzeros: 2}
"""


def report(paper: Paper, measured: Measured, folder: Path) -> pd.DataFrame:
    """In place of `Paper.report`."""
    measured.results.to_csv(folder / "seen.csv", index=False)
    measured.curves.to_csv(folder / "seen-curves.csv", index=False)
    return pd.DataFrame(columns=replication.COLUMNS)


GRIDS = (
    Grid("search", "tuning", extended=True),
    Grid("tuned", rates_from="search"),
    Grid("sums"),
)


def write(folder: Path) -> Path:
    """Write its configuration and its files; gives the folder of the configuration."""
    conf = folder / "conf"
    shutil.copytree(ROOT / "conf", conf)
    (conf / "experiment" / "tiny").mkdir()
    for name, text in EXPERIMENTS.items():
        (conf / "experiment" / "tiny" / f"{name}.yaml").write_text(text)
    (conf / "dataset" / "small.yaml").write_text(SMALL)
    rng = np.random.default_rng(0)
    (folder / "data" / "small").mkdir(parents=True)
    for role, rows in (("train", 60), ("test", 20)):
        lines = [f"{rows} 14 6"]
        for label in rng.integers(0, 6, rows):
            others = rng.choice(8, 2, replace=False) + 6
            lines.append(f"{label} {label}:1 " + " ".join(f"{j}:0.3" for j in sorted(others)))
        (folder / "data" / "small" / f"{role}.txt").write_text("\n".join(lines) + "\n")
    return conf


def module() -> ModuleType:
    """What `papers.find` imports."""
    made = ModuleType("xcbench.papers.tiny.experiments")
    made.GRIDS = GRIDS  # type: ignore[attr-defined]
    return made


@dataclass(frozen=True)
class Place:
    """Where the tiny paper runs."""

    path: Path

    @property
    def settings(self) -> dict[str, str]:
        return {
            "runs_dir": str(self.path / "runs"),
            "reports_dir": str(self.path / "reports"),
            "data_dir": str(self.path / "data"),
        }

    def launch(self, **overrides: str) -> int:
        return paper(Request("paper", ["tiny"], {**self.settings, **overrides}))

    def forget_runs(self) -> None:
        shutil.rmtree(self.path / "runs", ignore_errors=True)

    def ran(self) -> set[str]:
        """Identities of the cells there are."""
        return {path.parent.name for path in self.path.glob("runs/cells/*/cell.json")}

    def prepared(self) -> list[Path]:
        """Datasets in the cache."""
        return list(self.path.glob("runs/cache/*/info.json"))

    def file(self, part: str) -> Path:
        return self.path / "reports" / "tiny" / f"{part}.csv"

    def table(self, part: str, grid: str = "") -> pd.DataFrame:
        rows = pd.read_csv(self.file(part), dtype={"cell": str})
        return rows[rows["grid"] == grid] if grid else rows

    def bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.file("runs").parent.glob("*.csv")}


def kill_at(number: int) -> None:
    """End this process without warning while it saves a cell of this number."""
    save, count = cells.save, iter(range(number))

    def save_or_die(runs_dir: Path, cell: cells.Cell) -> None:
        if next(count, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        save(runs_dir, cell)

    cells.save = save_or_die


if __name__ == "__main__":
    sys.modules["xcbench.papers.tiny.experiments"] = module()
    papers.NAMES = (*papers.NAMES, "tiny")
    Paper.report = report
    options.folder = lambda: Path(sys.argv[1])
    if "KILL_AT" in os.environ:
        kill_at(int(os.environ["KILL_AT"]))
    main.main(sys.argv[2:])
