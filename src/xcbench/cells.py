"""Cells on disk: identity, atomic save, status, load.

A cell is one point of a grid. Its folder ``runs/cells/<id>/`` holds ``cell.json`` and
``curve.csv`` and is the truth about it; MLflow and the reports are projections of these files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcbench.errors import UserError, writing

STATUSES = ("done", "diverged", "timeout", "failed", "skipped")
FINAL = ("done", "diverged", "timeout")

LEFTOVER_SECONDS = 600.0

WEIGHTS = "weights.npz"

APART = ("curve", "weights")  # fields of a cell with a file of their own

CURVE_COLUMNS = [
    "iteration",
    "epoch",
    "observations",
    "train_seconds",
    "bound",
    "train_log_loss",
    "train_error",
    "test_log_loss",
    "test_error",
]


@dataclass
class Cell:
    """One point of a grid and, once it ran, what came of it.

    Attributes
    ----------
    cell : identity, a hash of the next block of fields.
    dataset, method, lr, seed, engine : what a table shows; ``lr`` is None without a rate.
    method_version, dataset_digest : change when the code of the method or the data change.
    config : resolved settings without volatile keys (paths, flags of the launch).
    status : one of `STATUSES`; ``message`` says why where it is not ``done``.
    shape : rows, features, classes and non-zeros per row of the dataset.
    seconds : the three clocks: load, train, evaluate.
    launch : settings that are not part of the identity, such as where the data were found.
    curve : one row a checkpoint, first `CURVE_COLUMNS`, then what the method adds.
    weights : W and b at the end, where they are to be saved; `load` leaves them on the disk.
    """

    cell: str
    dataset: str
    method: str
    lr: float | None
    seed: int
    engine: str
    method_version: int
    dataset_digest: str
    config: dict[str, Any]
    status: str = "skipped"
    message: str | None = None
    shape: dict[str, Any] = field(default_factory=dict)
    started: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    traceback: str | None = None
    launch: dict[str, Any] = field(default_factory=dict)
    curve: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CURVE_COLUMNS))
    weights: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The cell in a few words."""
        rate = "" if self.lr is None else f" lr={self.lr:.4g}"
        return f"{self.dataset} {self.method}{rate} seed={self.seed}"


def identity(content: dict[str, Any]) -> str:
    """Hash of what makes two cells the same experiment: 16 hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def folder(runs_dir: Path, cell: str) -> Path:
    """Folder of a cell."""
    return runs_dir / "cells" / cell


def save(runs_dir: Path, cell: Cell) -> None:
    """Write a cell into a temporary sibling, sync it, then rename it into its place.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    with writing(folder(runs_dir, cell.cell)):
        _save(folder(runs_dir, cell.cell), cell)


