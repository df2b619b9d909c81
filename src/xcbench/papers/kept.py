"""The measured numbers of a paper as committed tables, and which of their rows still hold.

A row holds while the identity of its cell does: the same settings, data, versions. Where the data
are absent, or another engine is installed, the data's digest and the engine are those of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from xcbench import planning, results
from xcbench.cells import CURVE_COLUMNS, FINAL, Cell
from xcbench.datasets import Info
from xcbench.errors import UserError, writing
from xcbench.planning import Job

HEAD = ["grid", "cell"]


@dataclass
class Kept:
    """Tables of a part of a paper.

    Attributes
    ----------
    rows : one row for each cell of each grid.
    curves : one row a checkpoint of these cells.
    """

    rows: pd.DataFrame
    curves: pd.DataFrame

    @classmethod
    def read(cls, folder: Path, part: str) -> Kept:
        """Tables on the disk, or empty ones.

        Raises
        ------
        UserError
            If they cannot be read.
        """
        frames = []
        for path, needed in zip(paths(folder, part), (HEAD, ["cell"]), strict=True):
            if not path.exists():
                frames.append(pd.DataFrame(columns=needed))
                continue
            try:
                frame = pd.read_csv(path, low_memory=False, dtype={"cell": str})
            except (OSError, ValueError) as error:
                raise UserError(f"{path} cannot be read ({' '.join(str(error).split())})") from None
            if not set(needed) <= set(frame):
                raise UserError(f"{path} has no column '{needed[0]}'; restore it, or remove it")
            frames.append(frame)
        return cls(*frames)

    def write(self, folder: Path, part: str) -> None:
        """Write the tables, each in one move."""
        for path, frame in zip(paths(folder, part), (self.rows, self.curves), strict=True):
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                scratch = path.with_suffix(".tmp")
                frame.to_csv(scratch, index=False, float_format="%.8g")
                scratch.replace(path)

    def holds(self, job: Job) -> str | None:
        """Identity of the row of a job, if there is one that holds."""
        info, settings = job.info, job.settings
        name = info.name if isinstance(info, Info) else settings.dataset.name
        for row in self.finished.get((name, job.cell.method, job.cell.lr, job.cell.seed), []):
            digest = info.digest if isinstance(info, Info) else row["dataset_digest"]
            if row["cell"] == planning.identity(settings, name, digest, row["engine"]):
                return str(row["cell"])
        return None

    @cached_property
    def finished(self) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
        """Rows of finished cells by dataset, method, rate and seed."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        finished = self.rows[self.rows["status"].isin(FINAL)] if len(self.rows) else self.rows
        for row in finished.drop_duplicates("cell").to_dict("records"):
            rate = None if pd.isna(row["lr"]) else float(row["lr"])
            key = row["dataset"], row["method"], rate, row["seed"]
            found.setdefault(key, []).append({str(name): value for name, value in row.items()})
        return found

    def of(self, grid: str, names: list[str]) -> pd.DataFrame:
        """Rows of cells, as rows of a grid."""
        found = self.rows[self.rows["cell"].isin(names)].drop_duplicates("cell")
        return found.assign(grid=grid)


def paths(folder: Path, part: str) -> tuple[Path, Path]:
    """Files of a part: results, and curves."""
    return folder / f"{part}.csv", folder / f"{part}-curves.csv"


def rows(grid: str, found: list[Cell]) -> pd.DataFrame:
    """Rows of a grid from its cells: the tidy frame, with what makes a cell hold."""
    frame = results.frame(found)
    if not found:
        return frame.assign(grid=grid)
    known: dict[str, dict[str, Any]] = {
        cell.cell: {
            "method_version": cell.method_version,
            "dataset_digest": cell.dataset_digest,
            "commit": str(cell.environment.get("git_commit") or "")[:12],
            **{f"shape.{name}": value for name, value in cell.shape.items()},
        }
        for cell in found
    }
    more = pd.DataFrame([known[name] for name in frame["cell"]], index=frame.index)
    frame = pd.concat([frame, more], axis=1)
    frame.insert(0, "grid", grid)
    return frame


def curves(found: list[Cell]) -> pd.DataFrame:
    """Checkpoints of cells, without their settings."""
    frame = results.frame(found, curves=True)
    apart = {*results.COLUMNS, "message"}
    own = [name for name in frame if "." not in str(name) and name not in apart]
    return frame[["cell", *CURVE_COLUMNS, *own]]
