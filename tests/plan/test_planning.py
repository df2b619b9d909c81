"""What a launch makes of its points: impossible ones are skipped, and labels tell jobs apart."""

from __future__ import annotations

import errno
import math
import multiprocessing
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose

from xcbench.config.settings import Config
from xcbench.data import Missing
from xcbench.data.settings import DatasetSettings, SyntheticSettings
from xcbench.errors import UserError
from xcbench.methods import registry
from xcbench.plan import planning, sweeps
from xcbench.plan.job import Job
from xcbench.plan.sweeps import Composer
from xcbench.run import objective
from xcbench.run.execute import run, run_by
from xcbench.store import cells

Read = Callable[..., list[Config]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Configurations of a sweep over small data."""
    launch = {"runs_dir": str(tmp_path), "mlflow": "false", "budget.epochs": "1"}
    sizes = {"train": 60, "test": 20, "features": 30, "classes": 6, "nonzeros": 5}
    zipf = {f"dataset.synthetic.{name}": str(size) for name, size in sizes.items()}

    def configurations(**swept: str) -> list[Config]:
        named = {name.replace("__", "."): value for name, value in swept.items()}
        small = launch if "dataset" in named else {"dataset": "zipf", **zipf, **launch}
        with sweeps.hydra({}):
            composer = Composer(lambda point: compose("config", overrides=point))
            return [composer.read(point) for point in sweeps.points({**small, **named})]

    return configurations


def test_an_impossible_point_is_a_row_with_its_reason(read: Read, tmp_path: Path) -> None:
    points = read(method="ove", method__negatives="2,600")
    assert run(points) == 0
    possible, impossible = planning.jobs(points)
    done, skipped = (cells.load(tmp_path, job.cell.cell) for job in (possible, impossible))
    assert done is not None and skipped is not None
    assert (done.status, skipped.status) == ("done", "skipped")
    assert "method.negatives=600" in str(skipped.message)


def test_a_dataset_that_cannot_be_used_costs_its_points_alone(read: Read) -> None:
    jobs = planning.jobs(read(dataset="digits,file"))
    assert [isinstance(job.info, Missing) for job in jobs] == [False, True]
    assert "dataset.train=PATH" in jobs[1].info.reason  # type: ignore[union-attr]


def test_a_launch_of_impossible_points_is_refused(read: Read) -> None:
    with pytest.raises(UserError, match=r"method\.negatives=600.*; and 1 other reason$"):
        planning.jobs(read(method="ove", method__negatives="600,700"))
    with pytest.raises(UserError, match=r"; and 2 other reasons$"):
        planning.jobs(read(method="ove", method__negatives="600,700,800"))


def test_a_cell_that_finds_no_room_is_said_to_be_of_this_launch(
    read: Read, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cells, "_write", full)
    with pytest.raises(UserError, match=r"cells/.* cannot be written \(No space left on device\)"):
        run(read(method="ove"))
    line = capsys.readouterr().out
    assert re.search(r"failed: its files cannot be written, [\d.]+ m?s$", line, re.M), line
    assert "another launch" not in line


def test_labels_show_what_differs(read: Read) -> None:
    jobs = planning.jobs(read(method="ove,softmax", budget__epochs="1,2", seed="0,1"))
    labels = [job.label for job in jobs]
    assert len(set(labels)) == len(labels) == 8
    assert all("budget.epochs=" in label for label in labels)
    assert not any(" negatives=" in label or "solver=" in label for label in labels)
    four = planning.jobs(read(method="ove", method__negatives="1,2", method__batch_size="10,20"))
    ends = [job.label.partition("seed=0 ")[2] for job in four]
    assert ends == [
        "batch_size=10 negatives=1",
        "batch_size=20 negatives=1",
        "batch_size=10 negatives=2",
        "batch_size=20 negatives=2",
    ]
    assert planning.jobs(read(method="ove"))[0].label.endswith("seed=0")


def test_a_method_is_tried_once_for_all_rates_and_seeds(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    monkeypatch.setattr("xcbench.methods.registry._tried", {})
    monkeypatch.setattr(
        "xcbench.methods.contract.method", lambda method, settings, info: tried.append(method)
    )
    assert len(planning.jobs(read(method="ove", method__lr="0.1,1,10", seed="0,1"))) == 6
    assert len(tried) == 1
    planning.jobs(read(method="ove", method__negatives="1,2"))
    assert len(tried) == 3


def test_as_many_best_classes_as_there_are_can_be_asked_for(read: Read) -> None:
    (point,) = read(method="ove", evaluation__top_k="6")
    assert run([point]) == 0
    with pytest.raises(UserError, match=r"evaluation.top_k=7 .* 6 classes"):
        planning.jobs(read(method="ove", evaluation__top_k="7"))


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ({"method": "ove"}, "train_log_loss"),
        ({"method": "svm_ovr"}, "train_error"),  # it has no probabilities
        ({"method": "ove", "evaluation__validation": "0.5"}, "validation_log_loss"),
        ({"method": "svm_ovr", "evaluation__validation": "0.5"}, "validation_error"),
    ],
)
def test_the_objective_of_a_sweeper_is_the_last_loss_else_the_error(
    read: Read, tmp_path: Path, words: dict[str, str], column: str
) -> None:
    (point,) = read(**words)
    with pytest.raises(UserError, match="not there"):
        objective.of_point(point)
    assert run([point]) == 0
    (cell,) = cells.load_all(tmp_path)
    assert objective.of_point(point) == cell.curve[column].iloc[-1]
    cell.status = "diverged"
    cells.save(tmp_path, cell)
    assert objective.of_point(point) == math.inf


def test_a_rate_beside_which_a_method_has_none_is_no_obstacle_to_its_objective(
    read: Read, tmp_path: Path
) -> None:
    points = read(method="ove,svm_ovr", method__lr="0.1")
    assert run(points) == 0
    errors = {cell.method: cell.curve["train_error"].iloc[-1] for cell in cells.load_all(tmp_path)}
    assert objective.of_point(points[1]) == errors["svm_ovr"]


def test_a_plan_under_another_launcher_runs_nothing(
    read: Read, capsys: pytest.CaptureFixture[str]
) -> None:
    def launcher() -> str:
        raise AssertionError("a plan runs nothing")

    points = read(method="ove,umax", plan="true")
    assert run_by(launcher, "joblib", points, lambda _: None) == 0
    assert "2 cells" in capsys.readouterr().out


def test_code_is_compiled_once_for_cells_that_differ_in_rate_and_seed(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    warmed = []
    monkeypatch.setattr(
        "xcbench.train.training.warm_up", lambda solver, model, dataset: warmed.append(model.engine)
    )
    rates = {"method": "ove", "method__negatives": "4", "method__lr": "0.1,0.2"}
    assert run(read(**rates, lockstep="false", seed="0,1", engine="numpy,numba")) == 0
    assert warmed == ["numba"]


def test_no_worker_outlives_its_launch(read: Read) -> None:
    before = multiprocessing.active_children()
    assert run(read(method="ove,umax", workers="2")) == 0
    assert multiprocessing.active_children() == before


def test_a_job_is_the_same_from_its_json(tmp_path: Path) -> None:
    """Settings of every method, with what they nest, and the number of each to the last bit."""
    sizes = SyntheticSettings(train=60, test=20, features=30, classes=5, nonzeros=4.0)
    dataset = DatasetSettings(name="tiny", reader="synthetic", synthetic=sizes)
    base = Config(dataset=dataset, runs_dir=str(tmp_path), data_dir=str(tmp_path))
    for name, method in registry.builtin().items():
        (job,) = planning.jobs([replace(base, method=method.schema(name=name))], complete=False)
        copy = Job.of_json(job.to_json())
        assert (copy.settings, copy.info, copy.lockstep) == (job.settings, job.info, job.lockstep)
        assert copy.to_json() == job.to_json() and copy.cell.curve.equals(job.cell.curve)
