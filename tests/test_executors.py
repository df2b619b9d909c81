"""Cells on an engine: the frame of a local launch, and a row for whatever ends a task."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from process_tree import alive, descendants
from test_launches import at_work, until
from workspace import NewWorkspace, Workspace
from xcbench.cli.command import Request
from xcbench.cli.paper import paper
from xcbench.core.dataset import Info
from xcbench.data.settings import DatasetSettings, SyntheticSettings
from xcbench.errors import UserError
from xcbench.methods.double_sum import UmaxOptions
from xcbench.run import cells, executors, objective, plan
from xcbench.run.execute import execute
from xcbench.run.executors import task
from xcbench.run.settings import Budget, Config, Evaluation

GRID = ("-m", "mlflow=false", "dataset=blobs", "method=ove,umax,implicit", "method.lr=0.01,0.1,1",
        "seed=0,1", "budget.epochs=2", "budget.checkpoints=2", "grid=named")  # fmt: skip
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


def test_a_missing_engine_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(executors, "find_spec", lambda package: None)
    for name, package in executors.PACKAGES.items():
        wanted = rf"executor={name} needs {package}.*pip install 'xcbench\[{name}\]'"
        with pytest.raises(UserError, match=wanted):
            execute([point(tmp_path, executor=name)])


def test_an_address_is_for_those_that_have_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="executor_address=here:1 is not possible"):
        execute([point(tmp_path, executor_address="here:1")])


@pytest.mark.parametrize("word", ["hydra/launcher", "+hydra.launcher.n_jobs", "hydra.job.chdir"])
def test_a_paper_refuses_what_it_would_not_do(word: str) -> None:
    with pytest.raises(UserError, match=r"has no effect on a paper's grids; executor=slurm"):
        paper(Request("paper", ["umax"], {word: "submitit_slurm"}))


def test_a_task_leaves_a_cell_and_an_objective(tmp_path: Path) -> None:
    settings = point(tmp_path)
    (job,) = plan.jobs([settings])
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


def test_submitits_own_processes_give_the_cells_of_a_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("submitit")
    from xcbench.run.executors import slurm

    def states() -> dict[str, tuple[str, str]]:
        running = [child for child in descendants(os.getpid()) if alive(child)]
        return {str(child): ("RUNNING", "None") for child in running}

    monkeypatch.setattr(slurm, "CLUSTER", "local")
    monkeypatch.setattr(slurm, "states", states)
    monkeypatch.setattr(slurm, "SECONDS", 0.2)

    def kill_last() -> None:
        """The job that trains for an hour."""
        until(lambda: len(at_work(os.getpid())) > 0 and "1 time" in capsys.readouterr().out)

    points = [point(tmp_path / "jobs", executor="slurm", seed=seed) for seed in (0, 1)]
    assert execute(points) == 0
    assert execute([replace(it, executor="local", runs_dir=str(tmp_path)) for it in points]) == 0
    for job in plan.jobs(points):
        there, here = (cells.load(it, job.cell.cell) for it in (tmp_path / "jobs", tmp_path))
        assert there is not None and here is not None
        assert_frame_equal(*(it.curve.drop(columns="train_seconds") for it in (there, here)))
    assert not (tmp_path / "jobs" / "submitit").exists()
