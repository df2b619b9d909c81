"""Cells on an engine: the frame of a local launch, and a row for whatever ends a task."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal
from test_launches import at_work, until

from process_tree import alive, descendants
from workspace import NewWorkspace, Workspace
from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.config.settings import Budget, Config, Evaluation, Slurm
from xcbench.core.dataset import Info
from xcbench.data.settings import DatasetSettings, SyntheticSettings
from xcbench.errors import UserError
from xcbench.methods.umax import UmaxOptions
from xcbench.plan import planning
from xcbench.run import executors, objective
from xcbench.run.execute import run
from xcbench.run.executors import task
from xcbench.store import cells

GRID = ("-m", "mlflow=false", "dataset=blobs", "method=ove,umax", "method.lr=0.1", "seed=0,1",
        "only.ove.negatives=4", "grid=named",
        "budget.epochs=2", "budget.checkpoints=2")  # fmt: skip
LONG = ("-m", "mlflow=false", "dataset=digits", "method=umax", "engine=numpy", "seed=0,1,2")
SLURM = shutil.which("sinfo") and subprocess.run(["sinfo"], capture_output=True).returncode == 0
ENGINES = {
    "slurm": (bool(SLURM) and find_spec("submitit"), "no SLURM answers here"),
    "dask": (find_spec("distributed"), "distributed is not installed"),
    "ray": (find_spec("ray"), "ray is not installed"),
}


def engine(name: str, *values: object) -> object:
    there, reason = ENGINES[name]
    return pytest.param(name, *values, marks=pytest.mark.skipif(not there, reason=reason))


def point(folder: Path, **launch: object) -> Config:
    sizes = SyntheticSettings(train=60, test=20, features=30, classes=5, nonzeros=4.0)
    settings = Config(
        dataset=DatasetSettings(name="tiny", reader="synthetic", synthetic=sizes),
        method=UmaxOptions(name="umax", lr=0.1),
        budget=Budget(epochs=1, checkpoints=1),
        evaluation=Evaluation(validation=0.5),
        engine="numpy",
        mlflow=False,
        runs_dir=str(folder),
    )
    return replace(settings, **launch)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("slurm", Slurm(partition="short"), Slurm(partition="long")),
        ("executor", "local", "slurm"),
        ("executor_address", None, "tcp://host:8786"),
        ("workers", 1, 2),
        ("lockstep", True, False),
    ],
)
def test_settings_of_a_launch_cannot_be_swept(
    tmp_path: Path, name: str, one: object, other: object
) -> None:
    points = [point(tmp_path, **{name: value}) for value in (one, other)]
    with pytest.raises(UserError, match=f"^{name} cannot be swept: it applies to the whole launch"):
        run(points)
    assert not (tmp_path / "cells").exists()


def test_a_missing_engine_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(executors, "find_spec", lambda package: None)
    for name, package in executors.PACKAGES.items():
        wanted = rf"executor={name} needs {package}.*pip install 'xcbench\[{name}\]'"
        with pytest.raises(UserError, match=wanted):
            run([point(tmp_path, executor=name)])


def test_an_address_is_for_those_that_have_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="executor_address=here:1 is not possible"):
        run([point(tmp_path, executor_address="here:1")])


@pytest.mark.parametrize("word", ["hydra/launcher", "+hydra.launcher.n_jobs", "hydra.job.chdir"])
def test_a_paper_refuses_what_it_would_not_do(word: str) -> None:
    with pytest.raises(UserError, match=r"has no effect on these grids; executor=slurm"):
        paper(Request("paper", ["umax"], {word: "submitit_slurm"}))


def test_a_task_leaves_a_cell_and_an_objective(tmp_path: Path) -> None:
    settings = point(tmp_path)
    (job,) = planning.jobs([settings])
    assert isinstance(job.info, Info)
    with pytest.raises(UserError, match="it is not there"):
        objective.of_point(settings)
    result = task.work(task.Task.of([job]))
    cell = cells.load(tmp_path, job.cell.cell)
    assert cell is not None and not result.problem
    assert result.started == (cell.started,) and cell.status == "done"
    assert objective.of_point(settings) == cell.curve["validation_log_loss"].iloc[-1]
    cells.save(tmp_path, replace(cell, status="diverged"))
    assert objective.of_point(settings) == float("inf")


def test_a_task_that_cannot_run_says_why(tmp_path: Path) -> None:
    sent = task.Task.of([])
    assert "install the same" in task.work(replace(sent, version="0.0")).problem
    assert "No such file" in task.work(replace(sent, folder=str(tmp_path / "none"))).problem


@pytest.mark.slow
def test_submitits_own_processes_run_a_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No SLURM: submitit's executor of this machine, which is all of it but sbatch and squeue."""
    pytest.importorskip("submitit")
    from xcbench.run.executors import slurm

    def states() -> dict[str, tuple[str, str]]:
        running = [child for child in descendants(os.getpid()) if alive(child)]
        return {str(child): ("RUNNING", "None") for child in running}

    monkeypatch.setattr(slurm, "CLUSTER", "local")
    monkeypatch.setattr(slurm, "states", states)
    monkeypatch.setattr(slurm, "SECONDS", 0.2)
    long = Budget(epochs=1e6, checkpoints=1)
    points = [point(tmp_path / "jobs", executor="slurm", seed=seed) for seed in (0, 1)]
    jobs = planning.jobs([*points, replace(points[0], budget=long)])

    def kill_the_long_one() -> None:
        until(lambda: all(cells.load(tmp_path / "jobs", it.cell.cell) for it in jobs[:2]))
        until(lambda: bool(at_work(os.getpid())))
        for process in at_work(os.getpid()):
            os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill_the_long_one)
    killer.start()
    assert run([job.settings for job in jobs]) == 1
    killer.join()
    lost = cells.load(tmp_path / "jobs", jobs[2].cell.cell)
    assert lost is not None and lost.status == "failed"
    assert "is not known to SLURM any more" in str(lost.message)
    assert run([replace(it, executor="local", runs_dir=str(tmp_path)) for it in points]) == 0
    for job in jobs[:2]:
        there, here = (cells.load(it, job.cell.cell) for it in (tmp_path / "jobs", tmp_path))
        assert there is not None and here is not None
        assert_frame_equal(*(it.curve.drop(columns="train_seconds") for it in (there, here)))


