"""MLflow's store when it is damaged, locked, interrupted, or wanted by two processes at once."""

import errno
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tracked_cells import CODE, some_cells, stored
from xcbench.errors import UserError
from xcbench.store import cells
from xcbench.track import mlflow_target, tracking
from xcbench.track.mlflow_api import Api

TRACK = CODE + "runs = Path(sys.argv[1]); print(tracking.track(runs, cells.load_all(runs)))"


def test_an_interrupted_rebuild_loses_nothing(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = (runs_dir / "mlflow.db").read_bytes()
    monkeypatch.setattr(Api, "insert", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True)
    assert (runs_dir / "mlflow.db").read_bytes() == before
    names = {path.name for path in runs_dir.iterdir()}
    assert names == {"cells", "mlflow.db", "mlflow.lock", "recorded"}


@pytest.mark.parametrize("damage", ["rubbish", "truncated"])
def test_a_damaged_store_is_reported_in_a_sentence(
    runs_dir: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    store = runs_dir / "mlflow.db"
    whole = store.read_bytes()
    store.write_bytes(b"?" * 9999 if damage == "rubbish" else whole[:50_000])
    with pytest.raises(UserError, match="cells are safe and `xcbench track` rebuilds") as caught:
        tracking.track(runs_dir, cells.load_all(runs_dir))
    assert str(store) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_locked_store_is_reported_soon(
    runs_dir: Path, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "BUSY_SECONDS", 0.5)
    holder = sqlite3.connect(runs_dir / "mlflow.db", isolation_level=None)
    holder.execute(f"BEGIN {lock}")
    begin = time.monotonic()
    with pytest.raises(UserError, match="locked"):
        tracking.track(runs_dir, cells.load_all(runs_dir))
    assert time.monotonic() - begin < 5
    holder.close()
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0


def test_a_process_that_does_not_let_go_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(mlflow_target, "LOCK_SECONDS", 0.2)
    with FileLock(tmp_path / "mlflow.lock"), pytest.raises(UserError, match="another process"):
        tracking.track(tmp_path, [])


def test_a_folder_that_mlflow_cannot_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="without % and"):
        tracking.track(tmp_path / "100%", [])


@pytest.mark.slow
def test_two_processes_at_once_on_a_cold_store(tmp_path: Path) -> None:
    for cell in some_cells():
        cells.save(tmp_path, cell)
    command = [sys.executable, "-c", TRACK, str(tmp_path)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in both]
    assert sorted(out for out, _ in said) == ["0\n", "4\n"]
    assert all("waiting for another process" in err for _, err in said if err)
    assert len(stored(tmp_path)) == 4


def half_made(store: Path, kibibytes: int) -> None:
    """A database as MLflow leaves it where there is no more room than this."""
    limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({kibibytes << 10}, {kibibytes << 10}))"
    program = (
        "import resource, signal, sys; from xcbench.track.mlflow_target import client; "
        f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {limit}; "
        "client(f'sqlite:///{sys.argv[1]}').get_experiment_by_name('x')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(store)], capture_output=True)
    assert done.returncode and store.stat().st_size <= kibibytes << 10


@pytest.mark.parametrize("kibibytes", [8, 100, 184, 400, 800])
@pytest.mark.parametrize("own", [True, False])
def test_a_store_that_was_half_made_is_made_anew(tmp_path: Path, kibibytes: int, own: bool) -> None:
    store = tmp_path / ("mlflow.db" if own else "elsewhere.db")
    half_made(store, kibibytes)
    for cell in some_cells():
        cells.save(tmp_path, cell)
    uri = None if own else f"sqlite:///{store}"
    assert tracking.track(tmp_path, cells.load_all(tmp_path), uri=uri) == 4
    assert tracking.track(tmp_path, cells.load_all(tmp_path), uri=uri) == 0
    assert [path.name for path in tmp_path.iterdir() if "xcbench" in path.name] == []


def test_an_empty_file_is_a_store_that_lacks_every_cell(tmp_path: Path) -> None:
    """SQLite leaves one where there is no room at all; launches sent nothing to it."""
    for cell in some_cells():
        cells.save(tmp_path, cell)
    (tmp_path / "mlflow.db").touch()
    assert tracking.behind(tmp_path, {"a": 1.0}) == ["a"]
    assert tracking.track(tmp_path, cells.load_all(tmp_path)) == 4


def test_a_store_elsewhere_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = tmp_path / "elsewhere.db"
    with monkeypatch.context() as patched:
        patched.setattr(mlflow.MlflowClient, "get_experiment_by_name", full)
        with pytest.raises(UserError, match="No space left"):
            tracking.track(tmp_path, [], uri=f"sqlite:///{store}")
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.lock"]
    assert tracking.track(tmp_path, [], uri=f"sqlite:///{store}") == 0


@pytest.mark.parametrize(
    "foreign",
    [
        "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('a'); "
        "CREATE TABLE letters (text); INSERT INTO letters VALUES ('dear')",
        "CREATE TABLE experiments (name); INSERT INTO experiments VALUES ('mine'), ('too')",
        "CREATE TABLE letters (text)",
    ],
)
def test_a_database_that_holds_anything_is_left_alone(tmp_path: Path, foreign: str) -> None:
    store = tmp_path / "theirs.db"
    with closing(sqlite3.connect(store)) as made:
        made.executescript(f"{foreign}; CREATE TABLE registered_models (mine)")
        before = list(made.iterdump())
    for _ in range(2):
        with pytest.raises(UserError, match=r"theirs\.db cannot be used"):
            tracking.track(tmp_path, [], uri=f"sqlite:///{store}")
    with closing(sqlite3.connect(store)) as now:
        assert set(before) <= set(now.iterdump())
