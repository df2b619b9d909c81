"""Runs on a server or in a database of others: sent later where it was down, none twice."""

import itertools
import math
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tracked_cells import a_cell, curve, some_cells, stored
from workspace import Workspace
from xcbench.errors import UserError
from xcbench.run.recorder import Outbox, Recorder
from xcbench.store import cells, grids
from xcbench.track import mlflow_reports, tracking
from xcbench.track.mlflow_runs import FOLDER
from xcbench.track.mlflow_target import Target, client

NOBODY = "http://127.0.0.1:9"  # the port of `discard`, where nothing listens
POSTGRES = os.environ.get("XCBENCH_POSTGRES")  # URI of a database to try it on


def database(path: Path) -> str:
    return f"sqlite:///{path}/others.db"


def runs(uri: str, folder: str | None = None) -> dict[str, dict]:
    """Runs of an experiment, or of one folder in it, by cell; each cell once."""
    api = client(uri)
    experiment = api.get_experiment_by_name("xcbench").experiment_id
    chosen = f"tags.{FOLDER} = '{folder}'" if folder else ""
    result = api.search_runs([experiment], chosen, max_results=5000)
    content = {}
    for run in result:
        tags = {k: v for k, v in run.data.tags.items() if k not in (FOLDER, "mlflow.user")}
        histories = {
            name: [
                (m.step, m.timestamp, m.value)
                for m in api.get_metric_history(run.info.run_id, name)
            ]
            for name in run.data.metrics
        }
        inputs = [(it.dataset.name, it.dataset.digest) for it in run.inputs.dataset_inputs]
        said = (run.info.run_name, run.info.status, run.info.start_time, run.info.end_time)
        key = tags["cell"]
        assert key not in content
        content[key] = {"said": said, "tags": tags, "params": run.data.params, "inputs": inputs}
        content[key]["curves"] = {name: sorted(points) for name, points in histories.items()}
    return content


def test_the_setting_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Target.of(tmp_path).file == tmp_path / "mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://there:5000")
    assert Target.of(tmp_path).uri == "http://there:5000"
    assert Target.of(tmp_path, "sqlite:////x.db").uri == "sqlite:////x.db"
    assert Target.of(tmp_path, "postgresql://me:secret@db/x").name == "postgresql://db/x"
    for wrong in ("ftp://there", "mlruns"):
        with pytest.raises(UserError, match=f"tracking_uri={wrong[:3]}.* is no MLflow store"):
            Target.of(tmp_path, wrong)


@pytest.mark.slow
def test_two_folders_share_a_database_and_leave_each_other_alone(tmp_path: Path) -> None:
    uri = database(tmp_path)
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        for cell in some_cells():
            cells.save(folder, cell)
        assert tracking.track(folder, cells.load_all(folder), uri=uri) == 4
        assert tracking.track(folder, cells.load_all(folder), uri=uri) == 0
    cells.remove(first, f"{0:016x}")
    again = a_cell(1, started=7.0, curve=curve(2))
    assert tracking.behind(first, {again.cell: again.started}, uri) == [again.cell]
    cells.save(first, again)
    assert tracking.track(first, cells.load_all(first), rebuild=True, uri=uri) == 1
    mine, other = (runs(uri, Target.of(folder).folder) for folder in (first, second))
    assert mine.keys() == {again.cell, f"{2:016x}", f"{3:016x}"}
    assert len(mine[again.cell]["curves"]["bound"]) == 2
    tracking.track(second, cells.load_all(second))
    assert other == runs(f"sqlite:///{second}/mlflow.db")
    assert not (first / "mlflow.db").exists()


def test_a_run_names_the_grids_of_its_cell(runs_dir: Path) -> None:
    name = f"{0:016x}"
    grids.add(runs_dir, "demo", [name])
    grids.add(runs_dir, "last", [name])
    assert tracking.behind(runs_dir, {name: a_cell(0).started}) == [name]
    assert tracking.track(runs_dir, cells.load_all(runs_dir)) == 0
    assert stored(runs_dir)[name]["tags"]["grid"] == "demo"
    grids.add(runs_dir, "again", [name])
    tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True)
    assert stored(runs_dir)[name]["tags"]["grid"] == "again,demo"
    assert tracking.behind(runs_dir, {name: a_cell(0).started}) == []


@pytest.mark.slow
def test_reports_are_runs_with_files_of_which_the_last_counts(tmp_path: Path) -> None:
    page = tmp_path / "reports" / "demo" / "index.html"
    page.parent.mkdir(parents=True)
    (tmp_path / "reports" / "index.html").write_text("of all")
    for text in ("old", "new"):
        page.write_text(text)
        assert mlflow_reports.track(tmp_path / "runs", tmp_path / "reports") == 1
    api = client(Target.of(tmp_path / "runs").store)
    (run,) = api.search_runs([api.get_experiment_by_name("xcbench reports").experiment_id])
    assert run.info.run_name == "demo"
    file = Path(run.info.artifact_uri.removeprefix("file://")) / "index.html"
    assert file.read_text() == "new"
    assert tmp_path / "runs" in file.parents


