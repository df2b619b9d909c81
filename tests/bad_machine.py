"""Damaged cells, folders and disks that cannot be used, stores that other programs hold."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

from bad_case import Case, NotPossible


def cell_files(folder: Path, runs: str) -> Path:
    """Folder of the one cell that is under a copy of the finished run."""
    shutil.copytree(folder / "runs", folder / runs)
    (cell,) = (folder / runs / "cells").glob("[!.]*")
    return cell


def changed_cell(runs: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    """Copy of the finished run with its cell damaged."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        change(cell_files(folder, runs))
        yield

    return around


def truncate(name: str, size: int) -> Callable[[Path], object]:
    def change(cell: Path) -> None:
        os.truncate(cell / name, size if size > 0 else (cell / name).stat().st_size + size)

    return change


def cut_grid(cell: Path) -> None:
    os.truncate(cell.parents[1] / "grids" / "last.json", 9)


LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def mounted(where: Path, size: str, read_only: bool = False) -> Iterator[None]:
    """A small disk in memory; only a privileged user may."""
    where.mkdir()
    flags = 1 if read_only else 0
    if not hasattr(LIBC, "mount") or LIBC.mount(
        b"tmpfs", os.fsencode(where), b"tmpfs", flags, f"size={size}".encode()
    ):
        where.rmdir()
        raise NotPossible("mounting a small disk needs privileges")
    try:
        yield
    finally:
        LIBC.umount2(os.fsencode(where), 2)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    with mounted(folder / "readonly", "64k", read_only=True):
        yield


def full_disk(name: str, kilobytes: int, finished: bool = True) -> Callable[[Path], object]:
    """A disk that holds a finished run and has so much left."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        with mounted(folder / name, "4m"):
            if finished:
                shutil.copytree(folder / "runs", folder / name / "runs")
            with (folder / name / "fill").open("wb", buffering=0) as fill:
                with suppress(OSError):
                    while True:
                        fill.write(bytes(4096))
                fill.truncate(fill.tell() - 1024 * kilobytes)
            yield

    return around


def rubbish_store(folder: Path) -> object:
    shutil.copytree(folder / "runs", folder / "rubbish-store")
    (folder / "rubbish-store" / "mlflow.db").write_bytes(b"rubbish " * 999)
    return nullcontext()


@contextmanager
def locked_store(folder: Path) -> Iterator[None]:
    """A store that another program holds."""
    shutil.copytree(folder / "runs", folder / "locked-store")
    store = folder / "locked-store" / "mlflow.db"
    with closing(sqlite3.connect(store, isolation_level=None)) as holder:
        holder.execute("CREATE TABLE t (x)")
        holder.execute("BEGIN EXCLUSIVE")
        yield


def a_file(folder: Path) -> object:
    (folder / "file").write_text("")
    return nullcontext()


NEXT = ("seed=1,2", "mlflow=true")
MACHINE = [
    Case("Folders and disks", "folder below a file", ("runs_dir=file/runs",), "cache file/runs/cache cannot be used.*set runs_dir", around=a_file),
    Case("Folders and disks", "folder below a file, of a sweep", ("-m", "runs_dir=file/runs", "seed=0,1"), "file/runs", around=a_file),
    Case("Folders and disks", "runs/ that cannot be written", ("runs_dir=readonly/runs",), "readonly/runs.*Read-only.*set runs_dir", around=read_only),
    Case("Folders and disks", "full disk, data not prepared yet", ("runs_dir=full-1/runs",), "full-1/runs/cache cannot be used.*make room there, or set runs_dir", around=full_disk("full-1", 100, finished=False)),
    Case("Folders and disks", "full disk, nothing left for a cell", ("seed=1", "runs_dir=full-2/runs"), "full-2/runs/grids/last.json cannot be written .No space left on device.; make room there, or set another runs_dir; what is finished stays", around=full_disk("full-2", 0)),
    Case("Folders and disks", "full disk, room for the beginning of a cell", ("seed=1", "runs_dir=full-3/runs"), "full-3/runs/cells/.* cannot be written .No space left on device.; make room", around=full_disk("full-3", 4), begun=True),
    Case("Folders and disks", "files may have 1,000 bytes", ("seed=1",), "runs/cells/.* cannot be written .File too large.; make room", limits=((resource.RLIMIT_FSIZE, 1000),), begun=True),
    Case("Folders and disks", "the same, of a sweep", ("-m", "seed=1,2"), "runs/cells/.* cannot be written .File too large.; make room there, or set another runs_dir", limits=((resource.RLIMIT_FSIZE, 1000),), begun=True),
    Case("Folders and disks", "full disk for a report", ("report", "reports_dir=full-4"), "full-4/all cannot be written .No space left on device.; make room there, or set another reports_dir", program="xcbench", around=full_disk("full-4", 0)),
    Case("Cells", "cell.json cut off", ("show", "{cell}", "runs_dir=cut-1"), "cut-1/cells/.* is damaged.*`xcbench verify` moves it away, and its launch runs it again", program="xcbench", around=changed_cell("cut-1", truncate("cell.json", 100))),
    Case("Cells", "curve.csv without its last digits", ("show", "{cell}", "runs_dir=cut-4"), "curve.csv is cut off or changed.*`xcbench verify`", program="xcbench", around=changed_cell("cut-4", truncate("curve.csv", -4))),
    Case("Cells", "weights.npz cut off", ("predict", "{cell}", "own.txt", "runs_dir=cut-6"), "cut-6/cells/.*weights.npz cannot be read.*save_weights=true force=true", {"own.txt": b"0:1\n"}, program="xcbench", around=changed_cell("cut-6", truncate("weights.npz", -99))),
    Case("Cells", "list of a launch cut off", ("results", "grid=last", "runs_dir=cut-7"), "cut-7/grids/last.json cannot be read.*launch the grid again", program="xcbench", around=changed_cell("cut-7", cut_grid)),
    Case("MLflow", "store of rubbish", ("-m", *NEXT, "runs_dir=rubbish-store"), "warning: .*mlflow.db cannot be used.*not a database.*cells are safe and `xcbench track` rebuilds", code=0, begun=True, around=rubbish_store),
    Case("MLflow", "store that is locked", ("-m", *NEXT, "runs_dir=locked-store"), "warning: .*mlflow.db cannot be used.*locked.*cells are safe and `xcbench track` rebuilds", code=0, begun=True, around=locked_store),
    Case("Looking at results", "unknown command", ("resluts",), "resluts.*results", program="xcbench"),
    Case("Looking at results", "unknown column", ("results", "nope=1"), "nope.*method", program="xcbench"),
    Case("Looking at results", "unknown launch", ("results", "grid=nope"), "nope.*last", program="xcbench"),
    Case("Looking at results", "unknown format", ("results", "--format", "xml"), "xml.*csv", program="xcbench"),
    Case("Looking at results", "unknown flag", ("results", "--curvse"), "--curvse", program="xcbench"),
    Case("Looking at results", "no filter", ("results", "umax"), "umax", program="xcbench"),
    Case("Looking at results", "report outside", ("report", "name=../../outside"), "name=../../outside is not possible.*letters", program="xcbench"),
]  # fmt: skip
