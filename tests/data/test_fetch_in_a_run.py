"""Runs and several processes fetch once, or go on without."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from file_server import Handler, Server, closed_port
from served_toy import (
    BOTH,
    SMALL_TWIN,
    archive,
    assert_in_place,
    kept,
    launch,
    nothing_in_place,
    refusal,
    toy,
    zipped,
)
from toy_files import TEST, TRAIN
from workspace import Outcome, Workspace
from xcbench import options
from xcbench.cli import main
from xcbench.config import composing
from xcbench.config.settings import Config
from xcbench.data import fetch, prepare
from xcbench.data.settings import Download
from xcbench.plan import planning

pytestmark = pytest.mark.usefixtures("forgetful")


def test_a_run_fetches_small_files_only(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = archive(server, length=200 * 2**20)
    fetch.attempt(toy(item), tmp_path)
    out = capsys.readouterr().out
    assert "it has 200.0 MiB, a run fetches at most 100.0 MiB" in out
    assert "`xcbench data fetch toy` fetches it" in out
    assert not list(tmp_path.iterdir())
    size = len(server.paths["/toy.zip"].body)
    server.paths["/toy.zip"].length = None
    assert "at most" in refusal(toy(item), tmp_path, size - 1)
    fetch.fetch(toy(item), tmp_path, size)
    assert_in_place(tmp_path)
    shutil.rmtree(tmp_path / "toy")
    fetch.fetch(toy(item), tmp_path)
    assert_in_place(tmp_path)


@pytest.mark.parametrize(
    "missing, fetching, name",
    [("twin", True, "toy"), ("error", True, "toy"), ("skip", True, ""), ("twin", False, "")],
)
def test_when_a_run_fetches(
    server: Server, tmp_path: Path, missing: str, fetching: bool, name: str
) -> None:
    settings = toy(archive(server), missing=missing, synthetic=SMALL_TWIN)
    info = prepare(settings, tmp_path, tmp_path / "cache", fetching)
    assert bool(server.asked) == bool(name)
    assert (info.name == "toy" and hasattr(info, "twin") and not info.twin) == bool(name)


RUN = (
    "dataset=eurlex",
    "method=ove",
    "method.negatives=1",
    "mlflow=false",
    "budget.epochs=1",
    "budget.checkpoints=1",
)


def test_a_run_on_fetched_files(server: Server, workspace: Workspace) -> None:
    words = (*RUN, *launch(archive(server)))
    workspace.run(*words, "plan=true", "fetch=true", "dataset.synthetic.train=900").succeeded()
    assert not server.asked  # neither by a plan,
    off = workspace.run(*words, "dataset.missing=error")
    assert off.code == 2, off.text
    assert "`xcbench data fetch toy`" in off.err
    assert not server.asked  # nor where XCBENCH_FETCH=0
    done = workspace.run(*words, "fetch=true", "dataset.missing=error").succeeded()
    assert re.search(r"^fetching toy, \d+ bytes$", done.out, re.MULTILINE)
    assert "1 cell: 1 done" in done.out
    assert_in_place(workspace.path / "data")
    assert list(workspace.frame()["dataset"]) == ["toy"]
    # Where the files came from is no part of what a cell is.
    again = workspace.run(*words[:-1], "fetch=true")
    assert "nothing was run" in again.out, again.text
    (cell,) = workspace.cells()
    shown = workspace.xcbench("show", cell)
    assert "source" not in shown.out, shown.text


def test_a_run_goes_on_without(workspace: Workspace) -> None:
    words = (*RUN, *launch(Download([f"{closed_port()}/toy.zip"], dict(BOTH))), "fetch=true")
    small = ("dataset.synthetic.train=900", "-m", "dataset.protocol.rows=0,50")
    done = workspace.run(*words, *small).succeeded()
    assert done.out.count("toy was not fetched: 127.0.0.1") == 1
    assert "Connection refused" in done.out
    assert "RUNNING ON ITS SYNTHETIC TWIN" in done.out
    assert done.out.index("Connection refused") < done.out.index("SYNTHETIC TWIN")
    refused = workspace.run(*words, "dataset.missing=error")
    assert refused.code == 2
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize("value, expected", [("0", False), ("false", False), ("1", True)])
def test_the_environment_switches_fetching_off(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("XCBENCH_FETCH", value)
    assert composed().fetch is expected
    monkeypatch.delenv("XCBENCH_FETCH")
    assert composed().fetch is True
    assert composed("fetch=false").fetch is False


def composed(*overrides: str) -> Config:
    composing.register()
    with initialize_config_dir(str(options.folder()), version_base=None):
        return composing.read(compose("config", list(overrides)))


def test_a_source_makes_no_identity(tmp_path: Path) -> None:
    same = set()
    for overrides in (
        (),
        ("dataset.source.page=x", "dataset.source.note=y", "fetch=true"),
        ("dataset.source.downloads=[{urls: [x], files: {train: a}, bytes: 3}]",),
    ):
        settings = composed("dataset=digits", f"runs_dir={tmp_path}", *overrides)
        (job,) = planning.jobs([settings])
        same.add((job.cell.cell, job.cell.dataset_digest))
        assert "source" not in str(job.cell)
    assert len(same) == 1


# ---------------------------------------------------------------- several processes
def test_two_processes_fetch_once(server: Server, workspace: Workspace) -> None:
    words = ("data", "fetch", "eurlex", *launch(archive(server, wait=1.0)))
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(workspace.xcbench(*words)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [done.code for done in outcomes] == [0, 0], outcomes
    assert_in_place(workspace.path / "data")
    assert len(server.asked) == 3  # each asks for the size, one for the content
    first, second = sorted(outcomes, key=lambda done: "its files are here" in done.out)
    assert "a.txt" in first.out
    assert "its files are here" in second.out


def test_interrupted_and_continued(server: Server, workspace: Workspace) -> None:
    body = zipped({"Toy/a.txt": TRAIN, "Toy/b.txt": TEST, "noise": os.urandom(1 << 20)})
    url = server.put("toy.zip", body)
    words = ["data", "fetch", "eurlex", *launch(Download([url], dict(BOTH)))]
    half, stalled = len(body) // 2, threading.Event()

    def stall(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            handler.wfile.write(body[:half])
            handler.wfile.flush()
            stalled.wait(20)
        except OSError:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handler, "do_GET", stall)
        process = subprocess.Popen(
            [sys.executable, "-m", "xcbench", *words],
            cwd=workspace.path,
            env=workspace.environment(PYTHONPATH=str(Path(main.__file__).parents[1])),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            wait_until(lambda: sum(kept(workspace.path / "data")) > half // 2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            stalled.set()
    assert (process.returncode, err) == (130, "")
    assert "`xcbench data fetch eurlex` continues from it" in out
    assert nothing_in_place(workspace.path / "data")
    (size,) = kept(workspace.path / "data")
    workspace.xcbench(*words).succeeded()
    assert_in_place(workspace.path / "data")
    assert server.asked[-1] == ("/toy.zip", f"bytes={size}-")


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
