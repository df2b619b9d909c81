import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcbench.errors import UserError
from xcbench.run import cells, tracking
from xcbench.run.cell import CURVE_COLUMNS, Cell

STARTED = 1_750_000_000.25
CODE = "import sys; from pathlib import Path; from xcbench.run import cells, tracking; "
TRACK = CODE + "runs = Path(sys.argv[1]); print(tracking.track(runs, cells.load_all(runs)))"
SERVE = CODE + "sys.exit(tracking.serve(Path(sys.argv[1]), int(sys.argv[2])))"


def curve(rows: int, **changes: list[float]) -> pd.DataFrame:
    steps = np.arange(rows)
    values = {name: np.exp(-0.1 * steps) + i for i, name in enumerate(CURVE_COLUMNS)}
    clock = {"iteration": 10 * steps, "train_seconds": 0.125 * steps}
    return pd.DataFrame({**values, **clock, "own": 2.0**steps, **changes})


def a_cell(number: int, **changes: object) -> Cell:
    content = {
        "cell": f"{number:016x}",
        "dataset": "toy",
        "method": "ove",
        "seed": number,
        "engine": "numpy",
        "method_version": 1,
        "dataset_digest": "d1",
        "config": {
            "method": {"name": "ove", "lr": 0.1, "negatives": [1, 2]},
            "text": "x" * 7000,
            "seed": number,
        },
        "status": "done",
        "shape": {"train": 30, "test": 10, "features": 5, "classes": 3},
        "started": STARTED + number,
        "environment": {"git_commit": "c0ffee"},
        "curve": curve(5),
    }
    return Cell(**(content | changes))


def some_cells() -> list[Cell]:
    broken = curve(4, bound=[np.nan, 1.0, np.inf, -np.inf], test_error=[np.nan] * 4)
    many = {f"option{i}": i for i in range(150)}
    return [
        a_cell(0),
        a_cell(1, status="diverged", message="not finite", curve=broken),
        a_cell(2, status="timeout", curve=curve(200), config=many),
        a_cell(
            3,
            status="failed",
            message="m" * 9000,
            curve=curve(0),
            config={"method": {"name": "ove"}},
        ),
        a_cell(4, status="skipped", message="no data", started=0.0, curve=curve(0)),
    ]


def client(runs_dir: Path):
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=f"sqlite:///{runs_dir}/mlflow.db")


def stored(runs_dir: Path) -> dict[str, dict]:
    """All that the store says, by cell, without the identities that MLflow makes up."""
    api = client(runs_dir)
    (experiment,) = api.search_experiments()
    assert experiment.name == "xcbench"
    content = {}
    for run in api.search_runs([experiment.experiment_id]):
        histories = {
            name: sorted(
                (m.step, m.timestamp, m.value)
                for m in api.get_metric_history(run.info.run_id, name)
            )
            for name in run.data.metrics
        }
        tags = dict(run.data.tags)
        content[tags["cell"]] = {
            "name": tags.pop("mlflow.runName"),
            "tags": tags,
            "params": run.data.params,
            "times": (run.info.status, run.info.start_time, run.info.end_time),
            "curves": histories,
        }
    return content


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with a blank and a space in its name, tracked from another folder."""
    runs_dir = tmp_path_factory.mktemp("tracked") / "my runs"
    for cell in some_cells():
        cells.save(runs_dir, cell)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    before = os.getcwd()
    os.chdir(elsewhere)
    try:
        assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 4
    finally:
        os.chdir(before)
    assert not list(elsewhere.iterdir())
    assert {path.name for path in runs_dir.iterdir()} == {"cells", "mlflow.db", "mlflow.lock"}
    assert [path.name for path in runs_dir.parent.iterdir()] == ["my runs"]
    return runs_dir


@pytest.fixture
def runs_dir(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the tracked folder to play with."""
    return Path(shutil.copytree(pristine, tmp_path / "runs"))


def test_curves_arrive_whole_without_values_that_are_not_finite(pristine: Path) -> None:
    content = stored(pristine)
    expected = {cell.cell: cell for cell in some_cells() if cell.status != "skipped"}
    assert content.keys() == expected.keys()
    for name, cell in expected.items():
        wanted: dict[str, list[tuple[int, int, float]]] = {}
        for row in cell.curve.to_dict("records"):
            step, seconds = row.pop("iteration"), row["train_seconds"]
            for metric, value in row.items():
                if np.isfinite(value):
                    stamp = round((cell.started + seconds) * 1000)
                    wanted.setdefault(metric, []).append((int(step), stamp, value))
        assert content[name]["curves"] == wanted
    assert content[f"{1:016x}"]["curves"]["bound"] == [(10, 1_750_000_001_375, 1.0)]