def _save(target: Path, cell: Cell) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{cell.cell}-", dir=target.parent))
    try:
        _write(scratch, cell)
    except OSError:  # on a full disk, what was written so far would keep it full
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    if target.exists():  # a run again: the old one steps aside
        old = scratch.with_name(scratch.name + "-old")
        target.rename(old)
        scratch.rename(target)
        shutil.rmtree(old)
    else:
        scratch.rename(target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load(runs_dir: Path, cell: str) -> Cell | None:
    """Read a cell, or None where there is none.

    Raises
    ------
    UserError
        If the files are there but cannot be read.
    """
    where = folder(runs_dir, cell)
    if not where.exists():
        return None
    try:
        content = json.loads((where / "cell.json").read_text())
        text = (where / "curve.csv").read_bytes()
        if content.pop("curve_checksum", zlib.crc32(text)) != zlib.crc32(text):
            raise ValueError("curve.csv is cut off or changed")
        return Cell(**content, curve=pd.read_csv(io.BytesIO(text)))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UserError(
            f"{where} cannot be read ({' '.join(str(error).split())}); "
            "delete the folder to run the cell again"
        ) from None


def load_all(runs_dir: Path) -> Iterator[Cell]:
    """Every cell under ``runs_dir``, in order of identity."""
    for where in sorted((runs_dir / "cells").glob("[0-9a-f]*")):
        cell = load(runs_dir, where.name)
        if cell is not None:
            yield cell


def _write(scratch: Path, cell: Cell) -> None:
    content = {
        entry.name: getattr(cell, entry.name) for entry in fields(cell) if entry.name not in APART
    }
    curve = cell.curve.to_csv(index=False)
    content["curve_checksum"] = zlib.crc32(curve.encode())  # a curve without its end is a curve too
    _write_synced(scratch / "cell.json", json.dumps(content, indent=1, allow_nan=False))
    _write_synced(scratch / "curve.csv", curve)
    if cell.weights:
        with (scratch / WEIGHTS).open("wb") as handle:
            np.savez(handle, allow_pickle=False, **cell.weights)
            handle.flush()
            os.fsync(handle.fileno())
    scratch.chmod(0o755)


def weights(runs_dir: Path, cell: Cell) -> dict[str, np.ndarray]:
    """Saved weights of a cell: W (K, D) and, if it has biases, b (K,).

    Raises
    ------
    UserError
        If none were saved, or the file is damaged.
    """
    path = folder(runs_dir, cell.cell) / WEIGHTS
    if not path.exists():
        why = "" if cell.status in FINAL else f" (it is {cell.status})"
        raise UserError(
            f"cell {cell.cell} has no weights{why}; run it again with save_weights=true force=true"
        )
    try:
        with np.load(path, allow_pickle=False) as content:
            found = {name: content[name] for name in content.files}
        if "W" not in found and "start" in found:
            raise UserError(
                f"the weights of cell {cell.cell} are sparse rows without probabilities, which "
                f"predict cannot use; {path} has their values, features and starts"
            )
        K, D = cell.shape["classes"], cell.shape["features"]
        shapes = {"W": (K, D), "b": (K,)}
        if any(found[name].shape != shapes[name] for name in {"W", *found}):
            raise ValueError("it is of another shape than the cell")
        return found
    except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(
            f"{path} cannot be read ({' '.join(str(error).split())}); "
            "run the cell again with save_weights=true force=true"
        ) from None


def size(runs_dir: Path, cell: str) -> int:
    """Bytes of a cell's files."""
    return sum(path.stat().st_size for path in folder(runs_dir, cell).rglob("*") if path.is_file())


def find(runs_dir: Path, prefix: str) -> Cell:
    """Cell whose identity begins so.

    Raises
    ------
    UserError
        If none does, or several do.
    """
    names = sorted(where.name for where in (runs_dir / "cells").glob("[0-9a-f]*"))
    found = [name for name in names if prefix and name.startswith(prefix.lower())]
    if len(found) > 1:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise UserError(f"{len(found)} cells begin with '{prefix}': {shown}; give more of it")
    cell = load(runs_dir, found[0]) if found else None
    if cell is None:
        raise UserError(
            f"no cell '{prefix}' among the {len(names)} under {runs_dir}; "
            "`xcbench results` lists them, runs_dir=… looks elsewhere"
        )
    return cell


def remove(runs_dir: Path, cell: str) -> None:
    """Delete a cell; it is gone at once, even if the deletion is cut off."""
    where = folder(runs_dir, cell)
    scratch = where.with_name(f".{cell}-removed-{os.getpid()}")
    with suppress(FileNotFoundError):
        where.rename(scratch)
    shutil.rmtree(scratch, ignore_errors=True)


def sweep_leftovers(runs_dir: Path) -> None:
    """Delete the half-written folders that killed processes left behind.

    Younger ones may be those of another launch that is writing now.
    """
    for where in (runs_dir / "cells").glob(".*"):
        with suppress(OSError):
            if time.time() - where.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(where, ignore_errors=True)


def _write_synced(path: Path, text: str) -> None:
    with path.open("wb") as handle:
        handle.write(text.encode())
        handle.flush()
        os.fsync(handle.fileno())
