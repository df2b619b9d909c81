"""A finished cell as one flat MLflow run: curves side by side in the browser.

The store ``<runs_dir>/mlflow.db`` is a projection of the cells and can be rebuilt from them at any
time. Time stamps are start + training clock, so that a run lasts as long as it trained and the
relative time axis of the UI shows training seconds since the first value of a curve.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
import shutil
import socket
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import Timeout

from xcbench import locks
from xcbench.errors import UserError, one_line, reason
from xcbench.run import cells, mlflow_tables
from xcbench.run.cell import Cell
from xcbench.run.processes import end_kept, interruptible, start_kept
from xcbench.run.results import flatten

EXPERIMENT = "xcbench"  # the first one of a new store, hence the number in the next line
CHARTS = "#/experiments/1/runs?compareRunsMode=CHART&workflowType=machine_learning"
ENDINGS = {"done": "FINISHED", "timeout": "FINISHED", "diverged": "FAILED", "failed": "FAILED"}
PAUSE = 5.0  # seconds from one batch of a launch to the next
BATCH = 500  # runs that are written together
LONGEST = 6000  # characters MLflow keeps of a value
LOCK_SECONDS = 60.0  # wait for another process that tracks
BUSY_SECONDS = 5.0  # wait for any other program that holds the store

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SQLALCHEMYSTORE_POOLCLASS": "NullPool",  # no connection outlives a replaced store
}
SERVER_ENVIRONMENT = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # more processes, for features not used here
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "UVICORN_LOG_LEVEL": "warning",
    "PYTHONWARNINGS": "ignore",
}


def track(runs_dir: Path, cells: Iterable[Cell], rebuild: bool = False) -> int:
    """Log the cells that are not in the store yet and return how many these are.

    A cell that was run again replaces its run. A run is ``FINISHED`` where the cell is done or met
    its time limit and ``FAILED`` where it diverged or failed; its tag ``status`` has the exact
    word. Skipped cells are not logged: nothing ran. Values that are not finite are left out.

    Parameters
    ----------
    runs_dir : where the store goes.
    cells : the cells.
    rebuild : write a new store of these cells alone. It takes the place of the old one, whatever
        state that one is in, when it is complete.

    Raises
    ------
    UserError
        If the store is in use elsewhere, damaged, or of another version of MLflow.
    """
    home = runs_dir.absolute()
    store = home / "mlflow.db"
    ended = (cell for cell in cells if cell.status in ENDINGS)
    with _alone(store), _one_sentence(store):
        if store.exists() and not rebuild:
            with closing(sqlite3.connect(store, BUSY_SECONDS, isolation_level=None)) as probe:
                probe.execute("BEGIN IMMEDIATE")  # fails sooner than MLflow, which retries
            return _log_missing(store, ended, home)
        for leftover in home.glob(".mlflow-*"):  # of a process that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        with TemporaryDirectory(prefix=".mlflow-", dir=home) as scratch:
            fresh = Path(scratch) / store.name
            logged = _log_missing(fresh, ended, home)
            for suffix in ("-journal", "-wal", "-shm"):  # SQLite would apply them to the new store
                Path(f"{store}{suffix}").unlink(missing_ok=True)
            fresh.replace(store)
        return logged


def behind(runs_dir: Path, started: Mapping[str, float]) -> list[str]:
    """Cells, of those that started at these times, that `track` would log.

    Raises
    ------
    UserError
        As `track` does.
    """
    home = runs_dir.absolute()
    store = home / "mlflow.db"
    if not store.exists():
        return list(started)
    with _alone(store), _one_sentence(store):
        by_cell = {entry.cell: entry for entry in mlflow_tables.entries(store, EXPERIMENT)}
        return [name for name, at in started.items() if not _is_logged(by_cell.get(name), at)]


class Recorder:
    """Records finished cells in batches: between two cells, never while one trains.

    A store that fails is left alone after one warning: it may cost seconds every time.

    Parameters
    ----------
    enabled : whether anything is recorded.
    """

    def __init__(self, runs_dir: Path, enabled: bool) -> None:
        self.runs_dir, self.usable = runs_dir, enabled
        self.pending: list[Cell] = []
        self.last = time.monotonic()

    def add(self, cell: Cell) -> None:
        """Take a cell, and record those so far if the last time is a while ago."""
        if self.usable:
            self.pending.append(cell)
            if time.monotonic() - self.last > PAUSE or len(self.pending) >= BATCH:
                self.record(self.pending)
                self.pending, self.last = [], time.monotonic()

    def finish(self, started: Mapping[str, float]) -> None:
        """Record what is left, and of cells that started at these times those the store lacks."""
        self.record(self.pending)
        self.pending = []
        with self._one_warning():
            if self.usable and started:
                names = behind(self.runs_dir, started)
                if names:
                    late = (cells.usable(self.runs_dir, name) for name in names)
                    track(self.runs_dir, filter(None, late))

    def record(self, cells: Sequence[Cell]) -> None:
        """Record cells; if that fails, they are no less finished."""
        with self._one_warning():
            if self.usable and cells:
                track(self.runs_dir, cells)

    @contextmanager
    def _one_warning(self) -> Iterator[None]:
        try:
            yield
        except (UserError, OSError) as error:
            self.usable = False
            print(f"warning: {one_line(error)}", file=sys.stderr)


def serve(runs_dir: Path, port: int = 5000) -> int:
    """Run the MLflow UI on this computer until Ctrl-C.

    Parameters
    ----------
    runs_dir : where the store is; an empty one is created where there is none.
    port : where the UI listens.

    Returns
    -------
    int
        0 if a signal ended it, else the exit code of the server.

    Raises
    ------
    UserError
        If the port is taken or the store cannot be used.
    """
    try:
        with socket.create_server(("127.0.0.1", port)):
            pass
    except (OSError, OverflowError) as error:
        raise UserError(
            f"port {port} cannot be used ({reason(error)}); choose another one, for example 5001"
        ) from None
    track(runs_dir, [])
    home = runs_dir.absolute()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--backend-store-uri", _uri(home / "mlflow.db"), "--workers", "1"]
    command += ["--no-serve-artifacts", "--default-artifact-root", _artifacts(home)]
    environment = {**SERVER_ENVIRONMENT, **os.environ}
    print(f"in some ten seconds (Ctrl-C stops it): http://127.0.0.1:{port}/{CHARTS}", flush=True)
    with interruptible():
        server = start_kept(command, environment)
        try:
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            end_kept(server)


def _log_missing(store: Path, cells: Iterable[Cell], home: Path) -> int:
    """Log the cells without a run; runs that were cut off or are out of date make way."""
    uri = _uri(store)
    experiment = _experiment(_client(uri), home)
    by_cell = {entry.cell: entry for entry in mlflow_tables.entries(store, EXPERIMENT)}
    logged = 0
    for batch in _batches(cells):
        new = [cell for cell in batch if not _is_logged(by_cell.get(cell.cell), cell.started)]
        for cell in new:
            if cell.cell in by_cell:
                _client(uri).delete_run(by_cell[cell.cell].run)
        _log(uri, experiment, home, new)
        logged += len(new)
    return logged


def _batches(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    rest = iter(cells)
    return iter(lambda: list(itertools.islice(rest, BATCH)), [])


def _is_logged(entry: mlflow_tables.Entry | None, started: float) -> bool:
    """Whether a run is whole, and of this run of its cell."""
    return entry is not None and entry.status != "RUNNING" and entry.started == repr(started)


def _log(uri: str, experiment: str, home: Path, cells: Sequence[Cell]) -> None:
    mlflow_tables.insert(uri, experiment, _artifacts(home), [_run(cell) for cell in cells])


def _run(cell: Cell) -> mlflow_tables.Run:
    rate = [] if cell.lr is None else [f"lr={cell.lr:g}"]
    settings = flatten({**cell.config, "shape": cell.shape})
    points = list(_points(cell))
    begin = round(1000 * cell.started)
    return mlflow_tables.Run(
        name=" ".join([cell.method, *rate, f"seed={cell.seed}", cell.dataset]),
        status=ENDINGS[cell.status],
        start=begin,
        end=max((stamp for _, _, stamp, _ in points), default=begin),
        tags=_tags(cell),
        params={key: _cut(value) for key, value in settings.items()},
        points=points,
    )


def _tags(cell: Cell) -> dict[str, str]:
    names = ("cell", "status", "dataset", "dataset_digest", "method", "method_version", "seed")
    tags = {name: getattr(cell, name) for name in (*names, "engine", "message")}
    tags |= {"git_commit": cell.environment.get("git_commit"), "started": repr(cell.started)}
    return {name: _cut(value) for name, value in tags.items() if value is not None}


def _points(cell: Cell) -> Iterator[mlflow_tables.Point]:
    """Take a curve apart: every finite number, at the time of the training clock.

    Iterations of L-BFGS have no clock; they stand at the time of the row before them.
    """
    curve = dict(zip(cell.curve, cell.curve.to_numpy(object).T.tolist(), strict=True))
    steps = list(map(int, curve.pop("iteration")))
    clock = cell.curve["train_seconds"].ffill().fillna(0.0)  # a metric too, to choose as an axis
    stamps = [round(1000 * (cell.started + seconds)) for seconds in clock]
    for name, column in curve.items():
        for step, stamp, value in zip(steps, stamps, column, strict=True):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and math.isfinite(value):
                yield str(name), float(value), stamp, step


def _client(uri: str) -> Any:
    """Import MLflow without telemetry and chatter."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised
    return MlflowClient(tracking_uri=uri)