def test_tags_params_names_and_times(pristine: Path) -> None:
    content = stored(pristine)
    first = content[f"{0:016x}"]
    assert first["name"] == "ove lr=0.1 seed=0 toy"
    assert first["tags"] == {
        "cell": f"{0:016x}",
        "status": "done",
        "dataset": "toy",
        "dataset_digest": "d1",
        "method": "ove",
        "method_version": "1",
        "seed": "0",
        "engine": "numpy",
        "git_commit": "c0ffee",
        "started": repr(STARTED),
    }
    assert first["params"] == {
        "method.name": "ove",
        "method.lr": "0.1",
        "method.negatives": "[1, 2]",
        "text": "x" * 5999 + "…",
        "seed": "0",
        "shape.train": "30",
        "shape.test": "10",
        "shape.features": "5",
        "shape.classes": "3",
    }
    begin = 1_750_000_000_250
    assert first["times"] == ("FINISHED", begin, begin + 500)
    assert content[f"{1:016x}"]["times"][0] == "FAILED"
    assert content[f"{1:016x}"]["tags"]["message"] == "not finite"
    assert content[f"{2:016x}"]["times"][0] == "FINISHED"
    assert len(content[f"{2:016x}"]["params"]) == 154
    assert content[f"{3:016x}"]["times"] == ("FAILED", begin + 3000, begin + 3000)
    assert content[f"{3:016x}"]["name"] == "ove seed=3 toy"


def rows(store: Path) -> dict[str, list[tuple]]:
    """Every table that holds runs, with the same identities for the same cells."""
    with closing(sqlite3.connect(store)) as connection:
        names = dict(connection.execute("SELECT run_uuid, value FROM tags WHERE key = 'cell'"))
        tables = {}
        for table in ("runs", "tags", "params", "metrics", "latest_metrics"):
            tables[table] = sorted(
                str(row).replace(run, cell)
                for run, cell in names.items()
                for row in connection.execute(f"SELECT * FROM {table} WHERE run_uuid = ?", [run])
            )
    return tables


def test_the_tables_are_those_of_mlflows_own_calls(pristine: Path, tmp_path: Path) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    own = tmp_path / "mlflow.db"
    api = MlflowClient(tracking_uri=f"sqlite:///{own}")
    api.delete_experiment("0")
    experiment = api.create_experiment("xcbench", (pristine / "artifacts").as_uri())
    for cell in cells.load_all(pristine):
        if cell.status == "skipped":
            continue
        said = stored(pristine)[cell.cell]
        status, begin, end = said["times"]
        run = api.create_run(experiment, begin, said["tags"], said["name"]).info.run_id
        params = [Param(*item) for item in said["params"].items()]
        for first in range(0, len(params), 100):
            api.log_batch(run, params=params[first : first + 100])
        for name, points in said["curves"].items():
            api.log_batch(run, [Metric(name, value, at, step) for step, at, value in points])
        api.set_terminated(run, status, end)
    assert rows(pristine / "mlflow.db") == rows(own)


def test_identities_of_runs_grow(runs_dir: Path) -> None:
    tracking.track(runs_dir, [a_cell(0, started=STARTED + 60)])
    with closing(sqlite3.connect(runs_dir / "mlflow.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT run_uuid FROM runs ORDER BY rowid")]
    assert len(names) == 5
    assert names == sorted(names)
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)


def test_a_launch_asks_what_the_store_lacks(runs_dir: Path) -> None:
    started = {cell.cell: cell.started for cell in some_cells()}
    skipped = f"{4:016x}"
    assert tracking.behind(runs_dir, started) == [skipped]
    started[f"{0:016x}"] += 1
    assert tracking.behind(runs_dir, started) == [f"{0:016x}", skipped]
    with sqlite3.connect(runs_dir / "mlflow.db") as store:
        store.execute("UPDATE runs SET status = 'RUNNING' WHERE name LIKE '%seed=1%'")
    assert tracking.behind(runs_dir, started) == [f"{0:016x}", f"{1:016x}", skipped]
    assert tracking.behind(runs_dir / "none", started) == list(started)