@pytest.fixture(scope="module")
def local(new_workspace: NewWorkspace) -> Workspace:
    """A grid that one process ran."""
    workspace = new_workspace("local")
    workspace.run(*GRID).succeeded()
    return workspace


def frame(workspace: Workspace):
    return workspace.frame("--curves", "grid=named").drop(columns="train_seconds")


@pytest.mark.slow
@pytest.mark.parametrize("name", [engine(name) for name in ENGINES])
def test_an_engine_gives_the_frame_of_a_local_launch(
    local: Workspace, workspace: Workspace, name: str
) -> None:
    done = workspace.run_fresh(*GRID, f"executor={name}", "workers=2").succeeded()
    assert done.err == "", done.text
    assert "4 cells: 4 done" in done.out and "[4/4]" in done.out
    assert_frame_equal(frame(workspace), frame(local), check_exact=True)
    assert not (workspace.path / "runs" / "submitit").exists()


def tasks(name: str, launch: int, grid: str) -> list[str]:
    """What runs for a launch: SLURM's jobs, or processes."""
    if name == "slurm":
        asked = ["squeue", "--array", "--noheader", f"--name=xcbench-{grid}", "--format=%i", "-tR"]
        return subprocess.run(asked, capture_output=True, text=True).stdout.split()
    mark = {"dask": b"spawn_main", "ray": b"ray::work"}[name]
    below = at_work(launch)
    return [str(it) for it in below if mark in Path(f"/proc/{it}/cmdline").read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        engine("slurm", "failed", "was cancelled"),
        engine("dask", "done", ""),  # Dask runs the task again
        engine("ray", "failed", "the Ray worker died"),
    ],
)
def test_a_task_that_is_killed_is_a_row(
    workspace: Workspace, name: str, status: str, reason: str
) -> None:
    grid = f"kill-{os.getpid()}"
    words = (*LONG, "budget.epochs=200", f"executor={name}", "workers=2", f"grid={grid}")
    with workspace.start(*words) as process:
        until(lambda: bool(tasks(name, process.pid, grid)), 120)
        if name == "slurm":
            subprocess.run(["scancel", tasks(name, process.pid, grid)[0]], check=True)
        else:
            os.kill(int(tasks(name, process.pid, grid)[0]), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == (status == "failed") and "Traceback" not in err, out + err
    rows = workspace.frame()
    assert len(rows) == 3 and set(rows["status"]) == {"done", status}
    assert reason in " ".join(map(str, rows["message"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [engine(name) for name in ENGINES])
def test_ctrl_c_cancels_what_runs(workspace: Workspace, name: str) -> None:
    grid = f"stop-{os.getpid()}"
    words = (*LONG, "budget.epochs=1,4000", f"executor={name}", "workers=2", f"grid={grid}")
    with workspace.start(*words) as process:
        until(lambda: len(workspace.cells()) >= 1, 120)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err, out + err
    assert "what is finished is saved" in out
    assert workspace.cells() and not list((workspace.path / "runs" / "claims").iterdir())
    until(lambda: not tasks(name, process.pid, grid), 60)