def _experiment(client: Any, home: Path) -> str:
    """Identity of the one experiment; the empty one that MLflow creates is put away."""
    experiment = client.get_experiment_by_name(EXPERIMENT)
    if experiment is not None:
        return str(experiment.experiment_id)
    client.delete_experiment("0")
    return str(client.create_experiment(EXPERIMENT, _artifacts(home)))


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Let one process write at a time; several that create a store at once would break it."""
    store.parent.mkdir(parents=True, exist_ok=True)
    try:
        with locks.alone(store.with_suffix(".lock"), f"writes {store.name}", LOCK_SECONDS):
            yield
    except Timeout:
        raise UserError(
            f"another process has been writing {store} for {LOCK_SECONDS:.0f} s; the cells are "
            "safe, run `xcbench track` when it has finished"
        ) from None


@contextmanager
def _one_sentence(store: Path) -> Iterator[None]:
    """Errors of MLflow and of the store become one sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # a damaged store meets each layer of MLflow in its own way
        first = (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0]
        raise UserError(
            f"{store} cannot be used ({first}); the cells are safe and `xcbench track` rebuilds "
            "the store from them"
        ) from None


def _uri(store: Path) -> str:
    if set("%?") & set(str(store)):  # read as an escape and as options
        raise UserError(f"{store} cannot be an MLflow store: rename its folder without % and ?")
    return f"sqlite:///{store}"


def _artifacts(home: Path) -> str:
    """Where MLflow would put files: never the current folder."""
    return (home / "artifacts").as_uri()


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