def test_more_runs_than_a_page_are_each_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "BATCH", 7)
    many = [a_cell(number, curve=curve(1)) for number in range(1200)]  # MLflow's page is 1000
    assert tracking.track(tmp_path, many) == 1200
    assert tracking.track(tmp_path, many) == 0


def test_a_second_time_logs_nothing_and_a_new_run_replaces_the_old(runs_dir: Path) -> None:
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0
    assert tracking.track(runs_dir, [a_cell(0)]) == 0
    again = a_cell(0, started=STARTED + 60, curve=curve(3))
    assert tracking.track(runs_dir, [again]) == 1
    content = stored(runs_dir)
    assert len(content) == 4
    assert content[again.cell]["tags"]["started"] == repr(again.started)
    assert len(content[again.cell]["curves"]["bound"]) == 3


def test_a_run_that_was_cut_off_is_logged_again(runs_dir: Path) -> None:
    with sqlite3.connect(runs_dir / "mlflow.db") as store:
        store.execute("UPDATE runs SET status = 'RUNNING' WHERE name LIKE '%seed=0%'")
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 1
    assert len(stored(runs_dir)) == 4


def test_rebuild_gives_the_same_store_and_holds_these_cells_alone(runs_dir: Path) -> None:
    before = stored(runs_dir)
    tracking.track(runs_dir, [a_cell(9)])
    (runs_dir / ".mlflow-killed").mkdir()
    (runs_dir / "mlflow.db-journal").write_bytes(b"of the old store")
    assert tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True) == 4
    assert stored(runs_dir) == before
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0
    assert {path.name for path in runs_dir.iterdir()} == {"cells", "mlflow.db", "mlflow.lock"}


def test_an_interrupted_rebuild_loses_nothing(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = (runs_dir / "mlflow.db").read_bytes()
    monkeypatch.setattr(tracking, "_log", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True)
    assert (runs_dir / "mlflow.db").read_bytes() == before
    assert {path.name for path in runs_dir.iterdir()} == {"cells", "mlflow.db", "mlflow.lock"}


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

    monkeypatch.setattr(tracking, "LOCK_SECONDS", 0.2)
    with FileLock(tmp_path / "mlflow.lock"), pytest.raises(UserError, match="another process"):
        tracking.track(tmp_path, [])


def test_a_folder_that_mlflow_cannot_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="without % and"):
        tracking.track(tmp_path / "100%", [])


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


def test_a_taken_port_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} cannot be used"):
            tracking.serve(tmp_path, port)


def test_the_server_shows_the_rebuilt_curves_and_leaves_nothing_behind(
    runs_dir: Path, tmp_path: Path
) -> None:
    tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-c", SERVE, str(runs_dir), str(port)]
    server = subprocess.Popen(
        command,
        cwd=elsewhere,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert server.stdout is not None
        assert f"http://127.0.0.1:{port}" in server.stdout.readline().decode()
        found = post(port, "runs/search", {"experiment_ids": ["1"]}, patience=90)["runs"]
        assert {run["info"]["run_name"] for run in found} == {
            entry["name"] for entry in stored(runs_dir).values()
        }
        (run,) = (run for run in found if "seed=0" in run["info"]["run_name"])
        query = f"metrics/get-history?run_id={run['info']['run_id']}&metric_key=bound"
        served = post(port, query)["metrics"]
        assert [point["value"] for point in served] == list(curve(5)["bound"])
        tracking.track(runs_dir, [a_cell(0)], rebuild=True)  # under the eyes of the server
        assert len(post(port, "runs/search", {"experiment_ids": ["1"]})["runs"]) == 1
        family = descendants(server.pid)
        assert family or sys.platform != "linux"
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
        assert not [pid for pid in family if alive(pid)]
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
        assert not list(elsewhere.iterdir())
    finally:
        server.kill()
        server.wait()


def post(port: int, path: str, body: dict | None = None, patience: float = 0) -> dict:
    data = None if body is None else json.dumps(body).encode()
    address = f"http://127.0.0.1:{port}/api/2.0/mlflow/{path}"
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def descendants(pid: int) -> list[int]:
    """Process identities below one process, read from /proc."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += [int(child) for child in task.read_text().split()]
    return children + [below for child in children for below in descendants(child)]


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not collected yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