def test_what_a_server_that_is_down_does_not_take_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("xcbench.run.recorder.TRIES", ())
    recorder = Recorder(tmp_path, True, NOBODY)
    cells.save(tmp_path, a_cell(0))
    recorder.add(a_cell(0))
    recorder.finish({})
    assert f"warning: {NOBODY} cannot be used (it does not answer)" in capsys.readouterr().err
    assert Outbox(tmp_path, NOBODY).names() == [a_cell(0).cell]
    assert Outbox(tmp_path, None).names() == []
    Recorder(tmp_path, True, None).finish({a_cell(0).cell: a_cell(0).started})
    assert list(stored(tmp_path)) == [a_cell(0).cell]
    Recorder(tmp_path, False, NOBODY).finish({a_cell(0).cell: 0.0})
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_process_of_its_own_records_while_the_launch_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path, True)
    for number, start in enumerate((math.inf, 0.0, 0.0)):
        monkeypatch.setattr("xcbench.run.recorder.START", start)
        cells.save(tmp_path, a_cell(number))
        recorder.add(a_cell(number))
        assert (recorder.process is None) == (number == 0)  # a short launch starts none
    assert recorder.outbox is not None
    end = time.monotonic() + 120
    while recorder.outbox.names() and time.monotonic() < end:
        time.sleep(0.2)
    assert len(stored(tmp_path)) == 3  # before the launch asks for it
    cells.save(tmp_path, a_cell(3))
    recorder.add(a_cell(3))
    recorder.process.kill()
    recorder.finish({})
    assert len(stored(tmp_path)) == 4


class Server:
    """MLflow's own server on a database."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.folder, self.backend = folder, backend
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        words = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        words += ["--backend-store-uri", self.backend]
        words += ["--artifacts-destination", str(self.folder / "artifacts")]
        quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *words],
            cwd=self.folder,
            env={**os.environ, **quiet},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with suppress(OSError), urllib.request.urlopen(f"{self.uri}/health", timeout=5):
                return
            time.sleep(0.2)
        raise TimeoutError("the server has not started")

    def kill(self) -> None:
        """End it and the processes it started, in the middle of whatever they do."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if request.param == "postgresql" and not POSTGRES:
        pytest.skip("XCBENCH_POSTGRES does not name a database")
    folder = tmp_path / "server"
    folder.mkdir()
    backend = POSTGRES if request.param == "postgresql" else database(folder)
    assert backend
    started = Server(folder, backend)
    yield started
    started.kill()


@pytest.mark.slow
def test_a_server_killed_in_the_middle_has_every_run_once(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    folder = tmp_path / "runs"
    outbox = Outbox(folder, server.uri)
    for number in range(40):
        cells.save(folder, a_cell(number))
        outbox.add(a_cell(number).cell)
    calls, log_inputs = itertools.count(1), MlflowClient.log_inputs

    def killing(*arguments: object) -> None:
        if next(calls) in (15, 27):
            server.kill()
        log_inputs(*arguments)

    monkeypatch.setattr(MlflowClient, "log_inputs", killing)
    for _ in range(2):
        with pytest.raises(UserError, match="it does not answer"):
            outbox.deliver()
        assert len(outbox.names()) == 40
        server.start()
    assert outbox.deliver_with_patience() == ""
    assert outbox.names() == []
    tracking.track(folder, cells.load_all(folder))
    sent = runs(server.uri, Target.of(folder).folder)
    assert len(sent) == 40
    assert sent == runs(f"sqlite:///{folder}/mlflow.db")
    assert tracking.behind(folder, {a_cell(0).cell: a_cell(0).started}, server.uri) == []


@pytest.mark.slow
def test_a_launch_loses_nothing_to_a_server_that_is_down(
    server: Server, workspace: Workspace
) -> None:
    uri = f"tracking_uri={server.uri}"
    words = ("-m", "dataset=digits", "method=umax", "budget.epochs=1", "seed=0,1")
    server.kill()
    down = workspace.run(*words, uri, "mlflow=true").succeeded()
    assert "does not answer" in down.err
    assert "2 done" in down.out
    server.start()
    up = workspace.run(*words[:-1], "seed=2", uri, "mlflow=true").succeeded()
    assert not up.err
    api = client(server.uri)
    experiment = api.get_experiment_by_name("xcbench").experiment_id
    ours = f"tags.{FOLDER} = '{Target.of(workspace.path / 'runs').folder}'"
    assert {run.data.tags["seed"] for run in api.search_runs([experiment], ours)} == {"0", "1", "2"}
