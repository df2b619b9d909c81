"""MLflow's page of the store: the server that shows it, and what is left when it ends."""

import json
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from process_tree import alive, descendants
from tracked_cells import a_cell, curve, stored
from workspace import Workspace
from xcbench.errors import UserError
from xcbench.store import cells
from xcbench.track import mlflow_ui, tracking


def test_a_taken_port_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} cannot be used"):
            mlflow_ui.serve(tmp_path, port)


def test_the_server_shows_the_rebuilt_curves_and_leaves_nothing_behind(
    runs_dir: Path, tmp_path: Path
) -> None:
    tracking.track(runs_dir, cells.load_all(runs_dir), rebuild=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("ui", f"port={port}", f"runs_dir={runs_dir}")
    with Workspace(elsewhere).launch("xcbench", words) as server:
        runs = post(port, "runs/search", {"experiment_ids": ["1"]}, patience=90)["runs"]
        assert f"http://127.0.0.1:{port}" in server.printed("out")
        assert {run["info"]["run_name"] for run in runs} == {
            entry["name"] for entry in stored(runs_dir).values()
        }
        (run,) = (run for run in runs if "seed=0" in run["info"]["run_name"])
        query = f"metrics/get-history?run_id={run['info']['run_id']}&metric_key=bound"
        served = post(port, query)["metrics"]
        assert [point["value"] for point in served] == list(curve(5)["bound"])
        tracking.track(runs_dir, [a_cell(0)], rebuild=True)  # under the eyes of the server
        assert len(post(port, "runs/search", {"experiment_ids": ["1"]})["runs"]) == 1
        family = descendants(server.pid)
        assert family or sys.platform != "linux"
        server.send_signal(signal.SIGINT)
        server.communicate(30)
        assert server.returncode == 0
        assert not [pid for pid in family if alive(pid)]
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
        assert not list(elsewhere.iterdir())


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
